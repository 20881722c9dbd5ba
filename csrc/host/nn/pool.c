/* pool.c: max and average pooling by windows that are laid out once for each dimension.
 *
 * Invariant: a window never reaches outside its plane and is never empty; a plane is one thread's,
 * so overlapping windows add up in one order.
 */
#include "host/nn/real.h"

#include <inttypes.h>

#define Index int64_t
#include "nn/places.inc.h"

static int64_t volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }
/* The windows of one dimension after the other. */
static void lay(const struct dpt__slide *s, int adaptive, int count_pad, struct range *r) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < s->out[d]; o++) *r++ = window_of(s, d, o, adaptive, count_pad);
}

#define DPT_ROWS "host/nn/pool.inc.c"
#include "host/each_real.h"

static struct range *ranges_of(dpt__context *context, const struct dpt__slide *s, int64_t planes) {
  int64_t n = (s->out[0] + s->out[1] + s->out[2]) * planes;
  return dpt__scratch(context, (size_t)n * sizeof(struct range));
}

int dpt__host_maxpool(dpt__context *context, const void *p) {
  const struct dpt__maxpool_args *a = p;
  struct range *ranges = ranges_of(context, &a->slide, a->samples ? a->planes : 1);
  if (!ranges) return 1;
  if (!a->samples)
    lay(&a->slide, a->adaptive, 0, ranges);
  else
    (a->type == DPT_F32 ? fractional_f32 : fractional_f64)(a, ranges);
  void *best = NULL;
  if (!a->samples && !a->adaptive && volume(a->slide.in) < INT32_MAX) {
    best = dpt__scratch(context, (size_t)(a->slide.out[2] * context->threads) * sizeof(int64_t));
    if (!best) return 1;
  }
  if (a->type == DPT_F32)
    maxpool_f32(context, a, ranges, best);
  else
    maxpool_f64(context, a, ranges, best);
  return 0;
}

/* bad: of the first bad index, or a number behind the last. */
static int told(const dpt__context *context, const int64_t *idx, int64_t bad, int64_t n,
                int64_t large) {
  if (bad >= n) return 0;
  return dpt__fail("argument 'indices' has %" PRId64 " at element %" PRId64
                   ", wanted 1 to %" PRId64,
                   idx[bad], bad + 1, large);
}

int dpt__host_plane_scatter(dpt__context *context, const void *p) {
  const struct dpt__plane_scatter_args *a = p;
  int64_t bad = (a->type == DPT_F32 ? scatter_f32 : scatter_f64)(context, a);
  return told(context, a->idx, bad, a->planes * a->small, a->large);
}

int dpt__host_plane_gather(dpt__context *context, const void *p) {
  const struct dpt__plane_gather_args *a = p;
  int64_t bad = (a->type == DPT_F32 ? gather_f32 : gather_f64)(context, a);
  return told(context, a->idx, bad, a->planes * a->small, a->large);
}

int dpt__host_avgpool(dpt__context *context, const void *p) {
  const struct dpt__avgpool_args *a = p;
  struct range *ranges = ranges_of(context, &a->slide, 1);
  if (!ranges) return 1;
  lay(&a->slide, a->adaptive, a->count_pad, ranges);
  (a->type == DPT_F32 ? avgpool_f32 : avgpool_f64)(context, a, ranges);
  return 0;
}
