/* step.c: optimizer steps over flat vectors, one pass over memory each. */
#include "nn/call.h"
#include "nn/kernels.h"

/* Adds to the call a vector that the step updates; checks that it has n elements, as x has. */
static void step_vector(dpt__call *call, const char *name, dpt_tensor *t, int64_t n, void *field) {
  dpt_tensor *v = dpt__call_update(call, name, t, field);
  dpt__call_count(call, name, v, n, "as x");
}

static void step_factors(dpt__call *call, const char *name, const dpt_tensor *t, int64_t n,
                         void *field) {
  const dpt_tensor *v = dpt__call_in_optional(call, name, t, field);
  dpt__call_count(call, name, v, n, "as x");
}

int dpt_sgd_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v, const dpt_tensor *rates,
                 const dpt_tensor *decays, double rate, double decay, double momentum, double keep,
                 int nesterov, int first) {
  dpt__call call;
  int64_t n = x ? dpt__count(x) : 0;
  dpt__call_begin(&call, DPT__KERNEL_sgd, "sgd", "x", x);
  struct dpt__sgd_args args = {.nesterov = nesterov,
                               .first = first,
                               .n = n,
                               .rate = rate,
                               .decay = decay,
                               .momentum = momentum,
                               .keep = keep};
  step_vector(&call, "x", x, n, &args.x);
  step_vector(&call, "dfdx", g, n, &args.g);
  if (v) step_vector(&call, "v", v, n, &args.v);
  step_factors(&call, "learningRates", rates, n, &args.rates);
  step_factors(&call, "weightDecays", decays, n, &args.decays);
  return dpt__call_run(&call, n, sgd, &args);
}

int dpt_adam_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                  const dpt_tensor *rates, const dpt_tensor *decays, double rate, double decay,
                  double beta1, double beta2, double eps) {
  dpt__call call;
  int64_t n = x ? dpt__count(x) : 0;
  dpt__call_begin(&call, DPT__KERNEL_adam, "adam", "x", x);
  struct dpt__adam_args args = {
      .n = n, .rate = rate, .decay = decay, .beta1 = beta1, .beta2 = beta2, .eps = eps};
  step_vector(&call, "x", x, n, &args.x);
  step_vector(&call, "dfdx", g, n, &args.g);
  step_vector(&call, "m", m, n, &args.m);
  step_vector(&call, "v", v, n, &args.v);
  step_factors(&call, "learningRates", rates, n, &args.rates);
  step_factors(&call, "weightDecays", decays, n, &args.decays);
  return dpt__call_run(&call, n, adam, &args);
}
