/* step.c: optimizer steps over flat vectors.
 *
 * Invariant: each element goes through optim's operations in optim's order, a block of elements at
 * a time, so that memory is traversed once.
 */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/rows.h"
#include "nn/scaler.h"

enum { BLOCK = 2048, STRIP = 256 }; /* elements; STRIP: of a reduced type, as floats in L1 */

/* Steps n elements from element `first` on; x and g point to element `first`. */
typedef void step_block(const void *args, void *x, void *g, int64_t first, int64_t n);

#define DPT_ROWS "host/nn/step.inc.c"
#include "host/each_real.h"

/* Computes x += -rate * g, by a row that not every CPU has for reduced types. */
static void sgd_plain(const void *args, void *x, void *g, int64_t first, int64_t n) {
  const struct dpt__sgd_args *a = args;
  dpt__rows_pick()->map[DPT__MAP_cadd][a->type](n, x, x, g, NULL, -a->rate, 0);
}

/* Writes the floats x from element `first` on, of which there are n, to the copy. */
static void step_copy(const struct dpt__step_copy *copy, const void *x, int64_t first, int64_t n) {
  n = dpt__min(n, copy->n - first);
  if (n > 0)
    dpt__rows_pick()->convert[copy->type][DPT_F32](n, (uint16_t *)copy->to + first, x, NULL, NULL,
                                                   0, 0);
}

/* Runs steps of `count` elements, whose gradient is multiplied by a factor first; converts: on
 * floats of x and g, which have a reduced type. */
static int step_run(dpt__context *context, int type, int64_t count, char *x, char *g, double factor,
                    step_block *block, const void *args, int converts,
                    const struct dpt__step_copy *copy) {
  dpt__row_fn *widen = dpt__rows_pick()->convert[DPT_F32][type];
  dpt__row_fn *narrow = dpt__rows_pick()->convert[type][DPT_F32];
  dpt__row_fn *mul = dpt__rows_pick()->map[DPT__MAP_mul][dpt__compute_dtype(type)];
  int64_t width = (int64_t)dpt__dtype_size(type), size = converts ? STRIP : BLOCK;
#pragma omp parallel for num_threads(dpt__threads(context, count)) schedule(static)
  for (int64_t first = 0; first < count; first += size) {
    int64_t n = dpt__min(size, count - first), at = first * width;
    float floats[2][STRIP];
    void *own_x = converts ? (void *)floats[0] : x + at;
    void *own_g = converts ? (void *)floats[1] : g + at;
    if (converts) widen(n, own_x, x + at, NULL, NULL, 0, 0);
    if (converts) widen(n, own_g, g + at, NULL, NULL, 0, 0);
    if (factor != 1) mul(n, own_g, own_g, NULL, NULL, factor, 0);
    block(args, own_x, own_g, first, n);
    if (converts) narrow(n, x + at, own_x, NULL, NULL, 0, 0);
    step_copy(copy, own_x, first, n); /* floats, if there is one */
  }
  return 0;
}

static int step_sgd(dpt__context *context, const struct dpt__sgd_args *a, double factor,
                    const struct dpt__step_copy *copy) {
  int plain = !a->v && !a->rates && !a->decays && a->decay == 0 && factor == 1 &&
              dpt__rows_pick()->map[DPT__MAP_cadd][a->type];
  step_block *block = plain ? sgd_plain : a->type == DPT_F64 ? sgd_block_f64 : sgd_block_f32;
  return step_run(context, a->type, a->n, a->x, a->g, factor, block, a,
                  !plain && dpt__is_reduced(a->type), copy);
}

static int step_adam(dpt__context *context, const struct dpt__adam_args *a, double factor,
                     const struct dpt__step_copy *copy) {
  step_block *block = a->type == DPT_F64 ? adam_block_f64 : adam_block_f32;
  return step_run(context, a->type, a->n, a->x, a->g, factor, block, a, dpt__is_reduced(a->type),
                  copy);
}

static const struct dpt__step_copy none;

int dpt__host_sgd(dpt__context *context, const void *args) {
  return step_sgd(context, args, 1, &none);
}

int dpt__host_adam(dpt__context *context, const void *args) {
  return step_adam(context, args, 1, &none);
}

/* Writes the copy of x, floats that a skipped step does not change. */
static int step_skip(dpt__context *context, const float *x, const struct dpt__step_copy *copy) {
#pragma omp parallel for num_threads(dpt__threads(context, copy->n)) schedule(static)
  for (int64_t first = 0; first < copy->n; first += BLOCK) step_copy(copy, x + first, first, BLOCK);
  return 0;
}

int dpt__host_sgd_mixed(dpt__context *context, const void *args) {
  const struct dpt__sgd_mixed_args *all = args;
  const double *scaler = all->scaler.scaler;
  struct dpt__sgd_args a = all->step;
  if (!scaler) return step_sgd(context, &a, 1, &all->copy);
  if (scaler[DPT_SCALER_FINITE] == 0) return step_skip(context, a.x, &all->copy);
  dpt__sgd_numbers(&a, all->scaler.count);
  return step_sgd(context, &a, scaler[DPT_SCALER_FACTOR], &all->copy);
}

int dpt__host_adam_mixed(dpt__context *context, const void *args) {
  const struct dpt__adam_mixed_args *all = args;
  const double *scaler = all->scaler.scaler;
  struct dpt__adam_args a = all->step;
  if (!scaler) return step_adam(context, &a, 1, &all->copy);
  if (scaler[DPT_SCALER_FINITE] == 0) return step_skip(context, a.x, &all->copy);
  dpt__adam_numbers(&a, all->scaler.count);
  return step_adam(context, &a, scaler[DPT_SCALER_FACTOR], &all->copy);
}
