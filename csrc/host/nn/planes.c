/* planes.c: PReLU, and local response normalization across planes.
 *
 * Invariant: one thread computes a sum over images and positions, in a fixed order.
 */
#include "host/nn/real.h"
#include "host/nn/strips.h"

enum {
  BLOCK = 64,   /* positions that LRN processes together */
  PIECE = 4096, /* elements of a task of PReLU */
  SPREAD = 16   /* accumulators */
};

#define DPT_ROWS "host/nn/planes.inc.c"
#include "host/each_real.h"

static int prelu_strips(dpt__context *context, const struct dpt__prelu_args *a) {
  int64_t image = a->C * a->S, slopes = a->shared ? 1 : a->C;
  const dpt__strip_operand operands[] = {
      DPT__READS(a, in, 1, image),      DPT__READS(a, gout, 1, image),
      DPT__READS(a, weight, 0, slopes), DPT__WRITES(a, out, 1, image),
      DPT__WRITES(a, gin, 1, image),    DPT__UPDATES(a, gw, 0, slopes)};
  return dpt__host_in_strips(context, &DPT__STRIPS(prelu, a, N, operands, a->gw != NULL));
}
DPT_STORED_KERNEL(prelu)

static int lrn_strips(dpt__context *context, const struct dpt__lrn_args *a) {
  int64_t image = a->C * a->S;
  enum dpt__strip_use out = a->gin ? DPT__STRIP_IN : DPT__STRIP_OUT;
  const dpt__strip_operand operands[] = {DPT__READS(a, in, 1, image), DPT__READS(a, gout, 1, image),
                                         DPT__STRIP(a, out, a->type, out, 1, image),
                                         DPT__STRIP(a, denom, a->type, out, 1, image),
                                         DPT__WRITES(a, gin, 1, image)};
  return dpt__host_in_strips(context, &DPT__STRIPS(lrn, a, N, operands, 0));
}
DPT_STORED_KERNEL(lrn)
