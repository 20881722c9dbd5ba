/* draws.c: the random state of every device, and each thread's stack of passes (see draws.h). */
#include "device/draws.h"

#include "base/lock.h"
#include "device/allocator.h"
#include "device/capture.h"
#include "device/device.h"

#include <sys/random.h>
#include <time.h>

uint64_t dpt__random_seed(void) {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec;
  }
  return seed >> 11;
}

static dpt__mutex lock = DPT__MUTEX_INIT;
static struct {
  int seeded;
  dpt__draws now;
} states[DPT__MAX_DEVICES + 1] DPT__GUARDED_BY(lock);

/* A thread's passes, the last one innermost. */
enum { DEPTH = 8 };
static _Thread_local struct {
  int n;
  struct {
    int device; /* 0: the pass is over for its device */
    dpt_pass pass;
  } list[DEPTH];
} passes;

static dpt_pass *draws_pass_on(int device) {
  int last = passes.n - 1;
  return last >= 0 && passes.list[last].device == device ? &passes.list[last].pass : NULL;
}

static dpt__draws *draws_at(int device) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  if (!states[device].seeded) {
    states[device].seeded = 1;
    states[device].now = (dpt__draws){dpt__random_seed(), 0};
  }
  return &states[device].now;
}

dpt__draws dpt__draws_take(int device, uint64_t count) {
  dpt_pass *pass = draws_pass_on(device);
  dpt__draws now;
  if (count) dpt__effect();
  if (pass) {
    now = (dpt__draws){pass->seed, pass->offset};
    pass->offset += count;
    return now;
  }
  dpt__lock(&lock);
  dpt__draws *state = draws_at(device);
  now = *state;
  state->offset += count;
  dpt__unlock(&lock);
  return now;
}

dpt__draws dpt__draws_get(int device) { return dpt__draws_take(device, 0); }

void dpt__draws_set(int device, dpt__draws state) {
  dpt_pass *pass = draws_pass_on(device);
  if (pass) pass->seed = state.seed, pass->offset = state.offset;
  dpt__lock(&lock);
  states[device].seeded = 1;
  states[device].now = state;
  dpt__unlock(&lock);
}

void dpt__draws_seed(int device, uint64_t seed) {
  if (draws_pass_on(device)) passes.list[passes.n - 1].device = 0;
  dpt__draws_set(device, (dpt__draws){seed, 0});
}

/* Replica r adds r * LANE to its seed. LANE is odd, so that the seeds of replicas never coincide,
 * and large, so that they differ from the small seeds that scripts set. */
static const uint64_t LANE = 0x9E3779B97F4A7C15;

static int draws_captured(dpt__capture *capture, dpt_draw *draw) {
  if (!capture->live) {
    dpt__block *block;
    DPT__TRY(dpt__block_alloc(capture->stream->device, sizeof(dpt__draws), &block));
    int failed = dpt__block_pin(block, capture);
    if (!failed) capture->live = block->data;
    dpt__block_free(block);
    if (failed) return 1;
  }
  *draw = (dpt_draw){.offset = capture->draws++, .live_ = capture->live};
  return 0;
}

int dpt__draws_next(const char *fn, int device, int64_t rows, dpt_draw *draw) {
  const dpt_pass *pass = draws_pass_on(device);
  if (dpt__own_capture) {
    if (pass) return dpt__capture_reject(fn, "it draws what goes by the replica");
    return draws_captured(dpt__own_capture, draw);
  }
  dpt__draws state = dpt__draws_take(device, 1);
  *draw = (dpt_draw){.seed = state.seed, .offset = state.offset};
  if (!pass) return 0;
  if (rows && pass->rows && rows % pass->rows == 0)
    draw->first_row = pass->first_row * (rows / pass->rows);
  else
    draw->seed += (uint64_t)pass->replica * LANE;
  return 0;
}

int dpt_pass_make(dpt_pass *pass, int device) {
  dpt__device *there;
  DPT__TRY(dpt__device_find("a pass", device, &there));
  dpt__draws state = dpt__draws_get(there->number);
  *pass = (dpt_pass){.seed = state.seed, .offset = state.offset, .device = there->number};
  return 0;
}

int dpt_pass_enter(const dpt_pass *pass) {
  if (passes.n == DEPTH)
    return dpt__fail("a pass: %d passes lie within each other, which is the maximum", DEPTH);
  int device;
  DPT__TRY(dpt_device_get(&device));
  passes.list[passes.n].device = device;
  passes.list[passes.n++].pass = *pass;
  return 0;
}

void dpt_pass_leave(void) {
  if (!passes.n) return;
  passes.n--;
  if (!passes.list[passes.n].device) return;
  const dpt_pass *pass = &passes.list[passes.n].pass;
  dpt_pass *outer = draws_pass_on(pass->device);
  if (outer) {
    if (outer->seed == pass->seed && outer->offset < pass->offset) outer->offset = pass->offset;
    return;
  }
  dpt__lock(&lock);
  dpt__draws *state = draws_at(pass->device);
  if (state->seed == pass->seed && state->offset < pass->offset) state->offset = pass->offset;
  dpt__unlock(&lock);
}
