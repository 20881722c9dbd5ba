/* data.c: the backward pass of recurrent networks with respect to data: the steps in reverse, then
 * the input's product.
 *
 * Invariant: the gates in the reserve become the gradients with respect to their sums (including a
 * GRU's n of h), from which the weights' gradients are computed (weight.c).
 */
#include "host/rnn/pass.h"

#define DPT_ROWS "host/rnn/data.inc.c"
#include "host/each_real.h"

/* Computes gx (N, I) = or += the gates' gradients times the input's matrices. */
static int data_give_input(const dpt__rnn_pass *s, void *gx) {
  const dpt__rnn_plan *p = s->plan;
  if (!s->input[0].b) {
    if (p->a->type == DPT_F32)
      skipped_f32(s, gx);
    else
      skipped_f64(s, gx);
    return 0;
  }
  int64_t I = dpt__rnn_input(&p->a->rnn, s->layer);
  for (int i = 0; i < 2 && s->input[i].b; i++)
    DPT__TRY(dpt__rnn_multiply_all(s, &s->input[i], gx, I,
                                   dpt__rnn_at(p, s->gates, p->slice[i].column), p->row,
                                   s->direction > 0 || i > 0));
  return 0;
}

static int data_direction(const dpt__rnn_plan *p, int layer, int d, void *gout, void *gx,
                          void *way) {
  const struct dpt__rnn_args *a = p->a;
  dpt__rnn_pass s = dpt__rnn_pass_of(p, layer, d, a->gh0, a->gc0, a->ghn, a->gcn);
  s.out = dpt__rnn_at(p, gout, d * p->O);
  s.dh = way;
  s.dc = dpt__rnn_at(p, way, p->B * p->O);
  s.dm = dpt__rnn_at(p, s.dc, p->B * p->H);
  s.tanhs = dpt__rnn_at(p, s.dm, p->B * p->H);
  dpt__rnn_inputs_make(&s, 1);
  dpt__rnn_matrix_make(&s, &s.recurrent, s.layout.recurrent, p->gates, p->O, p->O, 1);
  dpt__rnn_matrix_make(&s, &s.projection, s.layout.projection, p->O, p->H, p->H, 1);
  if (p->context->measures) return 0;
  DPT__TRY(dpt__rnn_run_all(&s, a->type == DPT_F32 ? run_f32 : run_f64));
  return data_give_input(&s, gx);
}

int dpt__host_rnn_data(dpt__context *context, const void *args) {
  dpt__rnn_plan p;
  dpt__rnn_plan_make(&p, context, args);
  const struct dpt__rnn_args *a = p.a;
  int64_t between = p.N * p.columns, state = p.B * (p.O + 3 * p.H);
  void *gx = a->gx, *gout = a->gy, *turns[2] = {NULL, NULL};
  void *way = dpt__scratch(context, (size_t)state * p.width);
  for (int i = 0; i < 2 && (a->rnn.layers > 1 || !p.plain); i++)
    turns[i] = dpt__scratch(context, (size_t)between * p.width);
  if (!p.plain) {
    gout = turns[0];
    gx = dpt__scratch(context, (size_t)(p.N * a->rnn.input) * p.width);
    if (!context->measures) dpt__rnn_pack(&p, gout, a->gy, p.columns);
  }
  size_t used = context->used;
  for (int layer = a->rnn.layers - 1; layer >= 0; layer--) {
    void *to = !layer ? gx : gout == turns[0] ? turns[1] : turns[0];
    for (int d = 0; d < a->rnn.directions; d++) {
      context->used = used;
      DPT__TRY(data_direction(&p, layer, d, gout, to, way));
    }
    if (context->measures) continue;
    if (layer) dpt__rnn_dropout(&p, layer - 1, to);
    gout = to;
  }
  if (!p.plain && !context->measures) dpt__rnn_unpack(&p, a->gx, gx, a->rnn.input);
  dpt__rnn_plan_finish(&p);
  return 0;
}
