/* step.c: optimizer steps over flat vectors.
 *
 * Invariant: each element goes through optim's operations in optim's order, a block of elements at
 * a time, so that memory is traversed once.
 */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/rows.h"

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

/* Runs steps of `count` elements; converts: on floats of x and g, which have a reduced type. */
static int step_run(dpt__context *context, int type, int64_t count, char *x, char *g,
                    step_block *block, const void *args, int converts,
                    const struct dpt__step_copy *copy) {
  dpt__row_fn *widen = dpt__rows_pick()->convert[DPT_F32][type];
  dpt__row_fn *narrow = dpt__rows_pick()->convert[type][DPT_F32];
  int64_t width = (int64_t)dpt__dtype_size(type), size = converts ? STRIP : BLOCK;
#pragma omp parallel for num_threads(dpt__threads(context, count)) schedule(static)
  for (int64_t first = 0; first < count; first += size) {
    int64_t n = dpt__min(size, count - first), at = first * width;
    float floats[2][STRIP];
    if (!converts) {
      block(args, x + at, g + at, first, n);
      step_copy(copy, x + at, first, n);
      continue;
    }
    widen(n, floats[0], x + at, NULL, NULL, 0, 0);
    widen(n, floats[1], g + at, NULL, NULL, 0, 0);
    block(args, floats[0], floats[1], first, n);
    narrow(n, x + at, floats[0], NULL, NULL, 0, 0);
  }
  return 0;
}

static int step_sgd(dpt__context *context, const struct dpt__sgd_args *a,
                    const struct dpt__step_copy *copy) {
  int plain = !a->v && !a->rates && !a->decays && a->decay == 0 &&
              dpt__rows_pick()->map[DPT__MAP_cadd][a->type];
  step_block *block = plain ? sgd_plain : a->type == DPT_F64 ? sgd_block_f64 : sgd_block_f32;
  return step_run(context, a->type, a->n, a->x, a->g, block, a, !plain && dpt__is_reduced(a->type),
                  copy);
}

static int step_adam(dpt__context *context, const struct dpt__adam_args *a,
                     const struct dpt__step_copy *copy) {
  step_block *block = a->type == DPT_F64 ? adam_block_f64 : adam_block_f32;
  return step_run(context, a->type, a->n, a->x, a->g, block, a, dpt__is_reduced(a->type), copy);
}

static const struct dpt__step_copy none;

int dpt__host_sgd(dpt__context *context, const void *args) {
  return step_sgd(context, args, &none);
}

int dpt__host_adam(dpt__context *context, const void *args) {
  return step_adam(context, args, &none);
}

int dpt__host_sgd_copy(dpt__context *context, const void *args) {
  const struct dpt__sgd_copy_args *a = args;
  return step_sgd(context, &a->step, &a->copy);
}

int dpt__host_adam_copy(dpt__context *context, const void *args) {
  const struct dpt__adam_copy_args *a = args;
  return step_adam(context, &a->step, &a->copy);
}
