/* loss.c: pointwise losses, with the formulas of nn/loss.def.
 *
 * Invariant: one thread sums each block of BLOCK elements, and the blocks' sums are added in order,
 * so the value does not depend on the number of threads.
 */
#include "host/nn/real.h"

enum { BLOCK = 4096, SPREAD = 16 }; /* elements of a block; its accumulators */

/* The loss is a constant in every call, so that only its formula remains. */
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
