/* plane_sum.c: gradients of biases: sums over images and positions, in double, in a fixed order. */
#include "host/nn/real.h"

enum { BLOCK = 256 }; /* columns that one thread adds up at a time */

#define DPT_ROWS "host/nn/plane_sum.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(plane_sum)
