/* convolution.c: chooses the algorithm of a convolution, and adds DATA's bias.
 *
 * Invariant: the choice depends on sizes alone, never on threads, and in deterministic mode not on
 * the batch (conv_dnnl.c chooses further). Doubles use columns and products. Floats use Winograd's
 * algorithm for 3 x 3 kernels where it pays, otherwise mostly oneDNN (gcc's ThreadSanitizer cannot
 * see into oneDNN's OpenMP, so builds without OpenMP use products instead). Images of reduced types
 * are converted strip by strip, the parameters once; on CPUs that multiply bfloat16, oneDNN takes
 * images and parameters as they are.
 */
#include "base/cpu.h"
#include "host/nn/conv.h"
#include "host/nn/strips.h"
#include "host/rows.h"

enum { FEW_PLANES = 4 };

/* Returns true if oneDNN computes the convolution. It pads the planes that DATA writes to 16: for
 * few planes products are faster. Of bfloat16 it computes what Winograd's algorithm does not take,
 * which is faster; it would round before DATA's bias is added. */
static int convolution_takes_dnnl(const struct dpt__convolution_args *a) {
#ifdef _OPENMP
  struct dpt__convolution_args floats = *a;
  floats.type = DPT_F32;
  int bf16 = a->type == DPT_BF16 && dpt__cpu_has_bf16() && !dpt__conv_takes_winograd(&floats) &&
             !(a->pass == DPT__PASS_DATA && a->bias);
  return (a->type == DPT_F32 || bf16) &&
         !(a->pass == DPT__PASS_DATA && a->I / a->groups <= FEW_PLANES);
#else
  return 0;
#endif
}

static int convolution_real(dpt__context *context, const struct dpt__convolution_args *a) {
  /* Sums of pixels can overflow in Winograd's transforms, and an Inf becomes NaN there in a whole
   * tile. A direct algorithm then shows which pixels are affected. */
  int overflowed = 1;
  if (dpt__conv_takes_winograd(a)) {
    size_t used = context->used;
    DPT__TRY(dpt__conv_winograd(context, a, &overflowed));
    context->used = used;
  }
  if (overflowed || context->measures)
    DPT__TRY(convolution_takes_dnnl(a) ? dpt__conv_dnnl(context, a) : dpt__conv_gemm(context, a));
  if (a->pass != DPT__PASS_DATA || !a->bias || context->measures) return 0;
  int64_t S = dpt__volume(a->slide.in), width = (int64_t)dpt__dtype_size(a->type);
  dpt__row_fn *add = dpt__rows_pick()->map[DPT__MAP_add][a->type];
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->I * S)) schedule(static)
  for (int64_t i = 0; i < a->N * a->I; i++) {
    char *plane = (char *)a->in + i * S * width;
    const char *bias = (const char *)a->bias + i % a->I * width;
    add(S, plane, plane, NULL, NULL, dpt__get_element(a->type, bias), 0);
  }
  return 0;
}

int dpt__host_convolution(dpt__context *context, const void *p) {
  const struct dpt__convolution_args *a = p;
  if (!dpt__is_reduced(a->type)) return convolution_real(context, a);
  enum dpt__strip_use in = a->pass == DPT__PASS_DATA ? DPT__STRIP_OUT : DPT__STRIP_IN;
  enum dpt__strip_use out = a->pass == DPT__PASS_FORWARD ? DPT__STRIP_OUT : DPT__STRIP_IN;
  const dpt__strip_operand operands[] = {
      DPT__STRIP(a, in, a->type, in, 1, a->I * dpt__volume(a->slide.in)),
      DPT__STRIP(a, out, a->type, out, 1, a->O * dpt__volume(a->slide.out))};
  /* The parameters, or their gradients, are converted once. */
  int gradient = a->pass == DPT__PASS_WEIGHT, narrow = !gradient || a->param_type == a->type;
  int64_t weights = a->O * (a->I / a->groups) * dpt__volume(a->slide.kernel);
  int64_t biases = !a->bias ? 0 : a->pass == DPT__PASS_DATA ? a->I : a->O;
  int dnnl = convolution_takes_dnnl(a);
  if (dnnl && !gradient) return dpt__conv_dnnl(context, a);
  float *w = narrow ? dpt__scratch(context, (size_t)weights * sizeof *w) : a->weight;
  float *b = biases ? dpt__scratch(context, (size_t)biases * sizeof *b) : NULL;
  dpt__matrix weight = {a->type, a->weight, 0, 1}, wide = {DPT_F32, w, 0, 1};
  dpt__matrix bias = {a->type, (void *)a->bias, 0, 1}, wide_bias = {DPT_F32, b, 0, 1};
  struct dpt__convolution_args wider = *a;
  wider.weight = w, wider.bias = b;
  if (narrow && !context->measures) dpt__host_copy(context, 1, weights, wide, weight);
  if (biases && !context->measures) dpt__host_copy(context, 1, biases, wide_bias, bias);
  DPT__TRY(dnnl ? dpt__conv_dnnl(context, &wider)
                : dpt__host_in_strips(context, &DPT__STRIPS(convolution, &wider, N, operands, 1)));
  if (gradient && narrow && !context->measures) dpt__host_copy(context, 1, weights, weight, wide);
  return 0;
}
