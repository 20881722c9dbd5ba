/* softmax.c: SoftMax and LogSoftMax by vectors of exponentials.
 *
 * Invariant: sums are in double and in one order, a row or position is one thread's; the
 * largest class is taken off first, so nothing overflows.
 */
#include "host/nn/real.h"
#include "host/rows.h"

enum {
  BLOCK = 64,    /* positions of an image that are computed together */
  TOGETHER = 256 /* exponentials of rows of few classes that are */
};

#define DPT_ROWS "host/nn/softmax.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(softmax)
