/* plane_sum.c: gradients of biases: sums over images and positions, in double, in a fixed order. */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/strips.h"

/* The number of columns that one thread sums at once is at most BLOCK, and a multiple of UNIT. */
enum { BLOCK = 256, UNIT = 16 };

static int64_t plane_sum_block(int64_t columns, int threads) {
  int64_t part = (columns + threads - 1) / threads;
  return dpt__min(BLOCK, (part + UNIT - 1) / UNIT * UNIT);
}

#define DPT_ROWS "host/nn/plane_sum.inc.c"
#include "host/each_real.h"

static int plane_sum_strips(dpt__context *context, const struct dpt__plane_sum_args *a) {
  const dpt__strip_operand operands[] = {DPT__READS(a, gout, a->N, a->S),
                                         DPT__STRIP(a, gb, a->param_type, DPT__STRIP_UPDATE, 1, 1)};
  return dpt__host_in_strips(context, &DPT__STRIPS(plane_sum, a, C, operands, 0));
}
DPT_STORED_KERNEL(plane_sum)
