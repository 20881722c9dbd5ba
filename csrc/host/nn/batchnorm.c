/* batchnorm.c: batch normalization, block by block of planes.
 *
 * Invariant: a plane is one thread's, and its sums are double and in one order, whatever block it
 * is in; squares are of differences from a mean (no cancellation): the whole mean's, or that of a
 * piece of a plane, and then the pieces are joined. A forward reads the input twice, a backward
 * twice both.
 */
#include "base/number.h"
#include "host/nn/real.h"
#include "ops/reduce.h"

enum { BLOCK = 64, SPREAD = 16, PIECE = 4096 };

struct shape {
  int64_t N, C, S;
};

/* How many planes a thread takes at once. */
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
