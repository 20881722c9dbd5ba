/* softmax.c: SoftMax and LogSoftMax: which dimension is the classes'. */
#include "nn/call.h"
#include "nn/kernels.h"

/* (N, C, S) as Torch7 sees it. */
static void split(dpt__call *call, const dpt_tensor *t, int64_t *N, int64_t *C, int64_t *S) {
  char text[DPT__TEXT];
  *N = *C = *S = 1;
  if (call->status) return;
  int classes = t->ndim_ == 2 || t->ndim_ == 4;
  if (t->ndim_ < 1 || t->ndim_ > 4) {
    call->status = dpt__fail("%s: argument 'input' is a %s, wanted 1 to 4 dimensions", call->fn,
                             dpt__describe(text, t));
    return;
  }
  if (classes) *N = t->size_[0];
  *C = t->size_[classes];
  for (int d = classes + 1; d < t->ndim_; d++) *S *= t->size_[d];
}

int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log) {
  dpt__call call;
  struct dpt__softmax_args args;
  dpt__call_begin(&call, log ? "logsoftmax" : "softmax", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  args = (struct dpt__softmax_args){.type = call.type, .log = log};
  split(&call, x, &args.N, &args.C, &args.S);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, x->size_, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), softmax, &args);
}

int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log) {
  dpt__call call;
  struct dpt__softmax_backward_args args;
  dpt__call_begin(&call, log ? "logsoftmax" : "softmax", "output", out);
  const dpt_tensor *y = dpt__call_in(&call, "output", out, &args.out);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  args = (struct dpt__softmax_backward_args){.type = call.type, .log = log};
  split(&call, y, &args.N, &args.C, &args.S);
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "gradOutput", gy, dpt__count(y), "one for each output");
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, y->ndim_, y->size_, &args.gin);
  return dpt__call_run(&call, dpt__call_some(gx), softmax_backward, &args);
}
