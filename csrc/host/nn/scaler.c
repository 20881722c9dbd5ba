/* scaler.c: the numbers of a loss scaler, and products with one of them. */
#include "nn/scaler.h"
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/stored.h"

enum { STRIP = 1024 };

int dpt__host_scaler_step(dpt__context *context, const void *args) {
  (void)context;
  dpt__scaler_step(args);
  return 0;
}

int dpt__host_step_count(dpt__context *context, const void *args) {
  (void)context;
  dpt__step_count(args);
  return 0;
}

int dpt__host_scale_by(dpt__context *context, const void *args) {
  const struct dpt__scale_by_args *a = args;
  const void *x = a->x ? a->x : a->r;
  dpt__row_fn *mul = dpt__rows_pick()->map[DPT__MAP_mul][dpt__compute_dtype(a->type)];
  dpt__stored s = dpt__stored_of(a->type);
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t i = 0; i < a->n; i += STRIP) {
    float room[STRIP];
    int64_t n = dpt__min(STRIP, a->n - i);
    const void *from = dpt__stored_read(&s, x, i, n, room);
    void *to = dpt__stored_place(&s, a->r, i, room);
    mul(n, to, from, NULL, NULL, *a->factor, 0);
    dpt__stored_write(&s, a->r, i, n, to);
  }
  return 0;
}
