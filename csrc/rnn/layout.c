/* layout.c: where the parts of a network lie in its weight, and what forward keeps. */
#include "rnn/layout.h"

/* A part of n elements, or -1: there is none. */
static int64_t layout_part(int64_t *end, int64_t n) {
  if (!n) return -1;
  int64_t at = *end;
  *end += n;
  return at;
}

dpt__rnn_layer dpt__rnn_layer_at(const dpt_rnn *r, int pseudo_layer) {
  dpt__rnn_layer at = {0}, one;
  int64_t H = r->hidden, O = dpt__rnn_width(r), sums = dpt__rnn_gates(r) * H, end = 0;
  int in_bias = r->bias == DPT_RNN_INPUT_BIAS || r->bias == DPT_RNN_DOUBLE_BIAS;
  int rec_bias = r->bias >= DPT_RNN_DOUBLE_BIAS, layers = r->layers * r->directions;
  for (int p = 0; p < layers; p++) {
    int layer = p / r->directions;
    one.input = layout_part(&end, !layer && r->skip_input ? 0 : sums * dpt__rnn_input(r, layer));
    one.recurrent = layout_part(&end, sums * O);
    one.projection = layout_part(&end, r->projection ? O * H : 0);
    if (p == pseudo_layer) at = one;
  }
  int64_t biases = pseudo_layer * (in_bias + rec_bias) * sums + end;
  at.input_bias = layout_part(&biases, in_bias ? sums : 0);
  at.recurrent_bias = layout_part(&biases, rec_bias ? sums : 0);
  at.end = end + layers * (in_bias + rec_bias) * sums;
  return at;
}

dpt__rnn_block dpt__rnn_block_of(const dpt_rnn *r, int64_t N) {
  dpt__rnn_block b = {0};
  int64_t H = r->hidden, O = dpt__rnn_width(r);
  b.gates = layout_part(&b.end, N * dpt__rnn_row(r));
  b.before = layout_part(&b.end, N * O);
  b.cell = layout_part(&b.end, r->cell == DPT_RNN_LSTM ? N * H : 0);
  b.whole = layout_part(&b.end, r->projection ? N * H : 0);
  b.given = layout_part(&b.end, r->projection ? N * O : 0);
  return b;
}

int64_t dpt__rnn_reserve(const dpt_rnn *r, int64_t N) {
  return r->layers * r->directions * dpt__rnn_block_of(r, N).end +
         (r->layers - 1) * N * r->directions * dpt__rnn_width(r);
}
