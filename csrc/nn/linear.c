/* linear.c: nn.Linear's products: shapes and checks, then the backend's kernels. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Rows of a vector or matrix; the columns must be `columns`. */
static int64_t rows_of(dpt__call *call, const char *name, const dpt_tensor *t, int64_t columns) {
  char text[DPT__TEXT];
  if (call->status) return 0;
  int right = t->ndim_ == 1 || (t->ndim_ == 2 && t->size_[0] <= INT32_MAX);
  if (right && t->size_[t->ndim_ - 1] == columns) return t->ndim_ == 1 ? 1 : t->size_[0];
  call->status =
      dpt__fail("%s: size mismatch: argument '%s' is a %s, wanted %lld or Bx%lld elements",
                call->fn, name, dpt__describe(text, t), (long long)columns, (long long)columns);
  return 0;
}

static void check_weight(dpt__call *call, const char *name, const dpt_tensor *weight) {
  char text[DPT__TEXT];
  if (!call->status && weight->ndim_ != 2)
    call->status = dpt__fail("%s: argument '%s' is a %s, wanted a matrix", call->fn, name,
                             dpt__describe(text, weight));
}

int dpt_linear_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                       const dpt_tensor *bias) {
  dpt__call call;
  struct dpt__linear_args args;
  dpt__call_begin(&call, "linear", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  const dpt_tensor *b = dpt__call_in_maybe(&call, "bias", bias, &args.bias);
  check_weight(&call, "weight", w);
  int64_t rows = rows_of(&call, "input", x, call.status ? 0 : w->size_[1]);
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "bias", b, w->size_[0], "one for each output");
  int64_t size[2] = {rows, w->size_[0]};
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, size + 2 - x->ndim_, &args.out);
  args = (struct dpt__linear_args){.type = call.type,
                                   .deterministic = dpt_deterministic_get(),
                                   .tf32 = dpt_tf32_get(),
                                   .B = rows,
                                   .I = w->size_[1],
                                   .O = w->size_[0]};
  return dpt__call_run(&call, dpt__call_some(y), linear, &args);
}

int dpt_linear_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *weight) {
  dpt__call call;
  struct dpt__linear_data_args args;
  dpt__call_begin(&call, "linear", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  check_weight(&call, "weight", w);
  int64_t rows = rows_of(&call, "gradOutput", gy, call.status ? 0 : w->size_[0]);
  if (call.status) return dpt__call_end(&call);
  int64_t size[2] = {rows, w->size_[1]};
  dpt_tensor *gx =
      dpt__call_out(&call, "gradInput", gin, gy->ndim_, size + 2 - gy->ndim_, &args.gin);
  args = (struct dpt__linear_data_args){.type = call.type,
                                        .deterministic = dpt_deterministic_get(),
                                        .tf32 = dpt_tf32_get(),
                                        .B = rows,
                                        .I = w->size_[1],
                                        .O = w->size_[0]};
  return dpt__call_run(&call, dpt__call_some(gx), linear_data, &args);
}

int dpt_linear_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                               const dpt_tensor *gout, double scale) {
  dpt__call call;
  struct dpt__linear_weight_args args;
  dpt__call_begin(&call, "linear", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  dpt_tensor *w = dpt__call_update(&call, "gw", gw, &args.gw);
  dpt_tensor *b = dpt__call_update_maybe(&call, "gb", gb, &args.gb);
  check_weight(&call, "gw", w);
  int64_t rows = rows_of(&call, "input", x, call.status ? 0 : w->size_[1]);
  if (call.status) return dpt__call_end(&call);
  int64_t size[2] = {rows, w->size_[0]};
  dpt__call_same(&call, "gradOutput", gy, x->ndim_, size + 2 - x->ndim_);
  dpt__call_count(&call, "gb", b, w->size_[0], "one for each output");
  args = (struct dpt__linear_weight_args){.type = call.type,
                                          .tf32 = dpt_tf32_get(),
                                          .B = rows,
                                          .I = w->size_[1],
                                          .O = w->size_[0],
                                          .scale = scale};
  return dpt__call_run(&call, dpt__call_some(gy), linear_weight, &args);
}
