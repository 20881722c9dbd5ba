/* pass.c: code that the forward and backward passes share (see pass.h). */
#include "host/rnn/pass.h"
#include "host/gemm.h"

enum {
  FEW_STEPS = 8, /* so few steps are not worth packing a matrix */
  CHUNK = 64     /* rows that a thread processes at once */
};

/* Returns a pseudo-layer's part of the states of all pseudo-layers, or NULL. */
static void *pass_states_of(const dpt__rnn_plan *p, void *states, int pseudo, int64_t columns) {
  return states ? dpt__rnn_at(p, states, pseudo * p->B * columns) : NULL;
}

dpt__rnn_pass dpt__rnn_pass_of(const dpt__rnn_plan *p, int layer, int direction, void *h0, void *c0,
                               void *hn, void *cn) {
  const struct dpt__rnn_args *a = p->a;
  int pseudo = layer * a->rnn.directions + direction;
  const dpt__rows *rows = dpt__rows_pick();
  return (dpt__rnn_pass){.plan = p,
                         .product = dpt__panels_for(a->type),
                         .cell = a->rnn.cell,
                         .layer = layer,
                         .direction = direction,
                         .step = direction ? -1 : 1,
                         .gates = dpt__rnn_kept(p, pseudo, p->at.gates),
                         .before = dpt__rnn_kept(p, pseudo, p->at.before),
                         .cells = dpt__rnn_kept(p, pseudo, p->at.cell),
                         .whole = dpt__rnn_kept(p, pseudo, p->at.whole),
                         .given = dpt__rnn_kept(p, pseudo, p->at.given),
                         .h0 = pass_states_of(p, h0, pseudo, p->O),
                         .c0 = pass_states_of(p, c0, pseudo, p->H),
                         .hn = pass_states_of(p, hn, pseudo, p->O),
                         .cn = pass_states_of(p, cn, pseudo, p->H),
                         .cells_before = pass_states_of(p, a->c0, pseudo, p->H),
                         .layout = dpt__rnn_layer_at(&a->rnn, pseudo),
                         .sigmoid = rows->map[DPT__MAP_sigmoid][a->type],
                         .tanh = rows->map[DPT__MAP_tanh][a->type]};
}

void dpt__rnn_lay_out(const dpt__rnn_plan *p, const dpt__panels *product, void *to, const void *b,
                      int64_t k, int64_t n, int64_t row, int64_t col) {
  int64_t panel = product->panel;
#pragma omp parallel for num_threads(dpt__threads(p->context, k *n)) schedule(static)
  for (int64_t j = 0; j < n; j += panel)
    product->pack(dpt__rnn_at(p, to, j * k), dpt__rnn_at(p, b, j * col), k,
                  panel < n - j ? panel : n - j, row, col);
}

void dpt__rnn_matrix_make(const dpt__rnn_pass *s, dpt__rnn_matrix *m, int64_t part, int64_t k,
                          int64_t n, int64_t row, int64_t col) {
  const dpt__rnn_plan *p = s->plan;
  *m = (dpt__rnn_matrix){k, n, row, col, dpt__rnn_weight(p, p->a->weight, part), NULL};
  /* The choice depends only on the number of steps, not on the other sequences. */
  if (!m->b || (p->steps < FEW_STEPS && !p->a->deterministic)) return;
  m->packed = dpt__scratch(p->context, (size_t)dpt__panels_size(s->product, k, n) * p->width);
  if (!p->context->measures) dpt__rnn_lay_out(p, s->product, m->packed, m->b, k, n, row, col);
}

void dpt__rnn_inputs_make(dpt__rnn_pass *s, int turned) {
  int64_t I = dpt__rnn_input(&s->plan->a->rnn, s->layer);
  for (int i = 0; i < 2; i++) {
    const dpt__rnn_slice *slice = &s->plan->slice[i];
    int64_t part = s->layout.input < 0 || !slice->n ? -1 : s->layout.input + slice->first * I;
    if (turned)
      dpt__rnn_matrix_make(s, &s->input[i], part, slice->n, I, I, 1);
    else
      dpt__rnn_matrix_make(s, &s->input[i], part, I, slice->n, 1, I);
  }
}

int dpt__rnn_multiply(const dpt__rnn_pass *s, const dpt__rnn_matrix *m, void *c, int64_t c_row,
                      const void *a, int64_t a_row, int64_t rows, int add) {
  if (m->packed) {
    s->product->run(c, c_row, a, a_row, m->packed, rows, m->k, m->n, add);
    return 0;
  }
  dpt__gemm_args gemm = {.dtype = s->plan->a->type,
                         .c_dtype = s->plan->a->type,
                         .batch = 1,
                         .m = rows,
                         .n = m->n,
                         .k = m->k,
                         .alpha = 1,
                         .beta = add,
                         .a = a,
                         .a_row = a_row,
                         .a_col = 1,
                         .b = m->b,
                         .b_row = m->row,
                         .b_col = m->col,
                         .c = c,
                         .c_row = c_row,
                         .c_col = 1};
  return dpt__host_gemm_within(s->plan->context, &gemm);
}

int dpt__rnn_multiply_all(const dpt__rnn_pass *s, const dpt__rnn_matrix *m, void *c, int64_t c_row,
                          const void *a, int64_t a_row, int add) {
  const dpt__rnn_plan *p = s->plan;
  if (!m->packed) return dpt__rnn_multiply(s, m, c, c_row, a, a_row, p->N, add);
  int64_t chunks = (p->N + CHUNK - 1) / CHUNK;
#pragma omp parallel for num_threads(dpt__threads(p->context, p->N * m->n)) schedule(static)
  for (int64_t i = 0; i < chunks; i++) {
    int64_t first = i * CHUNK, rows = CHUNK < p->N - first ? CHUNK : p->N - first;
    s->product->run(dpt__rnn_at(p, c, first * c_row), c_row, dpt__rnn_at(p, a, first * a_row),
                    a_row, m->packed, rows, m->k, m->n, add);
  }
  return 0;
}

int dpt__rnn_run_all(const dpt__rnn_pass *s, dpt__rnn_run *run) {
  const dpt__rnn_plan *p = s->plan;
  enum { MOST = 256, LEAST = 2 }; /* parts; sequences that are worth a thread */
  int64_t cuts[MOST + 1], most = p->B / LEAST < MOST ? p->B / LEAST : MOST;
  int parts = s->recurrent.packed ? dpt__threads(p->context, p->N * p->gates) : 1, failed = 0;
  if (parts > most) parts = most < 1 ? 1 : (int)most;
  dpt__rnn_cut(p, parts, cuts);
#pragma omp parallel for num_threads(parts) schedule(static) reduction(| : failed)
  for (int i = 0; i < parts; i++) failed |= run(s, cuts[i], cuts[i + 1]);
  return failed;
}
