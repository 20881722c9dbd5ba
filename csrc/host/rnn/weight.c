/* weight.c: recurrent networks backward by their weights: a product for each matrix, from the
 * gradients by the sums that data.c left in the reserve. */
#include "host/gemm.h"
#include "host/rnn/pass.h"

/* A part (columns of `by`) x (columns of `of`) of the gradient gets scale * by^T * of. */
static int product(const dpt__rnn_plan *p, int64_t part, const void *by, int64_t by_row,
                   int64_t rows, const void *of, int64_t columns) {
  dpt__gemm_args gemm = {.dtype = p->a->type,
                         .batch = 1,
                         .m = rows,
                         .n = columns,
                         .k = p->N,
                         .alpha = p->a->scale,
                         .beta = 1,
                         .a = by,
                         .a_row = 1,
                         .a_col = by_row,
                         .b = of,
                         .b_row = columns,
                         .b_col = 1,
                         .c = dpt__rnn_weight(p, p->a->gw, part),
                         .c_row = columns,
                         .c_col = 1};
  return part < 0 ? 0 : dpt__host_gemm(p->context, &gemm);
}

/* Adds n elements to a part of the gradient. */
static void add(const dpt__rnn_plan *p, int64_t part, const void *from, int64_t n) {
  for (int64_t i = 0; part >= 0 && i < n; i++)
    if (p->a->type == DPT_F32)
      ((float *)p->a->gw)[part + i] += ((const float *)from)[i];
    else
      ((double *)p->a->gw)[part + i] += ((const double *)from)[i];
}

static int biases(const dpt__rnn_plan *p, const dpt__rnn_layer *at, const void *gates) {
  if (at->input_bias < 0 && at->recurrent_bias < 0) return 0;
  size_t bytes = (size_t)p->row * p->width;
  void *sums = dpt__scratch(p->context, bytes);
  if (!sums) return 1;
  memset(sums, 0, bytes);
  struct dpt__plane_sum_args sum = {.type = p->a->type,
                                    .N = p->N,
                                    .C = p->row,
                                    .S = 1,
                                    .scale = p->a->scale,
                                    .gout = gates,
                                    .gb = sums};
  DPT__TRY(dpt__host_plane_sum(p->context, &sum));
  add(p, at->input_bias, sums, p->gates);
  add(p, at->recurrent_bias, dpt__rnn_at(p, sums, p->shift), p->gates);
  return 0;
}

static int direction(const dpt__rnn_plan *p, int layer, int d, const void *x) {
  dpt__rnn_pass s = dpt__rnn_pass_of(p, layer, d);
  dpt__rnn_layer at = dpt__rnn_layer_at(&p->a->rnn, layer * p->a->rnn.directions + d);
  DPT__TRY(product(p, at.input, s.gates, p->row, p->gates, x, dpt__rnn_input(&p->a->rnn, layer)));
  DPT__TRY(product(p, at.recurrent, dpt__rnn_at(p, s.gates, p->shift), p->row, p->gates, s.before,
                   p->O));
  DPT__TRY(product(p, at.projection, s.given, p->O, p->O, s.whole, p->H));
  return biases(p, &at, s.gates);
}

int dpt__host_rnn_weight(dpt__context *context, const void *args) {
  const struct dpt__rnn_args *a = args;
  dpt__rnn_plan p;
  DPT__TRY(dpt__rnn_plan_make(&p, context, a));
  void *x = a->x;
  if (!p.plain) {
    x = dpt__scratch(context, (size_t)(p.N * a->rnn.input) * p.width);
    if (!x) return 1;
    dpt__rnn_pack(&p, x, a->x, a->rnn.input);
  }
  for (int layer = 0; layer < a->rnn.layers; layer++) {
    const void *in = layer ? dpt__rnn_input_of(&p, layer) : x;
    for (int d = 0; d < a->rnn.directions; d++) DPT__TRY(direction(&p, layer, d, in));
  }
  return 0;
}
