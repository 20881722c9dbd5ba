/* batchnorm.c: batch normalization of (N, C, S): shapes and checks, then the backend's kernels. */
#include "nn/call.h"
#include "nn/kernels.h"

static void split(dpt__call *call, const dpt_tensor *t, int64_t *N, int64_t *C, int64_t *S) {
  char text[DPT__TEXT];
  if (call->status) return;
  if (t->ndim_ < 2) {
    call->status = dpt__fail("%s: argument 'input' is a %s, wanted NxC or NxCxS", call->fn,
                             dpt__describe(text, t));
    return;
  }
  *N = t->size_[0];
  *C = t->size_[1];
  *S = 1;
  for (int d = 2; d < t->ndim_; d++) *S *= t->size_[d];
}

/* A result of C elements that is updated, or NULL. */
static dpt_tensor *updated(dpt__call *call, const char *name, dpt_tensor *t, int64_t C) {
  dpt_tensor *r = dpt__call_update_maybe(call, name, t);
  dpt__call_count(call, name, r, C, "one for each plane");
  return r;
}

static const dpt_tensor *planes(dpt__call *call, const char *name, const dpt_tensor *t, int64_t C) {
  const dpt_tensor *r = dpt__call_in_maybe(call, name, t);
  dpt__call_count(call, name, r, C, "one for each plane");
  return r;
}

int dpt_batchnorm_forward(dpt_tensor *out, dpt_tensor *save_mean, dpt_tensor *save_std,
                          dpt_tensor *running_mean, dpt_tensor *running_var, const dpt_tensor *in,
                          const dpt_tensor *weight, const dpt_tensor *bias, int train,
                          double momentum, double eps) {
  dpt__call call;
  struct dpt__batchnorm_args args = {.train = train, .momentum = momentum, .eps = eps};
  dpt__call_begin(&call, "batch normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in);
  split(&call, x, &args.N, &args.C, &args.S);
  const dpt_tensor *w = planes(&call, "weight", weight, args.C);
  const dpt_tensor *b = planes(&call, "bias", bias, args.C);
  if (!train) dpt__call_present(&call, "running_mean", running_mean);
  if (!train) dpt__call_present(&call, "running_var", running_var);
  /* evaluation only reads them: who watches their writes must see none */
  const dpt_tensor *mean = train ? updated(&call, "running_mean", running_mean, args.C)
                                 : planes(&call, "running_mean", running_mean, args.C);
  const dpt_tensor *var = train ? updated(&call, "running_var", running_var, args.C)
                                : planes(&call, "running_var", running_var, args.C);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *y = dpt__call_out(&call, "output", out, x->ndim_, x->size_), *m = NULL, *s = NULL;
  if (train) {
    m = dpt__call_out(&call, "save_mean", save_mean, 1, &args.C);
    s = dpt__call_out(&call, "save_std", save_std, 1, &args.C);
  }
  args.type = call.type;
  dpt__call_at(&call, x, &args.in);
  dpt__call_at(&call, w, &args.weight);
  dpt__call_at(&call, b, &args.bias);
  dpt__call_at(&call, y, &args.out);
  dpt__call_at(&call, m, &args.save_mean);
  dpt__call_at(&call, s, &args.save_std);
  dpt__call_at(&call, mean, &args.running_mean);
  dpt__call_at(&call, var, &args.running_var);
  if (dpt__call_some(y)) dpt__call_launch(&call, batchnorm, &args);
  return dpt__call_end(&call);
}

int dpt_batchnorm_backward(dpt_tensor *gin, dpt_tensor *gweight, dpt_tensor *gbias,
                           const dpt_tensor *in, const dpt_tensor *gout, const dpt_tensor *weight,
                           const dpt_tensor *running_mean, const dpt_tensor *running_var,
                           const dpt_tensor *save_mean, const dpt_tensor *save_std, int train,
                           double scale, double eps) {
  dpt__call call;
  struct dpt__batchnorm_backward_args args = {.train = train, .scale = scale, .eps = eps};
  dpt__call_begin(&call, "batch normalization", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout);
  split(&call, x, &args.N, &args.C, &args.S);
  if (!call.status) dpt__call_same(&call, "gradOutput", gy, x->ndim_, x->size_);
  const dpt_tensor *w = planes(&call, "weight", weight, args.C);
  dpt__call_present(&call, train ? "save_mean" : "running_mean", train ? save_mean : running_mean);
  dpt__call_present(&call, train ? "save_std" : "running_var", train ? save_std : running_var);
  const dpt_tensor *mean = train ? planes(&call, "save_mean", save_mean, args.C)
                                 : planes(&call, "running_mean", running_mean, args.C);
  const dpt_tensor *deviation = train ? planes(&call, "save_std", save_std, args.C)
                                      : planes(&call, "running_var", running_var, args.C);
  dpt_tensor *gw = updated(&call, "gweight", gweight, args.C);
  dpt_tensor *gb = updated(&call, "gbias", gbias, args.C);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = gin ? dpt__call_out(&call, "gradInput", gin, x->ndim_, x->size_) : NULL;
  args.type = call.type;
  dpt__call_at(&call, x, &args.in);
  dpt__call_at(&call, gy, &args.gout);
  dpt__call_at(&call, w, &args.weight);
  dpt__call_at(&call, mean, &args.mean);
  dpt__call_at(&call, deviation, &args.deviation);
  dpt__call_at(&call, gx, &args.gin);
  dpt__call_at(&call, gw, &args.gweight);
  dpt__call_at(&call, gb, &args.gbias);
  if (dpt__call_some(x)) dpt__call_launch(&call, batchnorm_backward, &args);
  return dpt__call_end(&call);
}
