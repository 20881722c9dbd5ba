/* softmax.c: SoftMax and LogSoftMax, with vectors of exponentials.
 *
 * Invariant: sums are computed in double, in a fixed order; one thread computes a row or a
 * position. The largest class is subtracted first, so nothing overflows.
 */
#include "host/nn/real.h"
#include "host/rows.h"

enum {
  BLOCK = 64,    /* positions of an image that are computed together */
  TOGETHER = 256 /* exponentials computed together, of rows of few classes */
};

#define DPT_ROWS "host/nn/softmax.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(softmax)
