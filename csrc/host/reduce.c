/* reduce.c: reductions over a dimension and over everything, in host memory.
 *
 * What must stay true: work is cut into blocks by sizes and steps alone, blocks are joined in their
 * order, so that no result depends on the number of threads. A lane whose elements lie closer
 * together than its neighbours' is summed as a run, otherwise TILE lanes side by side.
 */
#include "ops/reduce.h"
#include "host/isa.h"
#include "host/kernels.h"

#include <math.h>

#define INLINE inline __attribute__((always_inline))

/* What is accumulated; SPREADOUT: mean and squared deviations. */
enum { SUM, COUNT, MAGNITUDE, SQUARE, POWER, PRODUCT, SPREADOUT, MOST, LEAST };
enum { SPREAD = 16, TILE = 256, BLOCK = 16384, PARALLEL = 32768 };

typedef struct part {
  union {
    double real;
    int64_t whole;
  };
  union {
    double m2;
    int64_t at;
  };
} part;

#define BODY "host/reduce_rows.inc.c"
#include "host/all_types.inc.c"

static const struct type {
  void (*run)(int kind, const void *data, int64_t n, int64_t step, double p, part *out);
  void (*columns)(int kind, const void *data, int64_t rows, int64_t row_step, int64_t cols,
                  int64_t step, double p, part *out);
  void (*join)(int kind, part *to, int64_t n, const part *from, int64_t more);
  int64_t (*find)(const void *data, int64_t n, int64_t step, const part *best);
  void (*store)(void *to, const part *value);
} types[] = {
#define X(id, type, acc, suffix, name)                                                             \
  [id] = {run_##suffix, columns_##suffix, join_##suffix, find_##suffix, store_##suffix},
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof types / sizeof *types == DPT_NDTYPE, "one for each element type");

static int kind_of(int op, double p) {
  switch (op) {
  case DPT__REDUCE_prod:
    return PRODUCT;
  case DPT__REDUCE_var:
  case DPT__REDUCE_std:
    return SPREADOUT;
  case DPT__REDUCE_norm:
    return p == 0 ? COUNT : p == 1 ? MAGNITUDE : p == 2 ? SQUARE : POWER;
  case DPT__REDUCE_max:
    return MOST;
  case DPT__REDUCE_min:
    return LEAST;
  case DPT__REDUCE_all:
  case DPT__REDUCE_any:
    return COUNT;
  default:
    return SUM;
  }
}

/* From the accumulated part of n elements to the result. */
static void finish(int op, int dtype, double p, int64_t n, part *v) {
  switch (op) {
  case DPT__REDUCE_mean:
    v->real /= (double)n;
    break;
  case DPT__REDUCE_var:
  case DPT__REDUCE_std:
    v->real = v->m2 / (double)(p != 0 ? n : n - 1);
    if (op == DPT__REDUCE_std) v->real = sqrt(v->real);
    break;
  case DPT__REDUCE_norm:
    if (p == 2)
      v->real = sqrt(v->real);
    else if (p != 0 && p != 1)
      v->real = pow(v->real, 1 / p);
    break;
  case DPT__REDUCE_all:
    v->whole = v->whole == n;
    break;
  case DPT__REDUCE_any:
    v->whole = v->whole != 0;
    break;
  default:
    break;
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Offsets of place i of the outer dimensions. */
static void place(const dpt__reduce_args *g, int64_t i, int64_t *a, int64_t *r, int64_t *idx) {
  *a = *r = *idx = 0;
  for (int d = g->ndim - 1; d >= 0; d--) {
    int64_t at = d ? i % g->size[d] : i;
    i = d ? i / g->size[d] : 0;
    *a += at * g->a_step[d];
    *r += at * g->r_step[d];
    *idx += at * g->idx_step[d];
  }
}

static void put(const dpt__reduce_args *g, int64_t r, int64_t idx, part *v) {
  if (g->idx) g->idx[idx] = v->at + 1;
  finish(g->op, g->dtype, g->p, g->n, v);
  types[g->dtype].store((char *)g->r + (size_t)r * dpt__dtype_size(g->dtype), v);
}

/* Each lane is a run, cut into blocks. */
static int by_runs(const dpt__context *context, const dpt__reduce_args *g, part *parts) {
  int kind = kind_of(g->op, g->p);
  const struct type *type = &types[g->dtype];
  size_t width = dpt__dtype_size(g->dtype);
  int64_t blocks = (g->n + BLOCK - 1) / BLOCK, tasks = g->lanes * blocks;
  int parallel = g->lanes * g->n > PARALLEL && context->threads > 1;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t lane = t / blocks, first = t % blocks * BLOCK, a, r, idx;
    place(g, lane, &a, &r, &idx);
    const char *x = (const char *)g->a + (size_t)((a + first * g->step)) * width;
    int64_t n = least(BLOCK, g->n - first);
    part v = {.at = 0};
    type->run(kind, x, n, g->step, g->p, &v);
    if (g->idx) v.at = type->find(x, n, g->step, &v);
    if (blocks == 1)
      put(g, r, idx, &v);
    else
      parts[t] = v;
  }
  for (int64_t lane = 0; lane < g->lanes && blocks > 1; lane++) {
    part *v = parts + lane * blocks;
    for (int64_t b = 1; b < blocks; b++)
      type->join(kind, v, b * BLOCK, v + b, least(BLOCK, g->n - b * BLOCK));
    int64_t a, r, idx;
    place(g, lane, &a, &r, &idx);
    put(g, r, idx, v);
  }
  return 0;
}

/* Strips of lanes side by side (the last of the other dimensions), cut into blocks of rows. */
typedef struct strips {
  int64_t across, strips, rows, blocks; /* rows: of a block */
} strips;

static strips strips_of(const dpt__reduce_args *g) {
  strips s = {.across = g->size[g->ndim - 1]};
  s.strips = (s.across + TILE - 1) / TILE;
  int64_t width = least(TILE, s.across);
  s.rows = 4 * BLOCK / width;
  s.blocks = (g->n + s.rows - 1) / s.rows;
  return s;
}

static int by_columns(const dpt__context *context, const dpt__reduce_args *g, part *parts) {
  int kind = kind_of(g->op, g->p), last = g->ndim - 1;
  const struct type *type = &types[g->dtype];
  size_t width = dpt__dtype_size(g->dtype);
  strips s = strips_of(g);
  int64_t outer = g->lanes / s.across, tasks = outer * s.strips * s.blocks;
  int parallel = g->lanes * g->n > PARALLEL && context->threads > 1;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t block = t % s.blocks, strip = t / s.blocks % s.strips, out = t / s.blocks / s.strips;
    int64_t lane = out * s.across + strip * TILE, cols = least(TILE, s.across - strip * TILE);
    int64_t first = block * s.rows, a, r, idx;
    place(g, lane, &a, &r, &idx);
    const char *x = (const char *)g->a + (size_t)(a + first * g->step) * width;
    part local[TILE], *v = s.blocks == 1 ? local : parts + (lane * s.blocks + block * cols);
    type->columns(kind, x, least(s.rows, g->n - first), g->step, cols, g->a_step[last], g->p, v);
    for (int64_t j = 0; j < cols && s.blocks == 1; j++)
      put(g, r + j * g->r_step[last], idx + j * g->idx_step[last], v + j);
  }
  for (int64_t i = 0; i < outer * s.strips && s.blocks > 1; i++) {
    int64_t strip = i % s.strips, lane = i / s.strips * s.across + strip * TILE, a, r, idx;
    int64_t cols = least(TILE, s.across - strip * TILE);
    place(g, lane, &a, &r, &idx);
    for (int64_t j = 0; j < cols; j++) {
      part *v = parts + lane * s.blocks + j;
      for (int64_t b = 1; b < s.blocks; b++)
        type->join(kind, v, b * s.rows, v + b * cols, least(s.rows, g->n - b * s.rows));
      put(g, r + j * g->r_step[last], idx + j * g->idx_step[last], v);
    }
  }
  return 0;
}

int dpt__host_reduce(dpt__context *context, const void *args) {
  const dpt__reduce_args *g = args;
  int64_t step = g->step < 0 ? -g->step : g->step;
  int columns =
      g->ndim > 0 && g->n > 1 && g->size[g->ndim - 1] > 1 && g->a_step[g->ndim - 1] < step;
  int64_t blocks = columns ? strips_of(g).blocks : (g->n + BLOCK - 1) / BLOCK;
  part *parts = NULL;
  if (blocks > 1 && !(parts = dpt__scratch(context, (size_t)(g->lanes * blocks) * sizeof *parts)))
    return 1;
  return columns ? by_columns(context, g, parts) : by_runs(context, g, parts);
}

/* Where row i of everything begins. */
static int64_t row_at(const dpt__reduce_all_args *g, int64_t i) {
  int64_t at = 0;
  for (int d = g->ndim - 2; d >= 0; d--) {
    at += i % g->size[d] * g->step[d];
    i /= g->size[d];
  }
  return at;
}

static void put_number(int dtype, int out_dtype, void *out, const part *v) {
  int real = dpt__is_real(dtype);
  switch (out_dtype) {
#define X(id, type, acc, suffix, name)                                                             \
  case id:                                                                                         \
    *(type *)out = real ? (type)v->real : (type)v->whole;                                          \
    break;
    DPT_INTEGER_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
  default:
    *(dpt__half *)out = dpt__half_from_float(real ? (float)v->real : (float)v->whole);
  }
}

int dpt__host_reduce_all(dpt__context *context, const void *args) {
  const dpt__reduce_all_args *g = args;
  int kind = kind_of(g->op, g->p), last = g->ndim - 1;
  const struct type *type = &types[g->dtype];
  size_t width = dpt__dtype_size(g->dtype);
  int64_t n = g->size[last], rows = 1, step = g->step[last];
  for (int d = 0; d < last; d++) rows *= g->size[d];
  /* A block is a piece of one long row, or some short rows. */
  int64_t pieces = (n + BLOCK - 1) / BLOCK, together = pieces > 1 ? 1 : BLOCK / n;
  int64_t groups = (rows + together - 1) / together, tasks = groups * pieces;
  part one, *parts = &one;
  if (tasks > 1 && !(parts = dpt__scratch(context, (size_t)tasks * sizeof *parts))) return 1;
  int parallel = rows * n > PARALLEL && context->threads > 1;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t row = t / pieces * together, first = t % pieces * BLOCK, seen = 0;
    int64_t many = least(together, rows - row), length = least(BLOCK, n - first);
    part sum, v = {.at = 0};
    for (int64_t i = 0; i < many; i++, seen += length) {
      const char *x = (const char *)g->a + (size_t)(row_at(g, row + i) + first * step) * width;
      type->run(kind, x, length, step, g->p, i ? &v : &sum);
      if (i) type->join(kind, &sum, seen, &v, length);
    }
    parts[t] = sum;
  }
  int64_t seen = 0;
  for (int64_t t = 0; t < tasks; t++) {
    int64_t many = least(together, rows - t / pieces * together);
    int64_t length = many * least(BLOCK, n - t % pieces * BLOCK);
    if (t) type->join(kind, parts, seen, parts + t, length);
    seen += length;
  }
  finish(g->op, g->dtype, g->p, rows * n, parts);
  put_number(g->dtype, g->out_dtype, g->out, parts);
  return 0;
}
