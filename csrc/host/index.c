/* index.c: reads and writes along a dimension by index, in host memory (ops/index.h).
 *
 * Invariant: all indices are looked at first; threads share slices, never the indices of one slice,
 * so that writes to one element keep their order. STRIP slices side by side are one task.
 */
#include "ops/index.h"
#include "base/element.h"
#include "host/kernels.h"

#define BODY "host/index_add.inc.c"
#include "host/all_types.inc.c"

enum { STRIP = 2048, PARALLEL = 32768 };

typedef void add_fn(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n);
static add_fn *const adds[DPT_NDTYPE] = {DPT__BY_DTYPE(add_row)};

static int index_bad(int64_t index, int dim, int64_t limit) {
  return dpt__fail("index %lld is out of range, dimension %d has %lld elements", (long long)index,
                   dim, (long long)limit);
}

/* One row of `big` meets one of `small` (fill: one element with stride 0). */
static inline void index_meet(int mode, int dtype, size_t width, char *big, int64_t big_stride,
                              char *small, int64_t small_stride, int64_t n) {
  if (mode == DPT__INDEX_read)
    dpt__move(width, small, small_stride, big, big_stride, n);
  else if (mode == DPT__INDEX_add)
    adds[dtype](big, big_stride, small, small_stride, n);
  else
    dpt__move(width, big, big_stride, small, small_stride, n);
}

/* One vector of indices for all slices. */
static int index_by_vector(dpt__context *context, const dpt__index_args *g, char *fill) {
  size_t width = dpt__dtype_size(g->dtype);
  for (int64_t i = 0; i < g->n; i++) {
    int64_t at = g->idx[i * g->idx_stride];
    if (at < 1 || at > g->limit) return index_bad(at, g->dim, g->limit);
  }
  /* Rows run along the last of the other dimensions; without one they have one element. */
  int last = g->slices.ndim - 1;
  int64_t across = last < 0 ? 1 : g->slices.size[last];
  int64_t big_across = last < 0 ? 1 : g->slices.stride[1][last];
  int64_t small_across = last < 0 ? 1 : g->slices.stride[2][last];
  int64_t strips = (across + STRIP - 1) / STRIP, tasks = g->slices.count / across * strips;
  int along = across < g->n && g->big_stride < big_across; /* slices lie apart: go slice by slice */
  /* Reads may share the indices too. */
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
    for (int64_t j = 0; j < (along ? many : 1); j++)
      for (int64_t i = from; i < to; i++) {
        int64_t index = g->idx[i * g->idx_stride] - 1;
        index_meet(g->mode, g->dtype, width,
                   big + (index * g->big_stride + j * big_across) * (int64_t)width, big_across,
                   small + (i * small_stride + j * small_row) * (int64_t)width, small_row,
                   along ? 1 : many);
      }
  }
  return 0;
}

/* Each slice has indices of its own. */
static int index_by_slices(dpt__context *context, const dpt__index_args *g, char *fill) {
  size_t width = dpt__dtype_size(g->dtype);
  int64_t wrong = 0;
  int parallel = g->slices.count * g->n > PARALLEL, found = 0;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < g->slices.count; t++) {
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, t, at);
    for (int64_t i = 0; i < g->n; i++) {
      int64_t index = g->idx[at[0] + i * g->idx_stride];
      if (index >= 1 && index <= g->limit) continue;
#pragma omp critical(dpt_gather)
      found = 1, wrong = index;
    }
  }
  if (found) return index_bad(wrong, g->dim, g->limit);
#pragma omp parallel for num_threads(context->threads) schedule(static) if (parallel)
  for (int64_t t = 0; t < g->slices.count; t++) {
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, t, at);
    char *big = (char *)g->big + at[1] * (int64_t)width;
    char *small = fill ? fill : (char *)g->small + at[2] * (int64_t)width;
    int64_t small_stride = fill ? 0 : g->small_stride;
    for (int64_t i = 0; i < g->n; i++) {
      int64_t index = g->idx[at[0] + i * g->idx_stride] - 1;
      index_meet(g->mode, g->dtype, width, big + index * g->big_stride * (int64_t)width, 0,
                 small + i * small_stride * (int64_t)width, 0, 1);
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
