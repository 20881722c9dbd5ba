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

enum { LEAST_SOFT_LIMIT = 256 << 20 };
static _Thread_local int64_t soft_limit = LEAST_SOFT_LIMIT;

static int64_t memory_live_bytes(void) { return dpt_host_live_bytes() + dpt_device_live_bytes(); }

int dpt_collect_due(int kind, int64_t size) {
  int64_t bytes = size * (int64_t)dpt__dtype_size(dpt__dtype(kind));
  if (memory_live_bytes() + bytes > soft_limit) return 1;
  dpt__device *device;
  if (!dpt__is_device(kind) || dpt__device_find("collect", 0, &device)) return 0;
  return dpt__memory_over_limit(device->number, bytes);
}

void dpt_collect_done(void) {
  int64_t next = 2 * memory_live_bytes();
  soft_limit = next > LEAST_SOFT_LIMIT ? next : LEAST_SOFT_LIMIT;
}
