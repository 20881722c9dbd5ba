/* softmax.c: SoftMax and LogSoftMax by vectors of exponentials.
 *
 * Invariant: sums are in double and in the order of classes, a row or place is one thread's; the
 * largest class is taken off first, so nothing overflows.
 */
#include "host/nn/real.h"
#include "host/rows.h"

enum { BLOCK = 64 }; /* places of an image that are computed together */

#define DPT_ROWS "host/nn/softmax.inc.c"
#include "host/each_real.h"

int dpt__host_softmax(dpt__context *context, const void *p) {
  const struct dpt__softmax_args *a = p;
  int threads = dpt__threads(context, a->N * a->C * a->S * 4);
  int64_t each = a->C * (a->S == 1 ? 1 : BLOCK);
  void *exps = dpt__scratch(context, (size_t)(each * threads) * dpt__width(a->type));
  if (!exps) return 1;
  if (a->type == DPT_F32)
    softmax_f32(a, threads, exps, each);
  else
    softmax_f64(a, threads, exps, each);
  return 0;
}

int dpt__host_softmax_backward(dpt__context *context, const void *p) {
  const struct dpt__softmax_backward_args *a = p;
  int threads = dpt__threads(context, a->N * a->C * a->S * 4);
  int64_t each = a->S == 1 ? a->C : 0;
  void *exps = dpt__scratch(context, (size_t)(each * threads + 1) * dpt__width(a->type));
  if (!exps) return 1;
  if (a->type == DPT_F32)
    softmax_backward_f32(a, threads, exps, each);
  else
    softmax_backward_f64(a, threads, exps, each);
  return 0;
}
