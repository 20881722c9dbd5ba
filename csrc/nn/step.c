/* step.c: optimizer steps over flat vectors, one pass over memory each. */
#include "device/capture.h"
#include "nn/call.h"
#include "nn/kernels.h"
#include "nn/scaler.h"

_Static_assert(DPT_STEP_COUNTS == DPT__STEP_BASE + 1, "one for each entry");

/* Begins the call and adds x and its gradient g, which has n elements, as x has. mixed: the kernel
 * may take x's type; beside a reduced type, g is only read and all other vectors are floats. */
static void step_begin(dpt__call *call, enum dpt__kernel kernel, const char *fn, int mixed,
                       dpt_tensor *x, dpt_tensor *g, void *x_field, void *g_field, int64_t *n) {
  *n = x ? dpt__count(x) : 0;
  dpt__call_begin(call, kernel, fn, "x", x);
  if (call->status) return;
  int type = dpt__dtype(call->kind), wide = dpt__compute_dtype(type);
  if (!mixed) call->type = wide;
  call->param_kind = mixed ? wide | (call->kind & DPT_ON_DEVICE) : call->kind;
  dpt__call_update(call, "x", x, x_field);
  dpt__call_count(call, "dfdx",
                  mixed && type != wide ? dpt__call_in(call, "dfdx", g, g_field)
                                        : dpt__call_update(call, "dfdx", g, g_field),
                  *n, "as x");
}

static void step_state(dpt__call *call, const char *name, dpt_tensor *t, int64_t n, void *field) {
  dpt__call_present(call, name, t);
  dpt__call_count(call, name, dpt__call_param_update(call, name, t, field), n, "as x");
}

static void step_factors(dpt__call *call, const char *name, const dpt_tensor *t, int64_t n,
                         void *field) {
  dpt__call_count(call, name, dpt__call_param(call, name, t, field), n, "as x");
}

/* Adds the copy of the first elements of x, of which there are n. */
static void step_copy(dpt__call *call, const dpt_tensor *x, int64_t n, dpt_tensor *t,
                      struct dpt__step_copy *copy) {
  if (!t || call->status) return;
  if (dpt__dtype(x->kind_) != DPT_F32)
    return dpt__call_wrong(call, "x", x, "floats beside a copy of a reduced type");
  copy->type = dpt__dtype(t->kind_), copy->n = dpt__count(t);
  if (!dpt__is_reduced(copy->type) || !dpt__contiguous(t) || copy->n > n)
    return dpt__call_wrong(call, "copy", t,
                           "a contiguous tensor of halves or bfloat16, no longer than x");
  dpt__call_update_type(call, "copy", t, copy->type, &copy->to);
}

/* Adds the numbers of a scaler and the counts of the steps: both or neither. */
static void step_scaler(dpt__call *call, const dpt_tensor *scaler, dpt_tensor *count,
                        struct dpt__step_count_args *args) {
  int32_t type = DPT_F64;
  if (!scaler && !count) return;
  const dpt_tensor *s = dpt__call_index(call, "scaler", scaler, &args->scaler, &type);
  if (type != DPT_F64) dpt__call_wrong(call, "scaler", scaler, "doubles");
  dpt__call_count(call, "scaler", s, DPT_SCALER_NUMBERS, "the numbers of a scaler");
  dpt__call_present(call, "count", count);
  dpt__call_count(call, "count", dpt__call_update_type(call, "count", count, DPT_F64, &args->count),
                  DPT_STEP_COUNTS, "the counts of a step");
}

int dpt_step_takes(const dpt_tensor *x) {
  int type;
  return !dpt__launch_type("step", DPT__KERNEL_sgd, x, &type) && type == dpt__type(x);
}

int dpt_step_copies(const dpt_tensor *x) {
  return dpt__launch_has("step", DPT__KERNEL_sgd_mixed, x);
}

/* Launches the kernel that counts a step with a scaler. */
static void step_launch_count(dpt__call *call, struct dpt__step_count_args *args,
                              struct dpt__step_scaler *scaler) {
  dpt__call_submit(call, DPT__KERNEL_step_count, &args->type, args, sizeof *args);
  *scaler = (struct dpt__step_scaler){args->scaler, args->count};
}

/* Launches a kernel, which ignores all but the step if `size` says so, and ends the call. */
static int step_end(dpt__call *call, enum dpt__kernel kernel, int64_t n, int32_t *type,
                    const void *args, size_t size) {
  if (n) dpt__call_submit(call, kernel, type, args, size);
  return dpt__call_end(call);
}

