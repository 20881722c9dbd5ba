/* linear.c: nn.Linear's products: shapes and checks, then the backend's kernels. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Checks the weight and t, rows of matching columns behind any sizes, and fills their sizes. Sets
 * size to the sizes of t, with the columns of the product last. */
static void linear_start(dpt__call *call, struct dpt__linear_args *args, int pass,
                         const char *weight_name, const dpt_tensor *weight, const char *name,
                         const dpt_tensor *t, int64_t *size) {
  args->pass = pass;
  args->param_type = dpt__call_param_type(call);
  args->deterministic = dpt_deterministic_get();
  args->tf32 = dpt_tf32_get();
  dpt__call_dims(call, weight_name, weight, 2, 2, "a matrix");
  if (call->status) return;
  args->O = weight->size_[0];
  args->I = weight->size_[1];
  args->B = 1;
  for (int d = 0; d + 1 < t->ndim_; d++) args->B *= size[d] = t->size_[d];
  int64_t columns = pass == DPT__PASS_DATA ? args->O : args->I;
  if (t->ndim_ > 0 && args->B <= INT32_MAX && t->size_[t->ndim_ - 1] == columns)
    size[t->ndim_ - 1] = pass == DPT__PASS_DATA ? args->I : args->O;
  else
    call->status =
        dpt__fail("%s: size mismatch: argument '%s' is a %s, wanted %lld or Bx%lld elements",
                  call->fn, name, dpt__describe(t), (long long)columns, (long long)columns);
}

int dpt_linear_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                       const dpt_tensor *bias) {
  dpt__call call;
  struct dpt__linear_args args;
  dpt__call_begin(&call, DPT__KERNEL_linear, "linear", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  const dpt_tensor *b = dpt__call_in_optional(&call, "bias", bias, &args.bias);
  int64_t size[DPT_MAXDIM];
  linear_start(&call, &args, DPT__PASS_FORWARD, "weight", w, "input", x, size);
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "bias", b, args.O, "one for each output");
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, size, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), linear, &args);
}

int dpt_linear_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__linear_args args;
  dpt__call_begin(&call, DPT__KERNEL_linear, "linear", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.out);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  int64_t size[DPT_MAXDIM];
  linear_start(&call, &args, DPT__PASS_DATA, "weight", w, "gradOutput", gy, size);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, gy->ndim_, size, &args.in);
  return dpt__call_run(&call, dpt__call_some(gx), linear, &args);
}

int dpt_linear_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                               const dpt_tensor *gout, double scale) {
  dpt__call call;
  struct dpt__linear_args args = {.scale = scale};
  dpt__call_begin(&call, DPT__KERNEL_linear, "linear", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.out);
  dpt__call_present(&call, "gradWeight", gw);
  dpt_tensor *w = dpt__call_param_update(&call, "gradWeight", gw, &args.weight);
  dpt_tensor *b = dpt__call_param_update(&call, "gradBias", gb, &args.bias);
  int64_t size[DPT_MAXDIM];
  linear_start(&call, &args, DPT__PASS_WEIGHT, "gradWeight", w, "input", x, size);
  if (call.status) return dpt__call_end(&call);
  dpt__call_same(&call, "gradOutput", gy, x->ndim_, size);
  dpt__call_count(&call, "gradBias", b, args.O, "one for each output");
  return dpt__call_run(&call, dpt__call_some(gy), linear, &args);
}
