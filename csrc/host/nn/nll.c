/* nll.c: losses that are told a class: ClassNLL, MultiMargin, MultiLabelMargin.
 *
 * Invariant: one thread in the order of rows (the work is small), sums in double; a class out of
 * range is an error that names it.
 */
#include "host/nn/real.h"

static int bad_class(int64_t class, int64_t i, int64_t C) {
  return dpt__fail("argument 'target' has class %lld at element %lld, wanted 1 to %lld",
                   (long long)class, (long long)i + 1, (long long)C);
}

/* What one class of one row counts; without rows there is nothing to share. */
static double share_of(int average, int64_t N, int64_t C) {
  return 1.0 / (double)(average && N ? N * C : C);
}

#define DPT_ROWS "host/nn/nll.inc.c"
#include "host/each_real.h"

int dpt__host_nll(dpt__context *context, const void *p) {
  const struct dpt__nll_args *a = p;
  return (a->type == DPT_F32 ? nll_f32 : nll_f64)(a);
}

int dpt__host_nll_backward(dpt__context *context, const void *p) {
  const struct dpt__nll_backward_args *a = p;
  return (a->type == DPT_F32 ? nll_backward_f32 : nll_backward_f64)(a);
}

int dpt__host_multimargin(dpt__context *context, const void *p) {
  const struct dpt__multimargin_args *a = p;
  return (a->type == DPT_F32 ? multimargin_f32 : multimargin_f64)(a);
}

int dpt__host_multilabel(dpt__context *context, const void *p) {
  const struct dpt__multilabel_args *a = p;
  uint8_t *wanted = dpt__scratch(context, (size_t)a->C + 1);
  if (!wanted) return 1;
  return (a->type == DPT_F32 ? multilabel_f32 : multilabel_f64)(a, wanted);
}
