/* forward.c: the forward pass of recurrent networks: a layer's input in one product, then the
 * steps.
 *
 * Invariant: without a reserve, all pseudo-layers share one block. The input of a layer is still
 * intact when the next direction reads it, because the layer's output is elsewhere.
 */
#include "host/rnn/pass.h"

#define DPT_ROWS "host/rnn/forward.inc.c"
#include "host/each_real.h"

/* Sets gates to x (N, I) times the input's matrices, or to x itself for each gate. */
static int forward_read_input(const dpt__rnn_pass *s, const void *x) {
  const dpt__rnn_plan *p = s->plan;
  int64_t I = dpt__rnn_input(&p->a->rnn, s->layer);
  if (!s->input[0].b) {
    for (int64_t i = 0; i < p->N; i++)
      for (int64_t g = 0; g < p->gates / p->H; g++)
        memcpy(dpt__rnn_at(p, s->gates, i * p->row + g * p->H), dpt__rnn_at(p, x, i * I),
               (size_t)I * p->width);
    return 0;
  }
  for (int i = 0; i < 2 && s->input[i].b; i++)
    DPT__TRY(dpt__rnn_multiply_all(s, &s->input[i], dpt__rnn_at(p, s->gates, p->slice[i].column),
                                   p->row, x, I, 0));
  return 0;
}

/* Computes the row that is added to the gates. */
static void forward_make_bias(const dpt__rnn_pass *s, void *bias) {
  const dpt__rnn_plan *p = s->plan;
  const void *in = dpt__rnn_weight(p, p->a->weight, s->layout.input_bias);
  const void *rec = dpt__rnn_weight(p, p->a->weight, s->layout.recurrent_bias);
  if (p->a->type == DPT_F32)
    bias_f32(p, bias, in, rec);
  else
    bias_f64(p, bias, in, rec);
}

/* Computes one direction of a layer: x (N, I) to its columns of out (N, directions*O). */
static int forward_direction(const dpt__rnn_plan *p, int layer, int d, const void *x, void *out) {
  const struct dpt__rnn_args *a = p->a;
  dpt__rnn_pass s = dpt__rnn_pass_of(p, layer, d, a->h0, a->c0, a->hn, a->cn);
  s.out = dpt__rnn_at(p, out, d * p->O);
  void *bias = dpt__scratch(p->context, (size_t)p->row * p->width);
  s.bias = bias;
  dpt__rnn_inputs_make(&s, 0);
  dpt__rnn_matrix_make(&s, &s.recurrent, s.layout.recurrent, p->O, p->gates, 1, p->O);
  dpt__rnn_matrix_make(&s, &s.projection, s.layout.projection, p->H, p->O, 1, p->H);
  if (p->context->measures) return 0;
  forward_make_bias(&s, bias);
  DPT__TRY(forward_read_input(&s, x));
  return dpt__rnn_run_all(&s, a->type == DPT_F32 ? run_f32 : run_f64);
}

int dpt__host_rnn_forward(dpt__context *context, const void *args) {
  dpt__rnn_plan p;
  dpt__rnn_plan_make(&p, context, args);
  const struct dpt__rnn_args *a = p.a;
  void *x = a->x, *y = a->y;
  if (!p.plain) {
    x = dpt__scratch(context, (size_t)(p.N * a->rnn.input) * p.width);
    y = dpt__scratch(context, (size_t)(p.N * p.columns) * p.width);
    if (!context->measures) dpt__rnn_pack(&p, x, a->x, a->rnn.input);
  }
  size_t used = context->used;
  for (int layer = 0; layer < a->rnn.layers; layer++) {
    void *out = layer + 1 < a->rnn.layers ? dpt__rnn_input_of(&p, layer + 1) : y;
    for (int d = 0; d < a->rnn.directions; d++) {
      context->used = used;
      DPT__TRY(forward_direction(&p, layer, d, x, out));
    }
    if (context->measures) continue;
    if (out != y) dpt__rnn_dropout(&p, layer, out);
    x = out;
  }
  if (!p.plain && !context->measures) dpt__rnn_unpack(&p, a->y, y, p.columns);
  dpt__rnn_plan_finish(&p);
  return 0;
}
