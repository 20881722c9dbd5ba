/* masked.c: elements selected by a mask, and positions of nonzero elements, in host memory.
 *
 * Invariant: elements are counted block by block first, so that every block knows where it begins
 * in the list; nothing is written if the list is too short.
 */
#include "base/element.h"
#include "host/kernels.h"
#include "ops/index.h"

enum { BLOCK = 16384 };

/* Counts the nonzero elements of operand k in a block. */
static int64_t masked_count_set(const dpt__walk *walk, int k, int64_t first, int64_t many) {
  int dtype = walk->dtype[k];
  int64_t stride = walk->stride[k][walk->ndim - 1] * (int64_t)dpt__dtype_size(dtype), sum = 0;
  dpt__cursor c;
  dpt__walk_at(walk, &c, first, many);
  while (dpt__walk_row(walk, &c))
    for (int64_t i = 0; i < c.n; i++) sum += dpt__element_set(dtype, c.data[k] + i * stride);
  return sum;
}

/* Sets starts[b] to the count of nonzero elements before block b; the last one is the total. */
static void masked_count_blocks(const dpt__context *context, const dpt__walk *walk, int k,
                                int64_t blocks, int64_t *starts) {
  int64_t count = dpt__walk_count(walk);
  starts[0] = 0;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (blocks > 2)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t left = count - b * BLOCK;
    starts[b + 1] = masked_count_set(walk, k, b * BLOCK, left < BLOCK ? left : BLOCK);
  }
  for (int64_t b = 0; b < blocks; b++) starts[b + 1] += starts[b];
}

int dpt__host_masked(dpt__context *context, const void *args) {
  const dpt__masked_args *g = args;
  const dpt__walk *walk = &g->walk;
  int64_t count = dpt__walk_count(walk), blocks = (count + BLOCK - 1) / BLOCK, *starts = NULL;
  size_t width = dpt__dtype_size(walk->dtype[0]);
  int64_t stride = walk->stride[0][walk->ndim - 1] * (int64_t)width;
  int64_t mask_stride = walk->stride[1][walk->ndim - 1];
  double fill;
  int filling = g->mode == DPT__INDEX_fill;
  if (filling) dpt__put_element(walk->dtype[0], &fill, g->value);
  if (!filling) starts = dpt__scratch(context, (size_t)(blocks + 1) * sizeof *starts);
  if (context->measures) return 0;
  if (!filling) masked_count_blocks(context, walk, 1, blocks, starts);
  if (!filling && starts[blocks] > g->capacity)
    return dpt__fail("the mask names %lld elements, there are %lld", (long long)starts[blocks],
                     (long long)g->capacity);
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (blocks > 2 && !walk->serial)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t left = count - b * BLOCK;
    char *list = filling ? NULL : (char *)g->list + starts[b] * (int64_t)width;
    dpt__cursor c;
    dpt__walk_at(walk, &c, b * BLOCK, left < BLOCK ? left : BLOCK);
    while (dpt__walk_row(walk, &c))
      for (int64_t i = 0; i < c.n; i++) {
        if (!c.data[1][i * mask_stride]) continue;
        char *at = c.data[0] + i * stride;
        if (g->mode == DPT__INDEX_read)
          dpt__move(width, list, 0, at, 0, 1);
        else
          dpt__move(width, at, 0, filling ? (char *)&fill : list, 0, 1);
        if (!filling) list += width;
      }
  }
  return 0;
}

int dpt__host_nonzero(dpt__context *context, const void *args) {
  const dpt__nonzero_args *g = args;
  const dpt__walk *walk = &g->walk;
  int dtype = walk->dtype[0];
  int64_t count = dpt__walk_count(walk), blocks = (count + BLOCK - 1) / BLOCK;
  int64_t stride = walk->stride[0][walk->ndim - 1] * (int64_t)dpt__dtype_size(dtype);
  int64_t *starts = dpt__scratch(context, (size_t)(blocks + 1) * sizeof *starts);
  if (context->measures) return 0;
  masked_count_blocks(context, walk, 0, blocks, starts);
  if (starts[blocks] > g->capacity) return dpt__fail("the tensor was modified during the call");
#pragma omp parallel for num_threads(context->threads) schedule(static) if (blocks > 2)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t left = count - b * BLOCK, at = b * BLOCK;
    int64_t *out = g->out + starts[b] * g->ndim;
    dpt__cursor c;
    dpt__walk_at(walk, &c, at, left < BLOCK ? left : BLOCK);
    while (dpt__walk_row(walk, &c))
      for (int64_t i = 0; i < c.n; i++, at++) {
        if (!dpt__element_set(dtype, c.data[0] + i * stride)) continue;
        int64_t rest = at;
        for (int d = g->ndim - 1; d >= 0; d--) {
          out[d] = rest % g->size[d] + 1;
          rest /= g->size[d];
        }
        out += g->ndim;
      }
  }
  return 0;
}
