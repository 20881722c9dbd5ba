/* planes.c: PReLU, and local response normalization across planes.
 *
 * Invariant: sums over images and places are one thread's and in one order.
 */
#include "host/nn/real.h"

enum { BLOCK = 64 }; /* places that LRN works on together */

#define DPT_ROWS "host/nn/planes.inc.c"
#include "host/each_real.h"

int dpt__host_prelu(dpt__context *context, const void *p) {
  const struct dpt__prelu_args *a = p;
  (a->type == DPT_F32 ? prelu_f32 : prelu_f64)(context, a);
  return 0;
}

int dpt__host_prelu_backward(dpt__context *context, const void *p) {
  const struct dpt__prelu_backward_args *a = p;
  if (a->gin) {
    (a->type == DPT_F32 ? prelu_data_f32 : prelu_data_f64)(context, a);
    return 0;
  }
  double *sum = dpt__scratch(context, (size_t)a->C * sizeof *sum);
  if (!sum) return 1;
  (a->type == DPT_F32 ? prelu_weight_f32 : prelu_weight_f64)(context, a, sum);
  return 0;
}

int dpt__host_lrn(dpt__context *context, const void *p) {
  const struct dpt__lrn_args *a = p;
  (a->type == DPT_F32 ? lrn_f32 : lrn_f64)(context, a);
  return 0;
}

int dpt__host_lrn_backward(dpt__context *context, const void *p) {
  const struct dpt__lrn_backward_args *a = p;
  int threads = dpt__threads(context, a->N * a->C * a->S);
  void *ratios = dpt__scratch(context, (size_t)(threads * a->C * BLOCK) * dpt__width(a->type));
  if (!ratios) return 1;
  if (a->type == DPT_F32)
    lrn_backward_f32(a, threads, ratios);
  else
    lrn_backward_f64(a, threads, ratios);
  return 0;
}
