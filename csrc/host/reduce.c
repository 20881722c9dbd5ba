/* reduce.c: reductions over a dimension and over all elements, in host memory.
 *
 * Invariant: work is split into blocks by sizes and strides alone, and blocks are joined in order,
 * so that no result depends on the number of threads. A slice of more than FEW elements that are
 * closer together than neighbouring slices are is summed as a run; other slices are summed side by
 * side, up to TILE of them.
 */
#include "ops/reduce.h"
#include "base/cpu.h"
#include "base/isa.h"
#include "base/number.h"
#include "host/reduce.h"

#define INLINE DPT__INLINE

/* BEST: the number of elements that max and min process at once; gcc 12 vectorizes them only from
 * 32 on. */
enum {
  SPREAD = DPT__REDUCE_SPREAD,
  FEW = DPT__REDUCE_FEW,
  BEST = 32,
  TILE = DPT__REDUCE_TILE,
  SIDE = DPT__REDUCE_SIDE,
  NARROW = 256, /* slices side by side if there is less work than LARGE */
  LARGE = 1 << 20,
  TOGETHER = 8,
  BLOCK = DPT__REDUCE_BLOCK,
  PARALLEL = 2 * BLOCK
};

#define BODY "host/reduce_rows.inc.c"
#include "host/all_types.inc.c"

static const struct type {
  void (*run)(int kind, const void *data, int64_t n, int64_t stride, double p, part *out);
  void (*columns)(int kind, const void *data, int64_t rows, int64_t row_stride, int64_t cols,
                  int64_t stride, double p, part *out);
  void (*join)(int kind, part *to, int64_t n, const part *from, int64_t more);
  int64_t (*find)(const void *data, int64_t n, int64_t stride, const part *best);
  void (*store)(void *to, const part *value);
} types[] = {
#define X(id, type, suffix, ...)                                                                   \
  [id] = {run_##suffix, columns_##suffix, join_##suffix, find_##suffix, store_##suffix},
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof types / sizeof *types == DPT_NDTYPE, "one for each element type");

#ifdef __x86_64__
/* Returns true if sum_avx2.c has the reduction. */
static int reduce_has_sum(int dtype, int kind, int64_t stride) {
  return (kind == DPT__SUM || kind == DPT__ABS || kind == DPT__SQUARE) && stride == 1 &&
         dpt__compute_dtype(dtype) == DPT_F32 && dpt__isa() >= DPT__ISA_AVX2;
}
#else
#define reduce_has_sum(...) 0
#define dpt__sum_runs(...) (void)0
#define dpt__sum_columns(...) (void)0
#endif

/* Reduces 1 to SIDE runs of n >= 1 elements. */
static void reduce_runs(int dtype, int kind, const void *const *x, int runs, int64_t n,
                        int64_t stride, double p, part *out) {
  if (reduce_has_sum(dtype, kind, stride))
    dpt__sum_runs(dtype, kind, x, runs, n, out);
  else
    for (int k = 0; k < runs; k++) types[dtype].run(kind, x[k], n, stride, p, out + k);
}

static void reduce_columns(int dtype, int kind, const void *x, int64_t rows, int64_t row_stride,
                           int64_t cols, int64_t stride, double p, part *out) {
  if (reduce_has_sum(dtype, kind, stride))
    dpt__sum_columns(dtype, kind, x, rows, row_stride, cols, out);
  else
    types[dtype].columns(kind, x, rows, row_stride, cols, stride, p, out);
}

/* Converts the accumulated part of n elements to the result. */
static void reduce_finish(int op, double p, int dtype, int64_t n, part *v) {
  if (dpt__is_real(dtype))
    v->real = dpt__finish_real(op, p, v->real, v->m2, (double)n);
  else
    v->whole = dpt__finish_whole(op, v->whole, n);
}

static void reduce_put(const dpt__reduce_args *g, int64_t r, int64_t idx, part *v) {
  if (g->idx) g->idx[idx] = v->at + 1;
  reduce_finish(g->op, g->p, g->dtype, g->n, v);
  types[g->dtype].store((char *)g->r + (size_t)r * dpt__dtype_size(g->dtype), v);
}

/* A block of a slice. */
typedef struct run {
  const char *x;
  int64_t n, at[DPT__SLICE_OPERANDS];
} run;

static run reduce_run_of(const dpt__reduce_args *g, int64_t t) {
  run r;
  int64_t blocks = (g->n + BLOCK - 1) / BLOCK, first = t % blocks * BLOCK;
  dpt__slice_at(&g->slices, t / blocks, r.at);
  r.x = (const char *)g->a + (size_t)(r.at[0] + first * g->stride) * dpt__dtype_size(g->dtype);
  r.n = dpt__min(BLOCK, g->n - first);
  return r;
}

/* Reduces blocks t, t + apart ...: SIDE of them, or one. */
static void reduce_some_runs(const dpt__reduce_args *g, int64_t t, int64_t apart, int runs,
                             part *parts) {
  int kind = dpt__accumulation(g->op, g->p), equal = 1;
  run r[SIDE];
  const void *x[SIDE];
  part v[SIDE] = {{.at = 0}};
  for (int k = 0; k < runs; k++) {
    r[k] = reduce_run_of(g, t + k * apart);
    x[k] = r[k].x;
    equal = equal && r[k].n == r[0].n;
  }
  if (equal) reduce_runs(g->dtype, kind, x, runs, r[0].n, g->stride, g->p, v);
  for (int k = 0; k < runs && !equal; k++)
    reduce_runs(g->dtype, kind, x + k, 1, r[k].n, g->stride, g->p, v + k);
  for (int k = 0; k < runs; k++) {
    if (g->idx) v[k].at = types[g->dtype].find(x[k], r[k].n, g->stride, v + k);
    if (g->n <= BLOCK)
      reduce_put(g, r[k].at[1], r[k].at[2], v + k);
    else
      parts[t + k * apart] = v[k];
  }
}

/* Reduces each slice as a run, split into blocks; a task reads SIDE streams of about BLOCK
 * elements. */
static int reduce_by_runs(const dpt__context *context, const dpt__reduce_args *g, part *parts) {
  int kind = dpt__accumulation(g->op, g->p);
  int64_t blocks = (g->n + BLOCK - 1) / BLOCK, count = g->slices.count * blocks;
  int64_t task = dpt__min(SIDE * ((BLOCK - 1) / g->n + 1), count / context->threads + 1);
  int parallel = g->slices.count * g->n > PARALLEL && context->threads > 1;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t first = 0; first < count; first += task) {
    int64_t last = dpt__min(first + task, count), apart = (last - first) / SIDE;
    for (int64_t t = first; t < first + apart; t++) reduce_some_runs(g, t, apart, SIDE, parts);
    for (int64_t t = first + SIDE * apart; t < last; t++) reduce_some_runs(g, t, 0, 1, parts);
  }
  for (int64_t slice = 0; slice < g->slices.count && blocks > 1; slice++) {
    part *v = parts + slice * blocks;
    for (int64_t b = 1; b < blocks; b++)
      types[g->dtype].join(kind, v, b * BLOCK, v + b, dpt__min(BLOCK, g->n - b * BLOCK));
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, slice, at);
    reduce_put(g, at[1], at[2], v);
  }
  return 0;
}

