/* pass.c: what forward and backward have in common (pass.h has the rules). */
#include "host/rnn/pass.h"

dpt__rnn_pass dpt__rnn_pass_of(const dpt__rnn_plan *p, int layer, int direction) {
  const struct dpt__rnn_args *a = p->a;
  int pseudo = layer * a->rnn.directions + direction;
  const dpt__rows *rows = dpt__rows_pick();
  return (dpt__rnn_pass){.plan = p,
                         .product = dpt__rnn_product_for(a->type),
                         .cell = a->rnn.cell,
                         .layer = layer,
                         .direction = direction,
                         .step = direction ? -1 : 1,
                         .gates = dpt__rnn_kept(p, pseudo, p->at.gates),
                         .before = dpt__rnn_kept(p, pseudo, p->at.before),
                         .cells = dpt__rnn_kept(p, pseudo, p->at.cell),
                         .whole = dpt__rnn_kept(p, pseudo, p->at.whole),
                         .given = dpt__rnn_kept(p, pseudo, p->at.given),
                         .sigmoid = rows->map[DPT__MAP_sigmoid][a->type],
                         .tanh = rows->map[DPT__MAP_tanh][a->type]};
}

void *dpt__rnn_states(const dpt__rnn_pass *s, void *states, int64_t columns) {
  int64_t pseudo = s->layer * s->plan->a->rnn.directions + s->direction;
  return states ? dpt__rnn_at(s->plan, states, pseudo * s->plan->B * columns) : NULL;
}

int dpt__rnn_panels(const dpt__rnn_pass *s, void **packed, const void *b, int64_t k, int64_t n,
                    int64_t b_row, int64_t b_col) {
  *packed = NULL;
  if (!b) return 0;
  *packed =
      dpt__scratch(s->plan->context, (size_t)dpt__rnn_packed(s->product, k, n) * s->plan->width);
  if (!*packed) return 1;
  s->product->pack(*packed, b, k, n, b_row, b_col);
  return 0;
}

void dpt__rnn_run_all(const dpt__rnn_pass *s, dpt__rnn_run *run) {
  const dpt__rnn_plan *p = s->plan;
  enum { MOST = 256, LEAST = 4 }; /* parts; sequences that are worth a thread */
  int64_t cuts[MOST + 1], most = p->B / LEAST < MOST ? p->B / LEAST : MOST;
  int parts = dpt__threads(p->context, p->N * p->gates);
  if (parts > most) parts = most < 1 ? 1 : (int)most;
  dpt__rnn_cut(p, parts, cuts);
#pragma omp parallel for num_threads(parts) schedule(static)
  for (int i = 0; i < parts; i++) run(s, cuts[i], cuts[i + 1]);
}
