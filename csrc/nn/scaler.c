/* scaler.c: the numbers of a loss scaler (optim.LossScaler), and products with one of them. */
#include "nn/scaler.h"

#include "nn/call.h"

int dpt_scaler_step(dpt_tensor *scaler, dpt_tensor *norm, double growth, double backoff,
                    double every) {
  dpt__call call;
  struct dpt__scaler_step_args args = {.growth = growth, .backoff = backoff, .every = every};
  dpt__call_begin(&call, DPT__KERNEL_scaler_step, "scaler_step", "norm", norm);
  dpt__call_count(&call, "norm", dpt__call_update(&call, "norm", norm, &args.norm), 1, "a norm");
  dpt__call_count(&call, "scaler",
                  dpt__call_update_type(&call, "scaler", scaler, DPT_F64, &args.scaler),
                  DPT_SCALER_NUMBERS, "the numbers of a scaler");
  return dpt__call_run(&call, 1, scaler_step, &args);
}

int dpt_scale_by(dpt_tensor *r, const dpt_tensor *x, const dpt_tensor *factor) {
  dpt__call call;
  struct dpt__scale_by_args args = {0};
  int32_t type = DPT_F64;
  dpt__call_begin(&call, DPT__KERNEL_scale_by, "scale_by", "x", x);
  const dpt_tensor *in = NULL;
  if (r == x)
    in = dpt__call_update(&call, "x", r, &args.r);
  else
    dpt__call_out_like(&call, "r", r, in = dpt__call_in(&call, "x", x, &args.x), &args.r);
  const dpt_tensor *f = dpt__call_index(&call, "factor", factor, &args.factor, &type);
  if (type != DPT_F64) dpt__call_wrong(&call, "factor", factor, "a double");
  dpt__call_count(&call, "factor", f, 1, "a double");
  args.n = in ? dpt__count(in) : 0;
  return dpt__call_run(&call, args.n, scale_by, &args);
}
