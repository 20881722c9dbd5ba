/* weight.c: recurrent networks backward by their weights, from the gradients by the sums that
 * data.c left in the reserve.
 *
 * Invariant: a matrix gets the products of BLOCK rows after another, in their order, whatever the
 * number of threads is.
 */
#include "host/rnn/pass.h"

enum {
  BLOCK = 512, /* rows at once: what is laid out of them stays in the caches */
  LINE = 16,   /* columns and rows that are turned over together */
  STRIP = 128, /* columns that a thread turns over at once */
  CHUNK = 64   /* rows of a result that a thread takes at once */
};

#define DPT_ROWS "host/rnn/weight.inc.c"
#include "host/each_real.h"

typedef struct sum {
  const dpt__rnn_plan *p;
  const dpt__rnn_product *product;
  void *turned, *panels;
  const void *by; /* (N, n), rows by_row apart */
  int64_t by_row, n;
} sum;

static void weight_begin(sum *s, const dpt__rnn_pass *pass, const void *by, int64_t by_row,
                         int64_t n, int64_t most_columns) {
  const dpt__rnn_plan *p = pass->plan;
  int64_t k = p->N < BLOCK ? p->N : BLOCK;
  *s = (sum){.p = p, .product = pass->product, .by = by, .by_row = by_row, .n = n};
  s->turned = dpt__scratch(p->context, (size_t)(n * k) * p->width);
  s->panels =
      dpt__scratch(p->context, (size_t)dpt__rnn_packed(s->product, k, most_columns) * p->width);
}

/* Rows first .. first+k-1 of `by`, turned over and scaled. */
static void weight_turn(const sum *s, int64_t first, int64_t k) {
  const dpt__rnn_plan *p = s->p;
  const void *from = dpt__rnn_at(p, s->by, first * s->by_row);
  double scale = p->a->scale;
#pragma omp parallel for num_threads(dpt__threads(p->context, k * s->n)) schedule(static)
  for (int64_t i = 0; i < s->n; i += STRIP) {
    int64_t end = i + STRIP < s->n ? i + STRIP : s->n;
    if (p->a->type == DPT_F32)
      turn_f32(s->turned, from, s->by_row, k, i, end, (float)scale);
    else
      turn_f64(s->turned, from, s->by_row, k, i, end, scale);
  }
}

/* A part (rows, columns) of the gradient += columns shift .. shift+rows-1 of what was turned over,
 * times rows of `of` (N, columns). */
static void weight_add_product(const sum *s, int64_t part, int64_t shift, int64_t rows,
                               const void *of, int64_t columns, int64_t first, int64_t k) {
  const dpt__rnn_plan *p = s->p;
  if (part < 0) return;
  dpt__rnn_lay_out(p, s->product, s->panels, dpt__rnn_at(p, of, first * columns), k, columns,
                   columns, 1);
#pragma omp parallel for num_threads(dpt__threads(p->context, rows *columns)) schedule(static)
  for (int64_t i = 0; i < rows; i += CHUNK)
    s->product->run(dpt__rnn_at(p, p->a->gw, part + i * columns), columns,
                    dpt__rnn_at(p, s->turned, (shift + i) * k), k, s->panels,
                    CHUNK < rows - i ? CHUNK : rows - i, k, columns, 1);
}

static void weight_matrices(const dpt__rnn_pass *pass, const void *x) {
  const dpt__rnn_plan *p = pass->plan;
  const dpt__rnn_layer *at = &pass->layout;
  int64_t I = dpt__rnn_input(&p->a->rnn, pass->layer);
  sum gates, given;
  weight_begin(&gates, pass, pass->gates, p->row, p->row, I > p->O ? I : p->O);
  if (pass->given) weight_begin(&given, pass, pass->given, p->O, p->O, p->H);
  if (p->context->measures) return;
  for (int64_t first = 0; first < p->N; first += BLOCK) {
    int64_t k = BLOCK < p->N - first ? BLOCK : p->N - first;
    weight_turn(&gates, first, k);
    weight_add_product(&gates, at->input, 0, p->gates, x, I, first, k);
    weight_add_product(&gates, at->recurrent, p->shift, p->gates, pass->before, p->O, first, k);
    if (!pass->given) continue;
    weight_turn(&given, first, k);
    weight_add_product(&given, at->projection, 0, p->O, pass->whole, p->H, first, k);
  }
}

/* Adds n elements to a part of the gradient. */
static void weight_add(const dpt__rnn_plan *p, int64_t part, const void *from, int64_t n) {
  if (part < 0) return;
  if (p->a->type == DPT_F32)
    add_f32((float *)p->a->gw + part, from, n);
  else
    add_f64((double *)p->a->gw + part, from, n);
}

static int weight_biases(const dpt__rnn_plan *p, const dpt__rnn_layer *at, const void *gates) {
  if (at->input_bias < 0 && at->recurrent_bias < 0) return 0;
  size_t bytes = (size_t)p->row * p->width;
  void *sums = dpt__scratch(p->context, bytes);
  if (p->context->measures) return 0;
  memset(sums, 0, bytes);
  struct dpt__plane_sum_args planes = {.type = p->a->type,
                                       .N = p->N,
                                       .C = p->row,
                                       .S = 1,
                                       .scale = p->a->scale,
                                       .gout = gates,
                                       .gb = sums};
  DPT__TRY(dpt__host_plane_sum(p->context, &planes));
  weight_add(p, at->input_bias, sums, p->gates);
  weight_add(p, at->recurrent_bias, dpt__rnn_at(p, sums, p->shift), p->gates);
  return 0;
}

static int weight_direction(const dpt__rnn_plan *p, int layer, int d, const void *x) {
  dpt__rnn_pass pass = dpt__rnn_pass_of(p, layer, d, NULL, NULL, NULL, NULL);
  weight_matrices(&pass, x);
  return weight_biases(p, &pass.layout, pass.gates);
}

int dpt__host_rnn_weight(dpt__context *context, const void *args) {
  const struct dpt__rnn_args *a = args;
  dpt__rnn_plan p;
  dpt__rnn_plan_make(&p, context, a);
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
  return 0;
}
