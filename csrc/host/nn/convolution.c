/* convolution.c: chooses the algorithm of a convolution, and adds DATA's bias.
 *
 * Invariant: the choice depends on sizes alone, never on threads, and in deterministic mode not on
 * the batch (conv_dnnl.c chooses further). Doubles use columns and products. Floats use Winograd's
 * algorithm for 3 x 3 kernels where it pays, otherwise mostly oneDNN (gcc's ThreadSanitizer cannot
 * see into oneDNN's OpenMP, so builds without OpenMP use products instead).
 */
#include "host/nn/conv.h"

enum { FEW_PLANES = 4 };

static void add_bias_f32(float *plane, int64_t n, float bias) {
  for (int64_t i = 0; i < n; i++) plane[i] += bias;
}

static void add_bias_f64(double *plane, int64_t n, double bias) {
  for (int64_t i = 0; i < n; i++) plane[i] += bias;
}

int dpt__host_convolution(dpt__context *context, const void *p) {
  const struct dpt__convolution_args *a = p;
#ifdef _OPENMP
  /* oneDNN pads the planes that DATA writes to 16: for few planes products are faster. */
  int dnnl = a->type == DPT_F32 && !(a->pass == DPT__PASS_DATA && a->I / a->groups <= FEW_PLANES);
#else
  int dnnl = 0;
#endif
  /* Sums of pixels can overflow in Winograd's transforms, and an Inf becomes NaN there in a whole
   * tile. A direct algorithm then shows which pixels are affected. */
  int overflowed = 1;
  if (dpt__conv_takes_winograd(a)) {
    size_t used = context->used;
    DPT__TRY(dpt__conv_winograd(context, a, &overflowed));
    context->used = used;
  }
  if (overflowed || context->measures)
    DPT__TRY(dnnl ? dpt__conv_dnnl(context, a) : dpt__conv_gemm(context, a));
  if (a->pass != DPT__PASS_DATA || !a->bias || context->measures) return 0;
  int64_t S = dpt__volume(a->slide.in);
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->I * S)) schedule(static)
  for (int64_t i = 0; i < a->N * a->I; i++)
    if (a->type == DPT_F32)
      add_bias_f32((float *)a->in + i * S, S, ((const float *)a->bias)[i % a->I]);
    else
      add_bias_f64((double *)a->in + i * S, S, ((const double *)a->bias)[i % a->I]);
  return 0;
}
