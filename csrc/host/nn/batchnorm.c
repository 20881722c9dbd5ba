/* batchnorm.c: batch normalization, block by block of planes.
 *
 * Invariant: one thread computes a plane; its sums are computed in double, in a fixed order,
 * whichever block it is in. Squares are of differences from a mean (no cancellation): the mean of
 * the whole, or that of a piece of a plane, and then the pieces are joined. A forward pass reads
 * the input twice; a backward pass reads the input and the gradient twice each.
 */
#include "base/number.h"
#include "host/nn/real.h"
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

DPT_REAL_KERNEL(batchnorm)
DPT_REAL_KERNEL(batchnorm_backward)
