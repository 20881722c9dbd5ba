/* loss.c: pointwise losses: the formulas are nn/loss.def's.
 *
 * Invariant: the sum of each block of BLOCK elements is one thread's, and the blocks' sums are
 * added in their order, so the value does not depend on the number of threads.
 */
#include "host/nn/real.h"

enum { BLOCK = 4096, SPREAD = 16 }; /* elements of a block; sums of it side by side */

/* The loss is a constant in every call: what remains is its formula. */
static inline __attribute__((always_inline)) double formula(int loss, int slope, double x, double t,
                                                            double p) {
  switch (loss) {
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return slope ? (gradient) : (value);
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    return 0;
  }
}

#define DPT_ROWS "host/nn/loss.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(loss)
