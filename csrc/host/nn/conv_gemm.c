/* conv_gemm.c: convolution by columns of patches (im2col) and one product per image.
 *
 * Invariant: FORWARD and DATA compute an image on one thread, so its bits do not depend on the
 * other images or on the number of threads; WEIGHT sums over images in order.
 */
#include "host/gemm.h"
#include "host/nn/conv.h"
#include "nn/products.h"

/* Returns the row (of in[0] * in[1]) that kernel element k of output o reads; -1: padding. */
static inline int64_t conv_row_of(const struct dpt__slide *s, const int64_t *k, const int64_t *o) {
  int64_t t = o[0] * s->stride[0] + k[0] * s->dilation[0] - s->pad[0];
  int64_t y = o[1] * s->stride[1] + k[1] * s->dilation[1] - s->pad[1];
  return t < 0 || t >= s->in[0] || y < 0 || y >= s->in[1] ? -1 : t * s->in[1] + y;
}

#define DPT_ROWS "host/nn/conv_gemm.inc.c"
#include "host/each_real.h"

static int conv_image(dpt__context *context, const struct dpt__convolution_args *a, int64_t n,
                      void *col) {
  return a->type == DPT_F32 ? image_f32(context, a, n, col) : image_f64(context, a, n, col);
}

int dpt__conv_gemm(dpt__context *context, const struct dpt__convolution_args *a) {
  int weight = a->pass == DPT__PASS_WEIGHT, threads = weight ? 1 : context->threads, failed = 0;
  if (threads > a->N) threads = (int)a->N;
  int64_t n = a->I / a->groups * dpt__volume(a->slide.kernel) * dpt__volume(a->slide.out);
  size_t each = ((size_t)n * dpt__dtype_size(a->type) + 63) / 64 * 64;
  char *col = dpt__scratch(context, each * (size_t)threads);
  if (context->measures) return 0;
  if (weight) {
    for (int64_t i = 0; i < a->N; i++) DPT__TRY(conv_image(context, a, i, col));
    return 0;
  }
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
  for (int64_t i = 0; i < a->N; i++) {
    dpt__context alone = *context;
    alone.threads = 1;
    failed |= conv_image(&alone, a, i, col + each * (size_t)dpt__thread_number());
  }
  return failed ? dpt__fail("a matrix product failed") : 0;
}
