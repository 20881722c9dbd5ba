/* index.c: reads and writes along a dimension by index, in host memory (ops/index.h).
 *
 * Invariant: all indices are checked first. Threads divide slices, but not the indices of one slice
 * that is written, so that writes to one element keep their order. STRIP slices side by side are
 * one task.
 */
#include "ops/index.h"
#include "base/element.h"
#include "base/number.h"
#include "host/kernels.h"

enum { STRIP = 2048, BESIDE = 64, PARALLEL = 32768 };

/* n elements of small (fill: one element with stride 0), and the elements of big that the indices
 * select; big_step: how far big advances from one index to the next. */
typedef struct run {
  char *big, *small;
  const int64_t *idx;
  int64_t big_step, big_stride, small_stride, idx_stride, n;
} run;

#define BODY "host/index_add.inc.c"
#include "host/all_types.inc.c"

typedef void add_fn(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n);
typedef void add_run_fn(const run *r);
static add_fn *const adds[DPT_NDTYPE] = {DPT__BY_DTYPE(add_row)};
static add_run_fn *const add_runs[DPT_NDTYPE] = {DPT__BY_DTYPE(add_run)};

static int index_bad(int64_t index, int dim, int64_t limit) {
  char text[DPT__INDEX_TEXT];
  return dpt__fail("index %s is out of range, dimension %d has %lld elements",
                   dpt__index_text(text, index, (double)index), dim, (long long)limit);
}

/* Returns the first index that is out of range, or NULL. */
static const int64_t *index_find_bad(const int64_t *idx, int64_t stride, int64_t n, int64_t limit) {
  uint64_t bad = 0;
  for (int64_t i = 0; i < n; i++) bad |= (uint64_t)idx[i * stride] - 1 >= (uint64_t)limit;
  if (!bad) return NULL;
  while (*idx >= 1 && *idx <= limit) idx += stride;
  return idx;
}

/* Copies or adds between one row of `big` and one of `small` (fill: one element with stride 0). */
static inline void index_copy_or_add(int mode, int dtype, size_t width, char *big,
                                     int64_t big_stride, char *small, int64_t small_stride,
                                     int64_t n) {
  if (mode == DPT__INDEX_read)
    dpt__move(width, small, small_stride, big, big_stride, n);
  else if (mode == DPT__INDEX_add)
    adds[dtype](big, big_stride, small, small_stride, n);
  else
    dpt__move(width, big, big_stride, small, small_stride, n);
}

static DPT__INLINE void index_run_by(int width, const run *r, int reads) {
  run s = *r; /* a copy, whose fields stay in registers */
  for (int64_t i = 0; i < s.n; i++) {
    char *big = s.big + (i * s.big_step + (s.idx[i * s.idx_stride] - 1) * s.big_stride) * width;
    char *small = s.small + i * s.small_stride * width;
    memcpy(reads ? small : big, reads ? big : small, (size_t)width);
  }
}

static void index_run(int mode, int dtype, const run *r) {
  size_t width = dpt__dtype_size(dtype);
  if (mode == DPT__INDEX_add)
    add_runs[dtype](r);
  else if (mode == DPT__INDEX_read)
    DPT__BY_WIDTH(width, index_run_by, r, 1);
  else
    DPT__BY_WIDTH(width, index_run_by, r, 0);
}

