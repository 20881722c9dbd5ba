/* layout.c: offsets of a network's parts in its weight, and in the memory that forward keeps. */
#include "rnn/layout.h"

/* Appends a part of n elements and returns its offset, or -1 if n is 0. */
static int64_t layout_part(int64_t *end, int64_t n) {
  if (!n) return -1;
  int64_t at = *end;
  *end += n;
  return at;
}

/* Returns the number of elements of a pseudo-layer's input matrices in this layer. */
static int64_t layout_input(const dpt_rnn *r, int layer) {
  return !layer && r->skip_input ? 0 : dpt__rnn_gates(r) * r->hidden * dpt__rnn_input(r, layer);
}

dpt__rnn_layer dpt__rnn_layer_at(const dpt_rnn *r, int pseudo_layer) {
  dpt__rnn_layer at = {0};
  int64_t H = r->hidden, O = dpt__rnn_width(r), sums = dpt__rnn_gates(r) * H;
  int64_t projection = r->projection ? O * H : 0, others = sums * O + projection;
  int64_t first = layout_input(r, 0) + others, next = layout_input(r, 1) + others;
  int64_t D = r->directions, layers = r->layers * D;
  int in_bias = r->bias == DPT_RNN_INPUT_BIAS || r->bias == DPT_RNN_DOUBLE_BIAS;
  int rec_bias = r->bias >= DPT_RNN_DOUBLE_BIAS;
  int64_t begin = pseudo_layer < D ? pseudo_layer * first : D * first + (pseudo_layer - D) * next;
  at.input = layout_part(&begin, layout_input(r, pseudo_layer / (int)D));
  at.recurrent = layout_part(&begin, sums * O);
  at.projection = layout_part(&begin, projection);
  int64_t biases = (in_bias + rec_bias) * sums, matrices = D * first + (layers - D) * next;
  begin = matrices + pseudo_layer * biases;
  at.input_bias = layout_part(&begin, in_bias ? sums : 0);
  at.recurrent_bias = layout_part(&begin, rec_bias ? sums : 0);
  at.end = matrices + layers * biases;
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
