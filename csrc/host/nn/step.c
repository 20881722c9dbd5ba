/* step.c: optimizer steps over flat vectors.
 *
 * Invariant: each element goes through optim's operations in optim's order, a block of BLOCK
 * elements at a time, so that memory is passed over once.
 */
#include "host/nn/real.h"

enum { BLOCK = 2048 };

#define DPT_ROWS "host/nn/step.inc.c"
#include "host/each_real.h"

int dpt__host_sgd(dpt__context *context, const void *p) {
  const struct dpt__sgd_args *a = p;
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t first = 0; first < a->n; first += BLOCK) {
    int64_t n = BLOCK < a->n - first ? BLOCK : a->n - first;
    (a->type == DPT_F32 ? sgd_f32 : sgd_f64)(a, first, n);
  }
  return 0;
}

int dpt__host_adam(dpt__context *context, const void *p) {
  const struct dpt__adam_args *a = p;
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t first = 0; first < a->n; first += BLOCK) {
    int64_t n = BLOCK < a->n - first ? BLOCK : a->n - first;
    (a->type == DPT_F32 ? adam_f32 : adam_f64)(a, first, n);
  }
  return 0;
}