/* Strips of slices side by side (along the last of the other dimensions), split into blocks of
 * rows. Wide strips read longer pieces of memory; narrow ones give more tasks. */
typedef struct strips {
  int64_t across, width, strips, rows, blocks; /* rows: per block */
} strips;

static strips reduce_strips_of(const dpt__reduce_args *g) {
  strips s = {.across = g->slices.size[g->slices.ndim - 1]};
  s.width = g->slices.count * g->n < LARGE ? NARROW : TILE;
  s.strips = (s.across + s.width - 1) / s.width;
  s.rows = 4 * BLOCK / dpt__min(NARROW, s.across);
  s.blocks = (g->n + s.rows - 1) / s.rows;
  return s;
}

static int reduce_by_columns(const dpt__context *context, const dpt__reduce_args *g, part *parts) {
  int kind = dpt__accumulation(g->op, g->p), last = g->slices.ndim - 1;
  size_t width = dpt__dtype_size(g->dtype);
  strips s = reduce_strips_of(g);
  int64_t outer = g->slices.count / s.across, tasks = outer * s.strips * s.blocks;
  int parallel = g->slices.count * g->n > PARALLEL && context->threads > 1;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t block = t % s.blocks, strip = t / s.blocks % s.strips, out = t / s.blocks / s.strips;
    int64_t slice = out * s.across + strip * s.width;
    int64_t cols = dpt__min(s.width, s.across - strip * s.width);
    int64_t first = block * s.rows, at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, slice, at);
    const char *x = (const char *)g->a + (size_t)(at[0] + first * g->stride) * width;
    part local[TILE], *v = s.blocks == 1 ? local : parts + (slice * s.blocks + block * cols);
    reduce_columns(g->dtype, kind, x, dpt__min(s.rows, g->n - first), g->stride, cols,
                   g->slices.stride[0][last], g->p, v);
    for (int64_t j = 0; j < cols && s.blocks == 1; j++)
      reduce_put(g, at[1] + j * g->slices.stride[1][last], at[2] + j * g->slices.stride[2][last],
                 v + j);
  }
  if (s.blocks == 1) return 0;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t i = 0; i < outer * s.strips; i++) {
    int64_t strip = i % s.strips, slice = i / s.strips * s.across + strip * s.width;
    int64_t cols = dpt__min(s.width, s.across - strip * s.width);
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, slice, at);
    for (int64_t j = 0; j < cols; j++) {
      part *v = parts + slice * s.blocks + j;
      for (int64_t b = 1; b < s.blocks; b++)
        types[g->dtype].join(kind, v, b * s.rows, v + b * cols,
                             dpt__min(s.rows, g->n - b * s.rows));
      reduce_put(g, at[1] + j * g->slices.stride[1][last], at[2] + j * g->slices.stride[2][last],
                 v);
    }
  }
  return 0;
}

