/* planes.c: PReLU, and local response normalization across planes.
 *
 * Invariant: sums over images and positions are one thread's and in one order.
 */
#include "host/nn/real.h"

enum {
  BLOCK = 64,   /* positions that LRN works on together */
  PIECE = 4096, /* elements of a task of PReLU */
  SPREAD = 16   /* sums side by side */
};

#define DPT_ROWS "host/nn/planes.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(prelu)
DPT_REAL_KERNEL(lrn)
