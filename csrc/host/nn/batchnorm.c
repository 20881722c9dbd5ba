/* batchnorm.c: batch normalization, block by block of planes.
 *
 * Invariant: one thread computes a plane; its sums are computed in double, in a fixed order,
 * whichever block it is in. Squares are of differences from a mean (no cancellation): the mean of
 * the whole, or that of a piece of a plane, and then the pieces are joined. A forward pass reads
 * the input twice; a backward pass reads the input and the gradient twice each.
 */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/strips.h"
#include "ops/reduce.h"

enum { BLOCK = 64, SPREAD = 16, PIECE = 4096 };

struct shape {
  int64_t N, C, S;
};

/* Returns the number of planes that a thread processes at once. */
static int64_t batchnorm_block(const struct shape *a, int threads) {
  int64_t share = (a->C + threads - 1) / threads;
  return a->S == 1 ? BLOCK : dpt__min(share, BLOCK);
}

static DPT__INLINE double batchnorm_total(double *s) {
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return s[0];
}

#define DPT_ROWS "host/nn/batchnorm.inc.c"
#include "host/each_real.h"

static int batchnorm_strips(dpt__context *context, const struct dpt__batchnorm_args *a) {
  enum dpt__strip_use running = a->train ? DPT__STRIP_UPDATE : DPT__STRIP_IN;
  const dpt__strip_operand operands[] = {
      DPT__READS(a, in, a->N, a->S),
      DPT__WRITES(a, out, a->N, a->S),
      DPT__STRIP(a, weight, a->param_type, DPT__STRIP_IN, 1, 1),
      DPT__STRIP(a, bias, a->param_type, DPT__STRIP_IN, 1, 1),
      DPT__STRIP(a, save_mean, a->param_type, DPT__STRIP_OUT, 1, 1),
      DPT__STRIP(a, save_std, a->param_type, DPT__STRIP_OUT, 1, 1),
      DPT__STRIP(a, running_mean, a->param_type, running, 1, 1),
      DPT__STRIP(a, running_var, a->param_type, running, 1, 1)};
  return dpt__host_in_strips(context, &DPT__STRIPS(batchnorm, a, C, operands, 0));
}
DPT_STORED_KERNEL(batchnorm)

static int batchnorm_backward_strips(dpt__context *context,
                                     const struct dpt__batchnorm_backward_args *a) {
  const dpt__strip_operand operands[] = {
      DPT__READS(a, in, a->N, a->S),
      DPT__READS(a, gout, a->N, a->S),
      DPT__WRITES(a, gin, a->N, a->S),
      DPT__STRIP(a, weight, a->param_type, DPT__STRIP_IN, 1, 1),
      DPT__STRIP(a, mean, a->param_type, DPT__STRIP_IN, 1, 1),
      DPT__STRIP(a, deviation, a->param_type, DPT__STRIP_IN, 1, 1),
      DPT__STRIP(a, gweight, a->param_type, DPT__STRIP_UPDATE, 1, 1),
      DPT__STRIP(a, gbias, a->param_type, DPT__STRIP_UPDATE, 1, 1)};
  return dpt__host_in_strips(context, &DPT__STRIPS(batchnorm_backward, a, C, operands, 0));
}
DPT_STORED_KERNEL(batchnorm_backward)
