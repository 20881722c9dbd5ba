/* batchnorm.c: batch normalization, plane by plane (columns in blocks if planes are one element).
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

DPT_REAL_KERNEL(batchnorm)
DPT_REAL_KERNEL(batchnorm_backward)
