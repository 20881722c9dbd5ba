/* planes.c: layers over planes: sums, PReLU, and SpatialCrossMapLRN across planes. */
#include "nn/call.h"
#include "nn/kernels.h"

int dpt_plane_sum(dpt_tensor *gb, const dpt_tensor *gout, double scale) {
  dpt__call call;
  struct dpt__plane_sum_args args = {.scale = scale};
  dpt__call_begin(&call, DPT__KERNEL_plane_sum, "sums", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  dpt__call_dims(&call, "gradOutput", gy, 2, DPT_MAXDIM, "NxC and more");
  dpt__call_planes(&call, gy, 1, &args.N, &args.C, &args.S);
  dpt__call_present(&call, "gradient", gb);
  dpt__call_plane_update(&call, "gradient", gb, args.C, &args.gb);
  args.param_type = dpt__call_param_type(&call);
  return dpt__call_run(&call, dpt__call_some(gy), plane_sum, &args);
}

/* Returns PReLU's dimension of planes, for C, NxC and more, or CxHxW if NxCxL does not match the
 * slopes. */
static int prelu_planes(const dpt_tensor *in, const dpt_tensor *slopes) {
  if (!in || !slopes || in->ndim_ != 3) return in && in->ndim_ > 1;
  return in->size_[1] == dpt__count(slopes) || in->size_[0] != dpt__count(slopes);
}

/* Computes (N, C, S) of in, and sets *shared if its planes share one slope. */
static void prelu_slopes(dpt__call *call, const dpt_tensor *in, const char *name,
                         const dpt_tensor *weight, int64_t *N, int64_t *C, int64_t *S,
                         int32_t *shared) {
  int planes = prelu_planes(in, weight);
  dpt__call_dims(call, "input", in, planes + 1, DPT_MAXDIM, "C or NxC and more");
  dpt__call_planes(call, in, planes, N, C, S);
  *shared = weight && dpt__count(weight) == 1;
  if (!*shared) dpt__call_count(call, name, weight, *C, "one or one for each plane");
}

int dpt_prelu_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__prelu_args args = {0};
  dpt__call_begin(&call, DPT__KERNEL_prelu, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  prelu_slopes(&call, x, "weight", w, &args.N, &args.C, &args.S, &args.shared);
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), prelu, &args);
}

int dpt_prelu_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                            const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__prelu_args args = {0};
  dpt__call_begin(&call, DPT__KERNEL_prelu, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  prelu_slopes(&call, x, "weight", w, &args.N, &args.C, &args.S, &args.shared);
  dpt__call_check_count(&call, "gradOutput", gy, x);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), prelu, &args);
}

int dpt_prelu_backward_weight(dpt_tensor *gw, const dpt_tensor *gout, const dpt_tensor *in,
                              double scale) {
  dpt__call call;
  struct dpt__prelu_args args = {.scale = scale};
  dpt__call_begin(&call, DPT__KERNEL_prelu, "PReLU", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  dpt__call_present(&call, "gradWeight", gw);
  dpt_tensor *w = dpt__call_param_update(&call, "gradWeight", gw, &args.gw);
  args.param_type = dpt__call_param_type(&call);
  prelu_slopes(&call, x, "gradWeight", w, &args.N, &args.C, &args.S, &args.shared);
  dpt__call_check_count(&call, "gradOutput", gy, x);
  return dpt__call_run(&call, dpt__call_some(x), prelu, &args);
}

static void lrn_images(dpt__call *call, const dpt_tensor *in, int64_t size, int64_t *N, int64_t *C,
                       int64_t *S) {
  dpt__call_dims(call, "input", in, 3, 4, "CxHxW or NxCxHxW");
  dpt__call_planes(call, in, !call->status && in->ndim_ == 4, N, C, S);
  if (!call->status && (size < 1 || size % 2 == 0))
    call->status = dpt__fail("%s: argument 'size' is %lld, wanted an odd number of planes",
                             call->fn, (long long)size);
}

int dpt_lrn_forward(dpt_tensor *out, dpt_tensor *denom, const dpt_tensor *in, int64_t size,
                    double alpha, double beta, double k) {
  dpt__call call;
  struct dpt__lrn_args args = {.size = size, .alpha = alpha, .beta = beta, .k = k};
  dpt__call_begin(&call, DPT__KERNEL_lrn, "SpatialCrossMapLRN", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  lrn_images(&call, x, size, &args.N, &args.C, &args.S);
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  dpt__call_out_like(&call, "denom", denom, x, &args.denom);
  return dpt__call_run(&call, dpt__call_some(y), lrn, &args);
}

int dpt_lrn_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                     const dpt_tensor *out, const dpt_tensor *denom, int64_t size, double alpha,
                     double beta) {
  dpt__call call;
  struct dpt__lrn_args args = {.size = size, .alpha = alpha, .beta = beta};
  dpt__call_begin(&call, DPT__KERNEL_lrn, "SpatialCrossMapLRN", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  const dpt_tensor *y = dpt__call_in(&call, "output", out, &args.out);
  const dpt_tensor *sums = dpt__call_in(&call, "denom", denom, &args.denom);
  lrn_images(&call, x, size, &args.N, &args.C, &args.S);
  dpt__call_check_count(&call, "gradOutput", gy, x);
  dpt__call_check_count(&call, "output", y, x);
  dpt__call_check_count(&call, "denom", sums, x);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), lrn, &args);
}
