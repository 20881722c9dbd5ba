/* loss.c: losses: shapes and checks, then the backend's kernels.
 *
 * Invariant: the value goes into a tensor of one element and nothing waits for it; values of
 * targets are checked by the kernels (on the host that is at once).
 */
#include "nn/loss.h"
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

/* The operands of a pointwise loss, each with its field; returns in. */
static const dpt_tensor *operands(dpt__call *call, int loss, const dpt_tensor *in, void *in_field,
                                  const dpt_tensor *target, void *target_field,
                                  const dpt_tensor *weight, void *weight_field) {
  int known = loss >= 0 && loss < DPT__NLOSS;
  dpt__call_begin(call, known ? names[loss] : "loss", "input", in);
  if (!call->status && !known) call->status = dpt__fail("loss: there is no loss %d", loss);
  const dpt_tensor *x = dpt__call_in(call, "input", in, in_field);
  if (call->status) return NULL;
  const dpt_tensor *y =
      has_target[loss] ? dpt__call_in(call, "target", target, target_field) : NULL;
  const dpt_tensor *v = dpt__call_in_maybe(call, "weight", weight, weight_field);
  if (call->status) return NULL;
  dpt__call_count(call, "target", y, dpt__count(x), "one for each element of input");
  dpt__call_count(call, "weight", v, dpt__count(x), "one for each element of input");
  return x;
}

static const int64_t one = 1;

int dpt_loss_forward(int loss, dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, int average, double p) {
  dpt__call call;
  struct dpt__loss_args args = {.loss = loss, .average = average, .p = p};
  const dpt_tensor *x =
      operands(&call, loss, in, &args.in, target, &args.target, weight, &args.weight);
  if (call.status) return dpt__call_end(&call);
  dpt__call_out(&call, "output", out, 1, &one, &args.out);
  args.type = call.type;
  args.n = dpt__count(x);
  return dpt__call_run(&call, 1, loss, &args);
}

int dpt_loss_backward(int loss, dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                      const dpt_tensor *weight, int average, double p) {
  dpt__call call;
  struct dpt__loss_backward_args args = {.loss = loss, .average = average, .p = p};
  const dpt_tensor *x =
      operands(&call, loss, in, &args.in, target, &args.target, weight, &args.weight);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, x->ndim_, x->size_, &args.gin);
  args.type = call.type;
  args.n = dpt__count(x);
  return dpt__call_run(&call, dpt__call_some(gx), loss_backward, &args);
}

/* in C, NxC or NxCxS with a class for each of N*S places. */
static void classes(dpt__call *call, const dpt_tensor *in, const dpt_tensor *target,
                    const dpt_tensor *weight, int maxdim, int64_t *N, int64_t *C, int64_t *S) {
  char text[DPT__TEXT];
  if (call->status) return;
  if (in->ndim_ < 1 || in->ndim_ > maxdim) {
    call->status = dpt__fail("%s: argument 'input' is a %s, wanted C, NxC%s", call->fn,
                             dpt__describe(text, in), maxdim > 2 ? " or NxCxHxW" : "");
    return;
  }
  *N = in->ndim_ > 1 ? in->size_[0] : 1;
  *C = in->size_[in->ndim_ > 1];
  *S = 1;
  for (int d = 2; d < in->ndim_; d++) *S *= in->size_[d];
  dpt__call_count(call, "target", target, *N * *S, "a class for each row of input");
  dpt__call_count(call, "weight", weight, *C, "one for each class");
}