static int step_sgd(int mixed, dpt_tensor *x, dpt_tensor *g, dpt_tensor *v, const dpt_tensor *rates,
                    const dpt_tensor *decays, double rate, double decay, double momentum,
                    double keep, int nesterov, int first, dpt_tensor *copy,
                    const dpt_tensor *scaler, dpt_tensor *count, double rate_decay) {
  dpt__call call;
  int more = copy || scaler || count;
  enum dpt__kernel kernel = more ? DPT__KERNEL_sgd_mixed : DPT__KERNEL_sgd;
  struct dpt__step_count_args counts = {
      .has_velocity = v != NULL, .rate = rate, .rate_decay = rate_decay};
  struct dpt__sgd_mixed_args all = {.step = {.nesterov = nesterov,
                                             .first = first,
                                             .rate = rate,
                                             .decay = decay,
                                             .momentum = momentum,
                                             .keep = keep}};
  struct dpt__sgd_args *args = &all.step;
  step_begin(&call, kernel, "sgd", mixed, x, g, &args->x, &args->g, &args->n);
  if (v) step_state(&call, "v", v, args->n, &args->v);
  step_factors(&call, "learningRates", rates, args->n, &args->rates);
  step_factors(&call, "weightDecays", decays, args->n, &args->decays);
  step_copy(&call, x, args->n, copy, &all.copy);
  step_scaler(&call, scaler, count, &counts);
  if (count) step_launch_count(&call, &counts, &all.scaler);
  return step_end(&call, kernel, args->n, &args->type, &all, more ? sizeof all : sizeof all.step);
}

int dpt_sgd_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v, const dpt_tensor *rates,
                 const dpt_tensor *decays, double rate, double decay, double momentum, double keep,
                 int nesterov, int first) {
  return step_sgd(0, x, g, v, rates, decays, rate, decay, momentum, keep, nesterov, first, NULL,
                  NULL, NULL, 0);
}

int dpt_sgd_mixed(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v, const dpt_tensor *rates,
                  const dpt_tensor *decays, double rate, double decay, double momentum, double keep,
                  int nesterov, int first, dpt_tensor *copy, const dpt_tensor *scaler,
                  dpt_tensor *count, double rate_decay) {
  return step_sgd(1, x, g, v, rates, decays, rate, decay, momentum, keep, nesterov, first, copy,
                  scaler, count, rate_decay);
}

static int step_adam(int mixed, dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                     dpt_tensor *vmax, const dpt_tensor *rates, const dpt_tensor *decays,
                     double rate, double decay, double beta1, double beta2, double eps,
                     int decoupled, double base, dpt_tensor *copy, const dpt_tensor *scaler,
                     dpt_tensor *count, double rate_decay) {
  dpt__call call;
  int more = copy || scaler || count;
  enum dpt__kernel kernel = more ? DPT__KERNEL_adam_mixed : DPT__KERNEL_adam;
  struct dpt__step_count_args counts = {.adam = 1,
                                        .decoupled = decoupled,
                                        .rate = rate,
                                        .rate_decay = rate_decay,
                                        .beta1 = beta1,
                                        .beta2 = beta2,
                                        .eps = eps};
  struct dpt__adam_mixed_args all = {.step = {.decoupled = decoupled,
                                              .rate = rate,
                                              .decay = decay,
                                              .beta1 = beta1,
                                              .beta2 = beta2,
                                              .eps = eps,
                                              .base = base}};
  struct dpt__adam_args *args = &all.step;
  step_begin(&call, kernel, "adam", mixed, x, g, &args->x, &args->g, &args->n);
  step_state(&call, "m", m, args->n, &args->m);
  step_state(&call, "v", v, args->n, &args->v);
  if (vmax) step_state(&call, "vmax", vmax, args->n, &args->vmax);
  step_factors(&call, "learningRates", rates, args->n, &args->rates);
  step_factors(&call, "weightDecays", decays, args->n, &args->decays);
  step_copy(&call, x, args->n, copy, &all.copy);
  step_scaler(&call, scaler, count, &counts);
  /* A graph would repeat the numbers of one step: kernels.def rejects the kernel adam likewise. */
  if (copy && !count && !call.status && dpt__is_device(call.kind))
    call.status = dpt__capture_rejects("adam", "it counts its steps");
  if (count) step_launch_count(&call, &counts, &all.scaler);
  return step_end(&call, kernel, args->n, &args->type, &all, more ? sizeof all : sizeof all.step);
}

int dpt_adam_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                  const dpt_tensor *rates, const dpt_tensor *decays, double rate, double decay,
                  double beta1, double beta2, double eps) {
  return step_adam(0, x, g, m, v, NULL, rates, decays, rate, decay, beta1, beta2, eps, 0, 0, NULL,
                   NULL, NULL, 0);
}

int dpt_adam_mixed(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v, dpt_tensor *vmax,
                   const dpt_tensor *rates, const dpt_tensor *decays, double rate, double decay,
                   double beta1, double beta2, double eps, int decoupled, double base,
                   dpt_tensor *copy, const dpt_tensor *scaler, dpt_tensor *count,
                   double rate_decay) {
  return step_adam(1, x, g, m, v, vmax, rates, decays, rate, decay, beta1, beta2, eps, decoupled,
                   base, copy, scaler, count, rate_decay);
}
