/* batchnorm.c: batch normalization of (N, C, S): shapes and checks, then the backend's kernels. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Adds an operand of C elements that is read. */
static void batchnorm_planes(dpt__call *call, const char *name, const dpt_tensor *t, int64_t C,
                             void *field) {
  dpt__call_present(call, name, t);
  dpt__call_plane_param(call, name, t, C, field);
}

int dpt_batchnorm_forward(dpt_tensor *out, dpt_tensor *save_mean, dpt_tensor *save_std,
                          dpt_tensor *running_mean, dpt_tensor *running_var, const dpt_tensor *in,
                          const dpt_tensor *weight, const dpt_tensor *bias, int train,
                          double momentum, double eps) {
  dpt__call call;
  struct dpt__batchnorm_args args = {.train = train, .momentum = momentum, .eps = eps};
  dpt__call_begin(&call, DPT__KERNEL_batchnorm, "batch normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  dpt__call_dims(&call, "input", x, 2, DPT_MAXDIM, "NxC or NxCxS");
  dpt__call_planes(&call, x, 1, &args.N, &args.C, &args.S);
  dpt__call_plane_param(&call, "weight", weight, args.C, &args.weight);
  dpt__call_plane_param(&call, "bias", bias, args.C, &args.bias);
  /* evaluation only reads them, so they must not be marked as written */
  if (train) {
    dpt__call_plane_update(&call, "running_mean", running_mean, args.C, &args.running_mean);
    dpt__call_plane_update(&call, "running_var", running_var, args.C, &args.running_var);
  } else {
    batchnorm_planes(&call, "running_mean", running_mean, args.C, &args.running_mean);
    batchnorm_planes(&call, "running_var", running_var, args.C, &args.running_var);
  }
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  if (train) dpt__call_param_out(&call, "save_mean", save_mean, 1, &args.C, &args.save_mean);
  if (train) dpt__call_param_out(&call, "save_std", save_std, 1, &args.C, &args.save_std);
  args.param_type = dpt__call_param_type(&call);
  return dpt__call_run(&call, dpt__call_some(y), batchnorm, &args);
}

int dpt_batchnorm_backward(dpt_tensor *gin, dpt_tensor *gweight, dpt_tensor *gbias,
                           const dpt_tensor *in, const dpt_tensor *gout, const dpt_tensor *weight,
                           const dpt_tensor *running_mean, const dpt_tensor *running_var,
                           const dpt_tensor *save_mean, const dpt_tensor *save_std, int train,
                           double scale, double eps) {
  dpt__call call;
  struct dpt__batchnorm_backward_args args = {.train = train, .scale = scale, .eps = eps};
  dpt__call_begin(&call, DPT__KERNEL_batchnorm_backward, "batch normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  dpt__call_dims(&call, "input", x, 2, DPT_MAXDIM, "NxC or NxCxS");
  dpt__call_planes(&call, x, 1, &args.N, &args.C, &args.S);
  if (!call.status) dpt__call_same(&call, "gradOutput", gy, x->ndim_, x->size_);
  dpt__call_plane_param(&call, "weight", weight, args.C, &args.weight);
  if (train) {
    batchnorm_planes(&call, "save_mean", save_mean, args.C, &args.mean);
    batchnorm_planes(&call, "save_std", save_std, args.C, &args.deviation);
  } else {
    batchnorm_planes(&call, "running_mean", running_mean, args.C, &args.mean);
    batchnorm_planes(&call, "running_var", running_var, args.C, &args.deviation);
  }
  dpt__call_plane_update(&call, "gweight", gweight, args.C, &args.gweight);
  dpt__call_plane_update(&call, "gbias", gbias, args.C, &args.gbias);
  if (gin) dpt__call_out_like(&call, "gradInput", gin, x, &args.gin);
  args.param_type = dpt__call_param_type(&call);
  return dpt__call_run(&call, dpt__call_some(x), batchnorm_backward, &args);
}
