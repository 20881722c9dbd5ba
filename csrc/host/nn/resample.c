/* resample.c: upsampling and padding by tables of where each element of out comes from.
 *
 * Invariant: a plane is one thread's, so gradients that meet add up in one order.
 */
#include "host/nn/real.h"

#define Index int64_t
#include "nn/places.inc.h"

static int64_t volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

static void lay_taps(const struct dpt__upsample_args *a, struct tap *t) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < a->outsize[d]; o++)
      *t++ = tap_of(a->insize[d], a->outsize[d], o, a->linear);
}

static void lay_pads(const struct dpt__pad_args *a, int64_t *from) {
  for (int d = 0; d < 3; d++)
    for (int64_t o = 0; o < a->outsize[d]; o++)
      *from++ = padded(a->mode, a->insize[d], o - a->below[d]);
}

#define DPT_ROWS "host/nn/resample.inc.c"
#include "host/each_real.h"

int dpt__host_upsample(dpt__context *context, const void *p) {
  const struct dpt__upsample_args *a = p;
  int64_t n = a->outsize[0] + a->outsize[1] + a->outsize[2];
  int64_t large = volume(a->outsize), small = volume(a->insize);
  struct tap *taps = dpt__scratch(context, (size_t)n * sizeof *taps);
  if (!taps) return 1;
  lay_taps(a, taps);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t i = 0; i < a->planes; i++)
    if (a->type == DPT_F32)
      upsample_f32(a, taps, (float *)a->in + i * small, (float *)a->out + i * large);
    else
      upsample_f64(a, taps, (double *)a->in + i * small, (double *)a->out + i * large);
  return 0;
}

int dpt__host_pad(dpt__context *context, const void *p) {
  const struct dpt__pad_args *a = p;
  int64_t n = a->outsize[0] + a->outsize[1] + a->outsize[2];
  int64_t large = volume(a->outsize), small = volume(a->insize);
  int64_t *from = dpt__scratch(context, (size_t)n * sizeof *from);
  if (!from) return 1;
  lay_pads(a, from);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t i = 0; i < a->planes; i++)
    if (a->type == DPT_F32)
      pad_f32(a, from, (float *)a->in + i * small, (float *)a->out + i * large);
    else
      pad_f64(a, from, (double *)a->in + i * small, (double *)a->out + i * large);
  return 0;
}
