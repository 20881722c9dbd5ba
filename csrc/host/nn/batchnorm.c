/* batchnorm.c: batch normalization, plane by plane (columns in blocks where a plane is one place).
 *
 * Invariant: a plane (or block of columns) is one thread's and its sums are double and in one
 * order; mean first, then squares of the differences, as Torch7 (no cancellation).
 */
#include "host/nn/real.h"

enum { BLOCK = 64 };

struct shape {
  int64_t N, C, S;
};

#define DPT_ROWS "host/nn/batchnorm.inc.c"
#include "host/each_real.h"

int dpt__host_batchnorm(dpt__context *context, const void *p) {
  const struct dpt__batchnorm_args *a = p;
  struct shape size = {a->N, a->C, a->S};
  int64_t block = a->S == 1 ? BLOCK : 1, blocks = (a->C + block - 1) / block;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * block, n = block < a->C - first ? block : a->C - first;
    (a->type == DPT_F32 ? forward_f32 : forward_f64)(a, &size, first, n);
  }
  return 0;
}

int dpt__host_batchnorm_backward(dpt__context *context, const void *p) {
  const struct dpt__batchnorm_backward_args *a = p;
  struct shape size = {a->N, a->C, a->S};
  int64_t block = a->S == 1 ? BLOCK : 1, blocks = (a->C + block - 1) / block;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * block, n = block < a->C - first ? block : a->C - first;
    (a->type == DPT_F32 ? backward_f32 : backward_f64)(a, &size, first, n);
  }
  return 0;
}
