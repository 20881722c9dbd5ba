/* weight.c: the backward pass of recurrent networks with respect to weights, from the gradients of
 * the gates' sums that data.c left in the reserve.
 *
 * Invariant: a matrix receives the products of one block of BLOCK rows after another, in order,
 * whatever the number of threads is.
 */
#include "host/rnn/pass.h"
#include "host/rows.h"

enum {
  BLOCK = 512, /* rows at once: packed, they stay in the caches */
  CHUNK = 64,  /* columns that a thread processes at once */
  FACTORS = 3
};

/* A part of the gradient: columns begin .. end-1 of the gates' gradients, transposed, times rows of
 * `of` (N, columns). */
typedef struct factor {
  int64_t part, begin, end, columns; /* no columns: there is none */
  const void *of;
  void *panels;
} factor;

/* Adds the products of the first k rows of `by` (N, n), columns first .. first+CHUNK-1, to the
 * parts. */
static void weight_chunk(const dpt__rnn_pass *pass, const void *by, int64_t n, int64_t k,
                         int64_t first, const factor *factors, void *turned) {
  const dpt__rnn_plan *p = pass->plan;
  int64_t columns = CHUNK < n - first ? CHUNK : n - first;
  pass->product->turn(turned, k, dpt__rnn_at(p, by, first), n, k, columns, p->a->scale);
  for (const factor *f = factors; f < factors + FACTORS; f++) {
    int64_t from = f->begin > first ? f->begin : first;
    int64_t end = f->end < first + columns ? f->end : first + columns;
    if (f->columns && from < end)
      pass->product->run(dpt__rnn_at(p, p->a->gw, f->part + (from - f->begin) * f->columns),
                         f->columns, dpt__rnn_at(p, turned, (from - first) * k), k, f->panels,
                         end - from, k, f->columns, 1);
  }
}

/* Adds the products of all rows. by (N, n): the gradients that all factors share. */
static void weight_matrices(const dpt__rnn_pass *pass, const void *by, int64_t n, factor *factors) {
  const dpt__rnn_plan *p = pass->plan;
  int64_t most = BLOCK < p->N ? BLOCK : p->N, size = CHUNK * most;
  int threads = dpt__threads(p->context, p->N * n);
  void *turned = dpt__scratch(p->context, (size_t)(threads * size) * p->width);
  for (factor *f = factors; f < factors + FACTORS; f++)
    f->panels =
        f > factors && f->of == f[-1].of
            ? f[-1].panels
            : dpt__scratch(p->context,
                           (size_t)dpt__panels_size(pass->product, most, f->columns) * p->width);
  if (p->context->measures) return;
  for (int64_t row = 0; row < p->N; row += BLOCK) {
    int64_t k = BLOCK < p->N - row ? BLOCK : p->N - row;
    for (factor *f = factors; f < factors + FACTORS; f++)
      if (f == factors || f->panels != f[-1].panels)
        dpt__rnn_lay_out(p, pass->product, f->panels, dpt__rnn_at(p, f->of, row * f->columns), k,
                         f->columns, f->columns, 1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < n; first += CHUNK)
      weight_chunk(pass, dpt__rnn_at(p, by, row * n), n, k, first, factors,
                   dpt__rnn_at(p, turned, dpt__thread_number() * size));
  }
}

/* Adds n elements to a part of the gradient, from element `first` of the part on. */
static void weight_add(const dpt__rnn_plan *p, int64_t part, int64_t first, const void *from,
                       int64_t n) {
  void *to = dpt__rnn_weight(p, p->a->gw, part < 0 ? part : part + first);
  if (to) dpt__rows_pick()->map[DPT__MAP_cadd][p->a->type](n, to, to, from, NULL, 1, 0);
}

static int weight_biases(const dpt__rnn_plan *p, const dpt__rnn_layer *at, const void *gates) {
  if (at->input_bias < 0 && at->recurrent_bias < 0) return 0;
  size_t bytes = (size_t)p->row * p->width;
  void *sums = dpt__scratch(p->context, bytes);
  if (p->context->measures) return 0;
  memset(sums, 0, bytes);
  int type = p->a->type;
  struct dpt__plane_sum_args planes = {type, type, p->N, p->row, 1, p->a->scale, gates, sums};
  DPT__TRY(dpt__host_plane_sum(p->context, &planes));
  for (const dpt__rnn_slice *s = p->slice; s < p->slice + 2; s++)
    weight_add(p, at->input_bias, s->first, dpt__rnn_at(p, sums, s->column), s->n);
  weight_add(p, at->recurrent_bias, 0, dpt__rnn_at(p, sums, p->shift), p->gates);
  return 0;
}

static int weight_direction(const dpt__rnn_plan *p, int layer, int d, const void *x) {
  dpt__rnn_pass pass = dpt__rnn_pass_of(p, layer, d, NULL, NULL, NULL, NULL);
  const dpt__rnn_layer *at = &pass.layout;
  int64_t I = at->input < 0 ? 0 : dpt__rnn_input(&p->a->rnn, layer);
  factor gates[FACTORS] = {
      [2] = {at->recurrent, p->shift, p->shift + p->gates, p->O, pass.before, NULL}};
  for (int i = 0; i < 2 && I; i++) {
    const dpt__rnn_slice *s = &p->slice[i];
    gates[i] = (factor){at->input + s->first * I, s->column, s->column + s->n, I, x, NULL};
  }
  factor given[FACTORS] = {{at->projection, 0, p->O, p->H, pass.whole, NULL}};
  size_t used = p->context->used;
  weight_matrices(&pass, pass.gates, p->row, gates);
  p->context->used = used;
  if (pass.given) weight_matrices(&pass, pass.given, p->O, given);
  return weight_biases(p, at, pass.gates);
}

int dpt__host_rnn_weight(dpt__context *context, const void *args) {
  dpt__rnn_plan p;
  dpt__rnn_plan_make(&p, context, args);
  const struct dpt__rnn_args *a = p.a;
  void *x = a->x;
  if (!p.plain) {
    x = dpt__scratch(context, (size_t)(p.N * a->rnn.input) * p.width);
    if (!context->measures) dpt__rnn_pack(&p, x, a->x, a->rnn.input);
  }
  size_t used = context->used;
  for (int layer = 0; layer < a->rnn.layers; layer++) {
    const void *in = layer ? dpt__rnn_input_of(&p, layer) : x;
    for (int d = 0; d < a->rnn.directions; d++) {
      context->used = used;
      DPT__TRY(weight_direction(&p, layer, d, in));
    }
  }
  dpt__rnn_plan_finish(&p);
  return 0;
}
