/* planes.c: layers that treat planes alike: PReLU, and SpatialCrossMapLRN across planes. */
#include "nn/call.h"
#include "nn/kernels.h"

/* (N, C, S) where dimension `planes` (0 or 1) is C. */
static void split(dpt__call *call, const dpt_tensor *t, int planes, int64_t *N, int64_t *C,
                  int64_t *S) {
  char text[DPT__TEXT];
  *N = *C = *S = 1;
  if (call->status) return;
  if (t->ndim_ <= planes) {
    call->status = dpt__fail("%s: argument 'input' is a %s, wanted C or NxC and more", call->fn,
                             dpt__describe(text, t));
    return;
  }
  if (planes) *N = t->size_[0];
  *C = t->size_[planes];
  for (int d = planes + 1; d < t->ndim_; d++) *S *= t->size_[d];
}

/* PReLU's dimension of planes: C, NxC and more, or CxHxW where NxCxL does not fit the slopes. */
static int prelu_planes(const dpt_tensor *in, const dpt_tensor *slopes) {
  if (!in || !slopes || in->ndim_ != 3) return in && in->ndim_ > 1;
  return in->size_[1] == dpt__count(slopes) || in->size_[0] != dpt__count(slopes);
}

static void check_slopes(dpt__call *call, const char *name, const dpt_tensor *weight, int64_t C) {
  if (!call->status && dpt__count(weight) != 1)
    dpt__call_count(call, name, weight, C, "one or one for each plane");
}

int dpt_prelu_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__prelu_args args = {0};
  dpt__call_begin(&call, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  split(&call, x, prelu_planes(in, w), &args.N, &args.C, &args.S);
  check_slopes(&call, "weight", w, args.C);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, x->size_, &args.out);
  args.type = call.type;
  args.shared = dpt__count(w) == 1;
  return dpt__call_run(&call, dpt__call_some(y), prelu, &args);
}

int dpt_prelu_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                            const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__prelu_backward_args args = {0};
  dpt__call_begin(&call, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  split(&call, x, prelu_planes(in, w), &args.N, &args.C, &args.S);
  check_slopes(&call, "weight", w, args.C);
  if (!call.status) dpt__call_count(&call, "gradOutput", gy, dpt__count(x), "as in");
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, x->ndim_, x->size_, &args.gin);
  args.type = call.type;
  args.shared = dpt__count(w) == 1;
  return dpt__call_run(&call, dpt__call_some(gx), prelu_backward, &args);
}

int dpt_prelu_backward_weight(dpt_tensor *gw, const dpt_tensor *gout, const dpt_tensor *in,
                              double scale) {
  dpt__call call;
  struct dpt__prelu_backward_args args = {.scale = scale};
  dpt__call_begin(&call, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  dpt_tensor *w = dpt__call_update(&call, "gw", gw, &args.gw);
  split(&call, x, prelu_planes(in, w), &args.N, &args.C, &args.S);
  check_slopes(&call, "gw", w, args.C);
  if (!call.status) dpt__call_count(&call, "gradOutput", gy, dpt__count(x), "as in");
  if (call.status) return dpt__call_end(&call);
  args.type = call.type;
  args.shared = dpt__count(w) == 1;
  return dpt__call_run(&call, dpt__call_some(x), prelu_backward, &args);
}

static void check_image(dpt__call *call, const dpt_tensor *in, int64_t size) {
  char text[DPT__TEXT];
  if (!call->status && in->ndim_ != 3 && in->ndim_ != 4)
    call->status = dpt__fail("%s: argument 'input' is a %s, wanted CxHxW or NxCxHxW", call->fn,
                             dpt__describe(text, in));
  if (!call->status && (size < 1 || size % 2 == 0))
    call->status = dpt__fail("%s: argument 'size' is %lld, wanted an odd number of planes",
                             call->fn, (long long)size);
}

int dpt_lrn_forward(dpt_tensor *out, dpt_tensor *denom, const dpt_tensor *in, int64_t size,
                    double alpha, double beta, double k) {
  dpt__call call;
  struct dpt__lrn_args args = {.size = size, .alpha = alpha, .beta = beta, .k = k};
  dpt__call_begin(&call, "SpatialCrossMapLRN", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  check_image(&call, x, size);
  split(&call, x, in && in->ndim_ == 4, &args.N, &args.C, &args.S);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, x->size_, &args.out);
  dpt__call_out(&call, "denom", denom, x->ndim_, x->size_, &args.denom);
  args.type = call.type;
  return dpt__call_run(&call, dpt__call_some(y), lrn, &args);
}

int dpt_lrn_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                     const dpt_tensor *out, const dpt_tensor *denom, int64_t size, double alpha,
                     double beta) {
  dpt__call call;
  struct dpt__lrn_backward_args args = {.size = size, .alpha = alpha, .beta = beta};
  dpt__call_begin(&call, "SpatialCrossMapLRN", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  const dpt_tensor *y = dpt__call_in(&call, "output", out, &args.out);
  const dpt_tensor *sums = dpt__call_in(&call, "denom", denom, &args.denom);
  check_image(&call, x, size);
  split(&call, x, in && in->ndim_ == 4, &args.N, &args.C, &args.S);
  if (!call.status) {
    dpt__call_count(&call, "gradOutput", gy, dpt__count(x), "as in");
    dpt__call_count(&call, "output", y, dpt__count(x), "as in");
    dpt__call_count(&call, "denom", sums, dpt__count(x), "as in");
  }
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, x->ndim_, x->size_, &args.gin);
  args.type = call.type;
  return dpt__call_run(&call, dpt__call_some(gx), lrn_backward, &args);
}
