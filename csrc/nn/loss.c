/* loss.c: losses: shapes and checks, then the backend's kernels.
 *
 * Invariant: the value is stored in a tensor of one element and nothing waits for it. Kernels check
 * the values of targets (on the host, immediately).
 */
#include "nn/call.h"
#include "nn/kernels.h"

#include <string.h>

static const char *const names[] = {
#define DPT_LOSS(name, target, value, gradient) #name,
#include "nn/loss.def"
#undef DPT_LOSS
};
static const char has_target[] = {
#define DPT_LOSS(name, target, value, gradient) target,
#include "nn/loss.def"
#undef DPT_LOSS
};
_Static_assert(sizeof names / sizeof *names == DPT__NLOSS, "one name for each loss");

int dpt_loss(const char *name) {
  for (int i = 0; i < DPT__NLOSS; i++)
    if (!strcmp(name, names[i])) return i;
  return -1;
}

/* Adds the operands of a pointwise loss, each with its field. Returns in and its element count. */
static const dpt_tensor *loss_operands(dpt__call *call, int loss, const dpt_tensor *in,
                                       void *in_field, const dpt_tensor *target, void *target_field,
                                       const dpt_tensor *weight, void *weight_field, int64_t *n) {
  int known = loss >= 0 && loss < DPT__NLOSS;
  dpt__call_begin(call, DPT__KERNEL_loss, known ? names[loss] : "loss", "input", in);
  if (!call->status && !known) call->status = dpt__fail("loss: there is no loss %d", loss);
  const dpt_tensor *x = dpt__call_in(call, "input", in, in_field);
  if (call->status) return NULL;
  if (has_target[loss])
    dpt__call_check_count(call, "target", dpt__call_in(call, "target", target, target_field), x);
  dpt__call_check_count(call, "weight", dpt__call_in_optional(call, "weight", weight, weight_field),
                        x);
  *n = dpt__count(x);
  return x;
}

static const int64_t one = 1;

int dpt_loss_forward(int loss, dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, int average, double p) {
  dpt__call call;
  struct dpt__loss_args args = {.loss = loss, .average = average, .p = p};
  loss_operands(&call, loss, in, &args.in, target, &args.target, weight, &args.weight, &args.n);
  dpt__call_out(&call, "output", out, 1, &one, &args.out);
  return dpt__call_run(&call, 1, loss, &args);
}

int dpt_loss_backward(int loss, dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                      const dpt_tensor *weight, int average, double p) {
  dpt__call call;
  struct dpt__loss_args args = {.loss = loss, .average = average, .p = p};
  const dpt_tensor *x =
      loss_operands(&call, loss, in, &args.in, target, &args.target, weight, &args.weight, &args.n);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), loss, &args);
}

/* Checks in C, NxC or NxCxS, with a class for each of N*S positions. */
static void loss_classes(dpt__call *call, const dpt_tensor *in, const dpt_tensor *target,
                         const dpt_tensor *weight, int maxdim, int64_t *N, int64_t *C, int64_t *S) {
  dpt__call_dims(call, "input", in, 1, maxdim, maxdim > 2 ? "C, NxC or NxCxHxW" : "C or NxC");
  dpt__call_planes(call, in, !call->status && in->ndim_ > 1, N, C, S);
  dpt__call_count(call, "target", target, *N * *S, "a class for each row of input");
  dpt__call_count(call, "weight", weight, *C, "one for each class");
}

int dpt_nll_forward(dpt_tensor *out, dpt_tensor *total, const dpt_tensor *in,
                    const dpt_tensor *target, const dpt_tensor *weight, int average,
                    int64_t ignore) {
  dpt__call call;
  struct dpt__nll_args args = {.average = average, .ignore = ignore};
  dpt__call_begin(&call, DPT__KERNEL_nll, "ClassNLLCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target, &args.target_type);
  const dpt_tensor *w = dpt__call_in_optional(&call, "weight", weight, &args.weight);
  loss_classes(&call, x, t, w, DPT_MAXDIM, &args.N, &args.C, &args.S);
  dpt__call_out(&call, "output", out, 1, &one, &args.out);
  dpt__call_out(&call, "total", total, 1, &one, &args.total);
  return dpt__call_run(&call, 1, nll, &args);
}

int dpt_nll_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, const dpt_tensor *total, int average,
                     int64_t ignore) {
  dpt__call call;
  struct dpt__nll_args args = {.average = average, .ignore = ignore};
  dpt__call_begin(&call, DPT__KERNEL_nll, "ClassNLLCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target, &args.target_type);
  const dpt_tensor *w = dpt__call_in_optional(&call, "weight", weight, &args.weight);
  const dpt_tensor *sum = dpt__call_in(&call, "total", total, &args.total);
  loss_classes(&call, x, t, w, DPT_MAXDIM, &args.N, &args.C, &args.S);
  dpt__call_count(&call, "total", sum, 1, "as forward left it");
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), nll, &args);
}

static int loss_multimargin(dpt_tensor *r, int backward, const dpt_tensor *in,
                            const dpt_tensor *target, const dpt_tensor *weight, int average, int p,
                            double margin) {
  dpt__call call;
  int64_t S;
  struct dpt__multimargin_args args = {.average = average, .p = p, .margin = margin};
  dpt__call_begin(&call, DPT__KERNEL_multimargin, "MultiMarginCriterion", "input", in);
  if (!call.status && p != 1 && p != 2)
    call.status = dpt__fail("MultiMarginCriterion: argument 'p' is %d, wanted 1 or 2", p);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target, &args.target_type);
  const dpt_tensor *w = dpt__call_in_optional(&call, "weight", weight, &args.weight);
  loss_classes(&call, x, t, w, 2, &args.N, &args.C, &S);
  dpt_tensor *y = backward ? dpt__call_out_like(&call, "gradInput", r, x, &args.gin)
                           : dpt__call_out(&call, "output", r, 1, &one, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), multimargin, &args);
}

int dpt_multimargin_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                            const dpt_tensor *weight, int average, int p, double margin) {
  return loss_multimargin(out, 0, in, target, weight, average, p, margin);
}

int dpt_multimargin_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                             const dpt_tensor *weight, int average, int p, double margin) {
  return loss_multimargin(gin, 1, in, target, weight, average, p, margin);
}

static int loss_multilabel(dpt_tensor *r, int backward, const dpt_tensor *in,
                           const dpt_tensor *target, int average) {
  dpt__call call;
  int64_t S;
  struct dpt__multilabel_args args = {.average = average};
  dpt__call_begin(&call, DPT__KERNEL_multilabel, "MultiLabelMarginCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target, &args.target_type);
  dpt__call_dims(&call, "input", x, 1, 2, "C or NxC");
  dpt__call_planes(&call, x, !call.status && x->ndim_ == 2, &args.N, &args.C, &S);
  dpt__call_check_count(&call, "target", t, x);
  dpt_tensor *y = backward ? dpt__call_out_like(&call, "gradInput", r, x, &args.gin)
                           : dpt__call_out(&call, "output", r, 1, &one, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), multilabel, &args);
}

int dpt_multilabel_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                           int average) {
  return loss_multilabel(out, 0, in, target, average);
}

int dpt_multilabel_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                            int average) {
  return loss_multilabel(gin, 1, in, target, average);
}
