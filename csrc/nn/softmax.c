/* softmax.c: SoftMax and LogSoftMax: finds the dimension of classes, then runs the backend's
 * kernel. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Splits t into (N, C, S) as Torch7 does. */
static void softmax_classes(dpt__call *call, const char *name, const dpt_tensor *t, int64_t *N,
                            int64_t *C, int64_t *S) {
  dpt__call_dims(call, name, t, 1, 4, "1 to 4 dimensions");
  dpt__call_planes(call, t, !call->status && t->ndim_ % 2 == 0, N, C, S);
}

int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log) {
  dpt__call call;
  struct dpt__softmax_args args = {.log = log};
  dpt__call_begin(&call, DPT__KERNEL_softmax, log ? "logsoftmax" : "softmax", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  softmax_classes(&call, "input", x, &args.N, &args.C, &args.S);
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), softmax, &args);
}

int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log) {
  dpt__call call;
  struct dpt__softmax_args args = {.log = log};
  dpt__call_begin(&call, DPT__KERNEL_softmax, log ? "logsoftmax" : "softmax", "output", out);
  const dpt_tensor *y = dpt__call_in(&call, "output", out, &args.out);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  softmax_classes(&call, "output", y, &args.N, &args.C, &args.S);
  dpt__call_check_count(&call, "gradOutput", gy, y);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, y, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), softmax, &args);
}
