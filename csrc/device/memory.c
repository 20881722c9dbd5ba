/* memory.c: memory is given back: by the caches, and by Lua's collector in time. */
#include "base/dtype.h"
#include "device/allocator.h"
#include "device/device.h"
#include "device/graph.h"

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
static atomic_uint rounds;               /* how often the soft limit was reached */
static _Thread_local unsigned own_round; /* in which this thread has collected */

static int64_t memory_live_bytes(void) { return dpt_host_live_bytes() + dpt_device_live_bytes(); }

/* What is live is also the garbage of other threads: limits that each thread makes for itself, or
 * twice what is live, would rise with that without end. */
int dpt_collect_due(int kind, int64_t size) {
  int64_t bytes = size * (int64_t)dpt__dtype_size(dpt__dtype(kind));
  if (own_round != atomic_load(&rounds)) return 1;
  if (memory_live_bytes() + bytes > atomic_load(&soft_limit)) {
    unsigned before = own_round;
    atomic_compare_exchange_strong(&rounds, &before, own_round + 1);
    return 1;
  }
  dpt__device *device;
  if (!dpt__is_device(kind) || dpt__device_find("collect", 0, &device)) return 0;
  return dpt__memory_over_limit(device->number, bytes);
}

void dpt_collect_done(int64_t heap) {
  int64_t live = memory_live_bytes(), more = live / 4 > STEP ? live / 4 : STEP;
  if (more < 2 * heap) more = 2 * heap; /* walking a large heap must pay */
  atomic_store(&soft_limit, live + more);
  own_round = atomic_load(&rounds);
}