/* Applies one vector of indices to all slices. */
static int index_by_vector(dpt__context *context, const dpt__index_args *g, char *fill) {
  size_t width = dpt__dtype_size(g->dtype);
  const int64_t *bad = index_find_bad(g->idx, g->idx_stride, g->n, g->limit);
  if (bad) return index_bad(*bad, g->dim, g->limit);
  /* Rows run along the last of the other dimensions; if there is none, a row is one element. */
  int last = g->slices.ndim - 1;
  int64_t across = last < 0 ? 1 : g->slices.size[last];
  int64_t big_across = last < 0 ? 1 : g->slices.stride[1][last];
  int64_t small_across = last < 0 ? 1 : g->slices.stride[2][last];
  int64_t strips = (across + STRIP - 1) / STRIP, tasks = g->slices.count / across * strips;
  /* Process slices one by one if they are farther apart than the elements of a slice. */
  int along = g->n > 1 && (across == 1 || g->big_stride < big_across);
  /* Reads may also divide the indices. */
  int64_t cuts = g->mode == DPT__INDEX_read && tasks < context->threads ? context->threads : 1;
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (g->slices.count * g->n > PARALLEL)
  for (int64_t t = 0; t < tasks * cuts; t++) {
    int64_t task = t / cuts, strip = task % strips * STRIP, at[DPT__SLICE_OPERANDS];
    int64_t from = g->n * (t % cuts) / cuts, to = g->n * (t % cuts + 1) / cuts;
    int64_t many = across - strip < STRIP ? across - strip : STRIP;
    dpt__slice_at(&g->slices, task / strips * across + strip, at);
    char *big = (char *)g->big + at[1] * (int64_t)width;
    char *small = fill ? fill : (char *)g->small + at[2] * (int64_t)width;
    int64_t small_stride = fill ? 0 : g->small_stride, small_row = fill ? 0 : small_across;
    for (int64_t j = 0; j < many && along; j++) {
      run r = {big + j * big_across * (int64_t)width,
               small + (from * small_stride + j * small_row) * (int64_t)width,
               g->idx + from * g->idx_stride,
               0,
               g->big_stride,
               small_stride,
               g->idx_stride,
               to - from};
      index_run(g->mode, g->dtype, &r);
    }
    for (int64_t i = from; i < to && !along; i++)
      index_copy_or_add(g->mode, g->dtype, width,
                        big + (g->idx[i * g->idx_stride] - 1) * g->big_stride * (int64_t)width,
                        big_across, small + i * small_stride * (int64_t)width, small_row, many);
  }
  return 0;
}

/* Applies to each slice its own indices. Neighbouring slices with adjacent indices are processed
 * together, one element of each at a time; others one by one. */
static int index_by_slices(dpt__context *context, const dpt__index_args *g, char *fill) {
  int64_t width = (int64_t)dpt__dtype_size(g->dtype), wrong = 0;
  int parallel = g->slices.count * g->n > PARALLEL, found = 0, last = g->slices.ndim - 1;
  int64_t across = last < 0 ? 1 : g->slices.size[last], step[DPT__SLICE_OPERANDS] = {0};
  for (int k = 0; k < DPT__SLICE_OPERANDS && last >= 0; k++) step[k] = g->slices.stride[k][last];
  int beside = last >= 0 && (g->n == 1 || step[0] < g->idx_stride);
  int64_t strip = dpt__min(BESIDE, (across - 1) / context->threads + 1);
  int64_t strips = (across + strip - 1) / strip, tasks = g->slices.count / across * strips;
  int64_t small_stride = fill ? 0 : g->small_stride, small_step = fill ? 0 : step[2];
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t first = t % strips * strip, many = dpt__min(strip, across - first);
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, t / strips * across + first, at);
    for (int64_t i = 0; i < (beside ? g->n : many); i++) {
      const int64_t *idx = g->idx + at[0] + i * (beside ? g->idx_stride : step[0]);
      const int64_t *bad =
          index_find_bad(idx, beside ? step[0] : g->idx_stride, beside ? many : g->n, g->limit);
      if (!bad) continue;
#pragma omp critical(dpt_gather)
      found = 1, wrong = *bad;
    }
  }
  if (found) return index_bad(wrong, g->dim, g->limit);
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t first = t % strips * strip, many = dpt__min(strip, across - first);
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, t / strips * across + first, at);
    char *big = (char *)g->big + at[1] * width;
    char *small = fill ? fill : (char *)g->small + at[2] * width;
    const int64_t *idx = g->idx + at[0];
    for (int64_t i = 0; i < g->n && beside; i++) {
      run r = {big,
               small + i * small_stride * width,
               idx + i * g->idx_stride,
               step[1],
               g->big_stride,
               small_step,
               step[0],
               many};
      index_run(g->mode, g->dtype, &r);
    }
    for (int64_t j = 0; j < many && !beside; j++) {
      run r = {big + j * step[1] * width,
               small + j * small_step * width,
               idx + j * step[0],
               0,
               g->big_stride,
               small_stride,
               g->idx_stride,
               g->n};
      index_run(g->mode, g->dtype, &r);
    }
  }
  return 0;
}

int dpt__host_index(dpt__context *context, const void *args) {
  const dpt__index_args *g = args;
  _Alignas(8) char element[8], *fill = g->mode == DPT__INDEX_fill ? element : NULL;
  if (fill) dpt__put_element(g->dtype, fill, g->value);
  return (g->shared ? index_by_vector : index_by_slices)(context, g, fill);
}