int dpt__host_reduce(dpt__context *context, const void *args) {
  const dpt__reduce_args *g = args;
  int64_t stride = g->stride < 0 ? -g->stride : g->stride;
  int last = g->slices.ndim - 1;
  int columns = last >= 0 && g->n > 1 && g->slices.size[last] > 1 &&
                (g->n <= FEW || g->slices.stride[0][last] < stride);
  int64_t blocks = columns ? reduce_strips_of(g).blocks : (g->n + BLOCK - 1) / BLOCK;
  part *parts = NULL;
  if (blocks > 1) parts = dpt__scratch(context, (size_t)(g->slices.count * blocks) * sizeof *parts);
  if (context->measures) return 0;
  return columns ? reduce_by_columns(context, g, parts) : reduce_by_runs(context, g, parts);
}

/* Returns the contribution of block t. */
static part reduce_block_of(const dpt__reduce_all_args *g, int kind, int64_t count, int64_t t) {
  int64_t stride = g->walk.stride[0][g->walk.ndim - 1], seen = 0;
  int dtype = g->walk.dtype[0];
  dpt__cursor c;
  part sum = {.at = 0}, v = {.at = 0};
  dpt__walk_at(&g->walk, &c, t * BLOCK, dpt__min(BLOCK, count - t * BLOCK));
  while (dpt__walk_row(&g->walk, &c)) {
    const void *x = c.data[0];
    reduce_runs(dtype, kind, &x, 1, c.n, stride, g->p, seen ? &v : &sum);
    if (seen) types[dtype].join(kind, &sum, seen, &v, c.n);
    seen += c.n;
  }
  return sum;
}

/* Reduces SIDE blocks from `first` on, fewer at the end. */
static void reduce_some_blocks(const dpt__reduce_all_args *g, int kind, int64_t count,
                               int64_t first, part *parts) {
  int64_t stride = g->walk.stride[0][0], t = first;
  int dtype = g->walk.dtype[0];
  const void *x[SIDE];
  if (g->walk.ndim == 1 && (first + SIDE) * BLOCK <= count) {
    ptrdiff_t block = BLOCK * stride * (ptrdiff_t)dpt__dtype_size(dtype);
    for (int k = 0; k < SIDE; k++) x[k] = g->walk.data[0] + (first + k) * block;
    reduce_runs(dtype, kind, x, SIDE, BLOCK, stride, g->p, parts + first);
    return;
  }
  for (; t < first + SIDE && t * BLOCK < count; t++) parts[t] = reduce_block_of(g, kind, count, t);
}

int dpt__host_reduce_all(dpt__context *context, const void *args) {
  const dpt__reduce_all_args *g = args;
  int kind = dpt__accumulation(g->op, g->p), dtype = g->walk.dtype[0];
  int64_t count = dpt__walk_count(&g->walk), blocks = (count + BLOCK - 1) / BLOCK;
  part one, *parts = &one;
  if (blocks > 1) parts = dpt__scratch(context, (size_t)blocks * sizeof *parts);
  if (context->measures) return 0;
  if (count <= PARALLEL) { /* little work costs less than entering a region of one thread */
    for (int64_t t = 0; t < blocks; t++) parts[t] = reduce_block_of(g, kind, count, t);
  } else {
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t t = 0; t < blocks; t += SIDE) reduce_some_blocks(g, kind, count, t, parts);
  }
  for (int64_t t = 1; t < blocks; t++)
    types[dtype].join(kind, parts, t * BLOCK, parts + t, dpt__min(BLOCK, count - t * BLOCK));
  reduce_finish(g->op, g->p, dtype, count, parts);
  *g->out = dpt__is_real(dtype) ? parts->real : (double)parts->whole;
  return 0;
}
