/* pool.c: max and average pooling, with windows that are computed once for each dimension.
 *
 * Invariant: a window never extends beyond its plane and is never empty. One thread computes a
 * plane, so the gradients of overlapping windows are added in a fixed order.
 */
#include "base/element.h"
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/strips.h"

#include <inttypes.h>

/* LANES, OUTPUTS: the number of outputs of a row that are computed at once, for maxima and means.
 * Fewer than FEW whole windows are computed one by one. */
enum { LANES = 8, FEW = 4, OUTPUTS = 64 };

#define Index int64_t
#include "nn/reads.inc.h"

/* Computes the windows of one dimension after another. */
static void pool_compute_windows(const struct dpt__slide *s, int adaptive, int count_pad,
                                 struct range *r) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < s->out[d]; o++) *r++ = window_of(s, d, o, adaptive, count_pad);
}

static struct range *pool_ranges_of(dpt__context *context, const struct dpt__slide *s,
                                    int64_t planes) {
  int64_t n = (s->out[0] + s->out[1] + s->out[2]) * planes;
  return dpt__scratch(context, (size_t)n * sizeof(struct range));
}

/* Fails if an index is out of range. bad: the position of the first such index; n or more if there
 * is none. */
static int pool_check_found(const int64_t *idx, int64_t bad, int64_t n, int64_t large) {
  if (bad >= n) return 0;
  char text[DPT__INDEX_TEXT];
  dpt__index_text(text, idx[bad], (double)idx[bad]);
  return dpt__fail("argument 'indices' has %s at element %" PRId64 ", wanted 1 to %" PRId64, text,
                   bad + 1, large);
}

#define DPT_ROWS "host/nn/pool.inc.c"
#include "host/each_real.h"

static int maxpool_strips(dpt__context *context, const struct dpt__maxpool_args *a) {
  int64_t large = dpt__volume(a->slide.in), small = dpt__volume(a->slide.out);
  const dpt__strip_operand operands[] = {
      DPT__READS(a, in, 1, large), DPT__READS(a, samples, 1, a->fractional),
      DPT__WRITES(a, out, 1, small), DPT__STRIP(a, idx, DPT_I64, DPT__STRIP_OUT, 1, small)};
  return dpt__host_in_strips(context, &DPT__STRIPS(maxpool, a, planes, operands, 0));
}
DPT_STORED_KERNEL(maxpool)
DPT_REAL_KERNEL(unpool)
DPT__SIDES(avgpool, slide.in, slide.out)
