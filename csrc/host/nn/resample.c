/* resample.c: upsampling and padding, with tables of the source of each element of out.
 *
 * Invariant: one thread computes a plane, so the gradients of an element are added in a fixed
 * order.
 */
#include "host/nn/real.h"
#include "host/nn/strips.h"

#define Index int64_t
#include "nn/reads.inc.h"

static void resample_lay_taps(const struct dpt__upsample_args *a, struct tap *t) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < a->outsize[d]; o++)
      *t++ = tap_of(a->insize[d], a->outsize[d], o, a->linear);
}

static void resample_lay_pads(const struct dpt__pad_args *a, int64_t *from) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < a->outsize[d]; o++)
      *from++ = padded(a->mode, a->insize[d], o - a->below[d]);
}

#define DPT_ROWS "host/nn/resample.inc.c"
#include "host/each_real.h"

DPT__SIDES(upsample, insize, outsize)
DPT__SIDES(pad, insize, outsize)
