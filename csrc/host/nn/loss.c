/* loss.c: pointwise losses: the formulas are nn/loss.def's.
 *
 * Invariant: the sum of each block of BLOCK elements is one thread's, and the blocks' sums are
 * added in their order, so the value does not depend on the number of threads.
 */
#include "nn/loss.h"
#include "host/nn/real.h"

enum { BLOCK = 4096 };

static inline __attribute__((always_inline)) double value_of(int loss, double x, double t,
                                                             double p) {
  switch (loss) {
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return value;
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    return 0;
  }
}

static inline __attribute__((always_inline)) double gradient_of(int loss, double x, double t,
                                                                double p) {
  switch (loss) {
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return gradient;
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    return 0;
  }
}

#define DPT_ROWS "host/nn/loss.inc.c"
#include "host/each_real.h"

int dpt__host_loss(dpt__context *context, const void *p) {
  const struct dpt__loss_args *a = p;
  int64_t blocks = (a->n + BLOCK - 1) / BLOCK;
  double *part = dpt__scratch(context, (size_t)(blocks + 1) * sizeof *part), sum = 0;
  if (!part) return 1;
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * BLOCK, n = BLOCK < a->n - first ? BLOCK : a->n - first;
    part[b] = (a->type == DPT_F32 ? block_sum_f32 : block_sum_f64)(a, first, n);
  }
  for (int64_t b = 0; b < blocks; b++) sum += part[b];
  if (a->average && a->n) sum /= (double)a->n;
  if (a->type == DPT_F32)
    *(float *)a->out = (float)sum;
  else
    *(double *)a->out = sum;
  return 0;
}

int dpt__host_loss_backward(dpt__context *context, const void *p) {
  const struct dpt__loss_backward_args *a = p;
  int64_t blocks = (a->n + BLOCK - 1) / BLOCK;
  double factor = a->average && a->n ? 1 / (double)a->n : 1;
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * BLOCK, n = BLOCK < a->n - first ? BLOCK : a->n - first;
    (a->type == DPT_F32 ? block_gradient_f32 : block_gradient_f64)(a, factor, first, n);
  }
  return 0;
}
