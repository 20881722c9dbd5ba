/* step.c: optimizer steps over flat vectors.
 *
 * Invariant: each element goes through optim's operations in optim's order, a block of BLOCK
 * elements at a time, so that memory is traversed once.
 */
#include "host/nn/real.h"

enum { BLOCK = 2048 };

#define DPT_ROWS "host/nn/step.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(sgd)
DPT_REAL_KERNEL(adam)
