/* device_random.c: the random state (seed, offset) of every device.
 *
 * What must stay true: a device that nobody seeded seeds itself at random at its first draw; each
 * draw moves the offset by one. The lock guards the table.
 */
#include "device/device.h"
#include "ops/random.h"
#include "tensor/tensor.h"

#include <pthread.h>
#include <string.h>

typedef struct state {
  uint64_t seed, offset;
} state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int seeded;
  state now;
} states[DPT__MAX_DEVICES + 1];

/* Gives the number of an existing device; 0 means the current one. */
static int find(const char *fn, int *device) {
  dpt__device *there;
  if (*device == 0) DPT__TRY(dpt_device_get(device));
  return dpt__device_find(fn, *device, &there);
}

static state *at(int device) {
  if (!states[device].seeded) {
    states[device].seeded = 1;
    states[device].now = (state){dpt__random_seed(), 0};
  }
  return &states[device].now;
}

static void set(int device, state now) {
  pthread_mutex_lock(&lock);
  states[device].seeded = 1;
  states[device].now = now;
  pthread_mutex_unlock(&lock);
}

static state get(int device, uint64_t more) {
  pthread_mutex_lock(&lock);
  state *s = at(device), now = *s;
  s->offset += more;
  pthread_mutex_unlock(&lock);
  return now;
}

int dpt__device_draw(int device, uint64_t *seed, uint64_t *offset) {
  state now = get(device, 1);
  *seed = now.seed;
  *offset = now.offset;
  return 0;
}

int dpt_device_manual_seed(int device, uint64_t seed) {
  DPT__TRY(find("manualSeed", &device));
  set(device, (state){seed, 0});
  return 0;
}

void dpt_devices_manual_seed(uint64_t seed) {
  for (int device = 1; device <= DPT__MAX_DEVICES; device++) set(device, (state){seed, 0});
}

int dpt_device_seed(int device, uint64_t *seed) {
  DPT__TRY(find("seed", &device));
  *seed = dpt__random_seed();
  set(device, (state){*seed, 0});
  return 0;
}

int dpt_device_initial_seed(int device, uint64_t *seed) {
  DPT__TRY(find("initialSeed", &device));
  *seed = get(device, 0).seed;
  return 0;
}

int dpt_device_rng_get(int device, dpt_tensor *r) {
  const int64_t size = sizeof(state);
  DPT__TRY(find("getRNGState", &device));
  if (r->kind_ != DPT_U8)
    return dpt__fail("getRNGState: the state goes into a torch.ByteTensor, got a %s",
                     dpt__kind_name(r->kind_));
  dpt_tensor fresh;
  DPT__TRY(dpt_tensor_new(&fresh, DPT_U8, 1, &size));
  state now = get(device, 0);
  memcpy(dpt__at(&fresh), &now, sizeof now);
  int failed = dpt_tensor_set(r, &fresh);
  dpt_tensor_free(&fresh);
  return failed;
}

int dpt_device_rng_set(int device, const dpt_tensor *from) {
  char text[DPT__TEXT];
  state now;
  DPT__TRY(find("setRNGState", &device));
  if (from->kind_ != DPT_U8 || dpt__count(from) != sizeof now || !dpt__contiguous(from))
    return dpt__fail("setRNGState: wanted what getRNGState gave, got a %s",
                     dpt__describe(text, from));
  memcpy(&now, dpt__at(from), sizeof now);
  set(device, now);
  return 0;
}
