/* memory.c: returns unused memory: empties caches, and tells Lua when to collect. */
#include "base/dtype.h"
#include "device/allocator.h"
#include "device/device.h"
#include "device/graph.h"
#include "device/storage.h"

int dpt_memory_empty_cache(int device) {
  dpt__device *found;
  DPT__TRY(dpt__device_find("emptyCache", device, &found));
  dpt__graphs_sweep();
  dpt__cache_empty(found->number);
  dpt__cache_empty(0);
  return 0;
}

enum { STEP = 256 << 20 };
static _Atomic int64_t soft_limit = STEP;
static _Thread_local int64_t own_limit = STEP; /* for bytes allocated by this thread */
static atomic_uint rounds;                     /* the number of times the soft limit was reached */
static _Thread_local unsigned own_round;       /* the last round in which this thread collected */

static int64_t memory_live_bytes(void) { return dpt_host_live_bytes() + dpt_device_live_bytes(); }

/* The live bytes include the garbage of other threads, which may not run for a while. So the soft
 * limit, which is above the live bytes, may rise with that garbage. Each thread's own limit is
 * above what the thread itself allocated, whatever the others do. */
int dpt_collect_due(int kind, int64_t size) {
  int64_t bytes = size * (int64_t)dpt__dtype_size(dpt__dtype(kind));
  if (own_round != atomic_load(&rounds)) return 1;
  if (memory_live_bytes() + bytes > atomic_load(&soft_limit)) {
    unsigned before = own_round;
    atomic_compare_exchange_strong(&rounds, &before, own_round + 1);
    return 1;
  }
  if (dpt__own_live_bytes + bytes > own_limit) return 1;
  dpt__device *device;
  if (!dpt__is_device(kind) || dpt__device_find("collect", 0, &device)) return 0;
  return dpt__memory_over_limit(device->number, bytes);
}

/* Returns the distance of a limit above the live bytes after a collection. heap: the size of Lua's
 * heap after it. */
static int64_t memory_headroom(int64_t live, int64_t heap) {
  int64_t more = live / 4 > STEP ? live / 4 : STEP;
  return more < 2 * heap ? 2 * heap : more; /* a large heap is expensive to traverse */
}

/* If a thread allocates memory that others free, its own bytes grow without bound, so they are
 * capped by the live bytes here. A thread that has collected alone must not raise the soft limit,
 * or others never collect. */
void dpt_collect_done(int64_t heap) {
  int64_t live = memory_live_bytes(), own = dpt__own_live_bytes;
  own_limit = own + memory_headroom(own < live ? own : live, heap);
  unsigned round = atomic_load(&rounds);
  int64_t limit = live + memory_headroom(live, heap);
  if (own_round != round || limit < atomic_load(&soft_limit)) atomic_store(&soft_limit, limit);
  own_round = round;
}
