/* softmax.c: SoftMax and LogSoftMax: finds the dimension of classes, then runs the backend's
 * kernel. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Splits t into (N, C, S) at dimension dim, or as Torch7 does if that is 0. */
static void softmax_classes(dpt__call *call, const char *name, const dpt_tensor *t, int dim,
                            struct dpt__softmax_args *a) {
  dpt__call_dims(call, name, t, 1, dim ? DPT_MAXDIM : 4,
                 dim ? "1 or more dimensions" : "1 to 4 dimensions");
  if (!call->status && (dim < 0 || dim > t->ndim_))
    call->status = dpt__fail("%s: argument 'dim' is %d, wanted 1 to %d", call->fn, dim, t->ndim_);
  if (call->status) return;
  if (!dim) dim = t->ndim_ % 2 ? 1 : 2;
  a->N = a->S = 1;
  for (int d = 0; d < t->ndim_; d++)
    *(d < dim - 1 ? &a->N : d < dim ? &a->C : &a->S) *= t->size_[d];
}

int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log, int dim) {
  dpt__call call;
  struct dpt__softmax_args args = {.log = log, .C = 1};
  dpt__call_begin(&call, DPT__KERNEL_softmax, log ? "logsoftmax" : "softmax", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  softmax_classes(&call, "input", x, dim, &args);
  dpt_tensor *y = dpt__call_out_like(&call, "output", out, x, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), softmax, &args);
}

int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log,
                         int dim) {
  dpt__call call;
  struct dpt__softmax_args args = {.log = log, .C = 1};
  dpt__call_begin(&call, DPT__KERNEL_softmax, log ? "logsoftmax" : "softmax", "output", out);
  const dpt_tensor *y = dpt__call_in(&call, "output", out, &args.out);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  softmax_classes(&call, "output", y, dim, &args);
  dpt__call_check_count(&call, "gradOutput", gy, y);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, y, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), softmax, &args);
}
