/* norm.c: layer, group, instance and root-mean-square normalization: shapes and checks, then the
 * backend's kernels. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Returns the number of elements of a plane; fails the call unless the rows divide into planes. */
static int64_t norm_plane(dpt__call *call, const dpt_tensor *x, int64_t rows, int64_t groups,
                          int64_t planes) {
  if (call->status) return 0;
  int64_t count = dpt__count(x), all = rows * planes;
  if (!count) return 0;
  if (rows < 1 || groups < 1 || planes < 1 || rows % groups || count % all)
    call->status = dpt__fail("%s: %lld rows of %lld planes in %lld groups do not divide %lld "
                             "elements",
                             call->fn, (long long)rows, (long long)planes, (long long)groups,
                             (long long)count);
  return call->status ? 0 : count / all;
}

int dpt_norm_forward(dpt_tensor *out, dpt_tensor *save, const dpt_tensor *in,
                     const dpt_tensor *weight, const dpt_tensor *bias, int64_t rows, int64_t groups,
                     int64_t planes, int rms, double eps) {
  dpt__call call;
  struct dpt__norm_args args = {
      .rms = rms, .rows = rows, .groups = groups, .K = planes, .eps = eps};
  dpt__call_begin(&call, DPT__KERNEL_norm, "normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  args.S = norm_plane(&call, x, rows, groups, planes);
  dpt__call_plane_param(&call, "weight", weight, groups * planes, &args.weight);
  dpt__call_plane_param(&call, "bias", bias, groups * planes, &args.bias);
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  int compute = dpt__compute_dtype(call.type);
  dpt__call_out_type(&call, "save", save, compute, 2, (const int64_t[]){rows, 2}, &args.save);
  args.param_type = dpt__call_param_type(&call);
  return dpt__call_run(&call, dpt__call_some(y), norm, &args);
}

int dpt_norm_backward(dpt_tensor *gin, dpt_tensor *gweight, dpt_tensor *gbias, const dpt_tensor *in,
                      const dpt_tensor *gout, const dpt_tensor *weight, const dpt_tensor *save,
                      int64_t rows, int64_t groups, int64_t planes, int rms, double scale) {
  dpt__call call;
  int32_t save_type = 0;
  struct dpt__norm_backward_args args = {
      .rms = rms, .rows = rows, .groups = groups, .K = planes, .scale = scale};
  dpt__call_begin(&call, DPT__KERNEL_norm_backward, "normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *g = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  args.S = norm_plane(&call, x, rows, groups, planes);
  if (!call.status) dpt__call_same(&call, "gradOutput", g, x->ndim_, x->size_);
  dpt__call_plane_param(&call, "weight", weight, groups * planes, &args.weight);
  const dpt_tensor *s = dpt__call_index(&call, "save", save, &args.save, &save_type);
  if (!call.status && save_type != dpt__compute_dtype(call.type))
    dpt__call_wrong(&call, "save", s, "the type that forward wrote");
  dpt__call_count(&call, "save", s, 2 * rows, "two for each row");
  dpt__call_plane_update(&call, "gradWeight", gweight, groups * planes, &args.gweight);
  dpt__call_plane_update(&call, "gradBias", gbias, groups * planes, &args.gbias);
  if (gin) dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  args.param_type = dpt__call_param_type(&call);
  return dpt__call_run(&call, dpt__call_some(x), norm_backward, &args);
}
