/* plane_sum.c: gradients of biases: sums over images and positions, in double, in a fixed order. */
#include "base/number.h"
#include "host/nn/real.h"

/* The number of columns that one thread sums at once is at most BLOCK, and a multiple of UNIT. */
enum { BLOCK = 256, UNIT = 16 };

static int64_t plane_sum_block(int64_t columns, int threads) {
  int64_t part = (columns + threads - 1) / threads;
  return dpt__min(BLOCK, (part + UNIT - 1) / UNIT * UNIT);
}

#define DPT_ROWS "host/nn/plane_sum.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(plane_sum)
