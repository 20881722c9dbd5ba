/* softmax.c: SoftMax and LogSoftMax, with vectors of exponentials.
 *
 * Invariant: sums are computed in double, in a fixed order; one thread computes a row or a
 * position. The largest class is subtracted first, so nothing overflows.
 */
#include "host/nn/real.h"
#include "host/nn/strips.h"
#include "host/rows.h"

enum {
  BLOCK = 64,    /* positions of an image that are computed together */
  TOGETHER = 256 /* exponentials computed together, of rows of few classes */
};

#define DPT_ROWS "host/nn/softmax.inc.c"
#include "host/each_real.h"

static int softmax_strips(dpt__context *context, const struct dpt__softmax_args *a) {
  int64_t image = a->C * a->S;
  enum dpt__strip_use out = a->gin ? DPT__STRIP_IN : DPT__STRIP_OUT;
  const dpt__strip_operand operands[] = {DPT__READS(a, in, 1, image), DPT__READS(a, gout, 1, image),
                                         DPT__STRIP(a, out, a->type, out, 1, image),
                                         DPT__WRITES(a, gin, 1, image)};
  return dpt__host_in_strips(context, &DPT__STRIPS(softmax, a, N, operands, 0));
}
DPT_STORED_KERNEL(softmax)