int dpt_nll_forward(dpt_tensor *out, dpt_tensor *total, const dpt_tensor *in,
                    const dpt_tensor *target, const dpt_tensor *weight, int average,
                    int64_t ignore) {
  dpt__call call;
  struct dpt__nll_args args = {.average = average, .ignore = ignore};
  dpt__call_begin(&call, "ClassNLLCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target);
  const dpt_tensor *w = dpt__call_in_maybe(&call, "weight", weight, &args.weight);
  classes(&call, x, t, w, DPT_MAXDIM, &args.N, &args.C, &args.S);
  if (call.status) return dpt__call_end(&call);
  dpt__call_out(&call, "output", out, 1, &one, &args.out);
  dpt__call_out(&call, "total", total, 1, &one, &args.total);
  args.type = call.type;
  args.target_type = dpt__type(t);
  return dpt__call_run(&call, 1, nll, &args);
}

int dpt_nll_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, const dpt_tensor *total, int average,
                     int64_t ignore) {
  dpt__call call;
  struct dpt__nll_backward_args args = {.average = average, .ignore = ignore};
  dpt__call_begin(&call, "ClassNLLCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target);
  const dpt_tensor *w = dpt__call_in_maybe(&call, "weight", weight, &args.weight);
  const dpt_tensor *sum = dpt__call_in(&call, "total", total, &args.total);
  classes(&call, x, t, w, DPT_MAXDIM, &args.N, &args.C, &args.S);
  dpt__call_count(&call, "total", sum, 1, "as forward left it");
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, x->ndim_, x->size_, &args.gin);
  args.type = call.type;
  args.target_type = dpt__type(t);
  return dpt__call_run(&call, dpt__call_some(gx), nll_backward, &args);
}

static int multimargin(dpt_tensor *r, int backward, const dpt_tensor *in, const dpt_tensor *target,
                       const dpt_tensor *weight, int average, int p, double margin) {
  dpt__call call;
  int64_t S;
  struct dpt__multimargin_args args = {.average = average, .p = p, .margin = margin};
  dpt__call_begin(&call, "MultiMarginCriterion", "input", in);
  if (!call.status && p != 1 && p != 2)
    call.status = dpt__fail("MultiMarginCriterion: argument 'p' is %d, wanted 1 or 2", p);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target);
  const dpt_tensor *w = dpt__call_in_maybe(&call, "weight", weight, &args.weight);
  classes(&call, x, t, w, 2, &args.N, &args.C, &S);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *y = backward ? dpt__call_out(&call, "gradInput", r, x->ndim_, x->size_, &args.gin)
                           : dpt__call_out(&call, "output", r, 1, &one, &args.out);
  args.type = call.type;
  args.target_type = dpt__type(t);
  return dpt__call_run(&call, dpt__call_some(y), multimargin, &args);
}

int dpt_multimargin_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                            const dpt_tensor *weight, int average, int p, double margin) {
  return multimargin(out, 0, in, target, weight, average, p, margin);
}

int dpt_multimargin_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                             const dpt_tensor *weight, int average, int p, double margin) {
  return multimargin(gin, 1, in, target, weight, average, p, margin);
}

static int multilabel(dpt_tensor *r, int backward, const dpt_tensor *in, const dpt_tensor *target,
                      int average) {
  dpt__call call;
  char text[DPT__TEXT];
  struct dpt__multilabel_args args = {.average = average};
  dpt__call_begin(&call, "MultiLabelMarginCriterion", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *t = dpt__call_index(&call, "target", target, &args.target);
  if (!call.status && x->ndim_ != 1 && x->ndim_ != 2)
    call.status = dpt__fail("MultiLabelMarginCriterion: argument 'input' is a %s, wanted C or NxC",
                            dpt__describe(text, x));
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "target", t, dpt__count(x), "one for each element of input");
  dpt_tensor *y = backward ? dpt__call_out(&call, "gradInput", r, x->ndim_, x->size_, &args.gin)
                           : dpt__call_out(&call, "output", r, 1, &one, &args.out);
  args.type = call.type;
  args.target_type = dpt__type(t);
  args.N = x->ndim_ == 2 ? x->size_[0] : 1;
  args.C = x->size_[x->ndim_ - 1];
  return dpt__call_run(&call, dpt__call_some(y), multilabel, &args);
}

int dpt_multilabel_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                           int average) {
  return multilabel(out, 0, in, target, average);
}

int dpt_multilabel_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                            int average) {
  return multilabel(gin, 1, in, target, average);
}
