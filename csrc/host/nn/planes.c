/* planes.c: PReLU, and local response normalization across planes.
 *
 * Invariant: one thread computes a sum over images and positions, in a fixed order.
 */
#include "host/nn/real.h"
#include "host/nn/stored.h"

enum {
  BLOCK = 64,   /* positions that LRN processes together */
  PIECE = 4096, /* elements of a task of PReLU */
  SPREAD = 16   /* accumulators */
};

#define DPT_ROWS "host/nn/planes.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(prelu)
DPT_REAL_KERNEL(lrn)
