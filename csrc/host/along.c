/* along.c: cumulative sums and products, cross products and torch.conv2, in host memory.
 *
 * Invariant: sums are wide; the order of terms depends only on sizes.
 */
#include "base/element.h"
#include "host/kernels.h"
#include "ops/create.h"

enum { TILE = 64, PARALLEL = 32768 };

#define BODY "host/along.inc.c"
#include "host/all_types.inc.c"

static const struct type {
  void (*scan)(const dpt__scan_args *g, const void *from, void *to, int64_t cols, int64_t a_col,
               int64_t r_col);
  void (*cross)(const dpt__cross_args *g, int64_t a_at, int64_t b_at, int64_t r_at);
  void (*plane)(const dpt__planes_args *g, const void *from, const void *kernel,
                const int64_t position[3], void *to);
} types[] = {
#define X(id, type, suffix, ...) [id] = {scan_##suffix, cross_##suffix, plane_##suffix},
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof types / sizeof *types == DPT_NDTYPE, "one for each element type");

int dpt__host_scan(dpt__context *context, const void *args) {
  const dpt__scan_args *g = args;
  int last = g->slices.ndim - 1;
  int64_t width = (int64_t)dpt__dtype_size(g->dtype);
  int64_t across = last < 0 ? 1 : g->slices.size[last];
  int64_t a_col = last < 0 ? 1 : g->slices.stride[0][last],
          r_col = last < 0 ? 1 : g->slices.stride[1][last];
  /* Scans slices side by side if they are closer together than the elements of a slice. */
  int64_t tile = last >= 0 && a_col < g->a_stride ? TILE : 1;
  int64_t strips = (across + tile - 1) / tile, tasks = g->slices.count / across * strips;
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (g->slices.count * g->n > PARALLEL)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t first = t % strips * tile, at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, t / strips * across + first, at);
    types[g->dtype].scan(g, (const char *)g->a + at[0] * width, (char *)g->r + at[1] * width,
                         across - first < tile ? across - first : tile, a_col, r_col);
  }
  return 0;
}

int dpt__host_cross(dpt__context *context, const void *args) {
  const dpt__cross_args *g = args;
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (g->slices.count > PARALLEL)
  for (int64_t i = 0; i < g->slices.count; i++) {
    int64_t at[DPT__SLICE_OPERANDS];
    dpt__slice_at(&g->slices, i, at);
    types[g->dtype].cross(g, at[0], at[1], at[2]);
  }
  return 0;
}

int dpt__host_planes(dpt__context *context, const void *args) {
  const dpt__planes_args *g = args;
  int64_t width = (int64_t)dpt__dtype_size(g->dtype);
  int64_t size = g->r_size[0] * g->r_size[1] * g->r_size[2];
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (g->outputs * size > PARALLEL / 16)
  for (int64_t t = 0; t < g->outputs * size; t++) {
    int64_t output = t / size, rest = t % size;
    const int64_t position[3] = {rest / (g->r_size[1] * g->r_size[2]),
                                 rest / g->r_size[2] % g->r_size[1], rest % g->r_size[2]};
    types[g->dtype].plane(g, (const char *)g->a + output * g->a_output * width,
                          (const char *)g->k + output * g->k_output * width, position,
                          (char *)g->r + t * width);
  }
  return 0;
}
