/* device_random.c: the random state of every device, as scripts read and set it. */
#include "device/device.h"
#include "device/draws.h"
#include "ops/generator.h"
#include "ops/random.h"
#include "tensor/tensor.h"

/* Replaces device 0 by the current device; fails if the device does not exist. */
static int device_random_find(const char *fn, int *device) {
  dpt__device *there;
  if (*device == 0) DPT__TRY(dpt_device_get(device));
  return dpt__device_find(fn, *device, &there);
}

int dpt_device_manual_seed(int device, uint64_t seed) {
  DPT__TRY(device_random_find("manualSeed", &device));
  dpt__draws_seed(device, seed);
  return 0;
}

void dpt_devices_manual_seed(uint64_t seed) {
  for (int device = 1; device <= DPT__MAX_DEVICES; device++) dpt__draws_seed(device, seed);
}

int dpt_device_seed(int device, uint64_t *seed) {
  DPT__TRY(device_random_find("seed", &device));
  *seed = dpt__random_seed();
  dpt__draws_seed(device, *seed);
  return 0;
}

int dpt_device_initial_seed(int device, uint64_t *seed) {
  DPT__TRY(device_random_find("initialSeed", &device));
  *seed = dpt__draws_get(device).seed;
  return 0;
}

int dpt_device_rng_get(int device, dpt_tensor *r) {
  DPT__TRY(device_random_find("getRNGState", &device));
  dpt__draws now = dpt__draws_get(device);
  return dpt__state_put(r, &now, sizeof now);
}

int dpt_device_rng_set(int device, const dpt_tensor *from) {
  dpt__draws now;
  DPT__TRY(device_random_find("setRNGState", &device));
  DPT__TRY(dpt__state_take(from, &now, sizeof now));
  dpt__draws_set(device, now);
  return 0;
}

int dpt_draw_next(dpt_draw *draw, const dpt_tensor *like, dpt_generator *g, int64_t rows) {
  *draw = (dpt_draw){0};
  if (dpt__is_device(like->kind_))
    return dpt__count(like) ? dpt__draws_next("a draw", dpt_tensor_device(like), rows, draw) : 0;
  if (dpt__count(like) == 0 && !dpt__rows_drawn()) return 0;
  dpt__drawer from = dpt__draw_from(g);
  draw->first_row = dpt__rows_offset(rows);
  uint64_t high = dpt__draw(from);
  draw->seed = high << 32 | dpt__draw(from);
  return 0;
}
