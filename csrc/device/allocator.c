/* allocator.c: blocks of device memory in stream order (see allocator.h).
 *
 * Small blocks are split off segments of 2 MiB, larger ones off segments of 20 MiB, and those above
 * 10 MiB have segments of their own size. Near the limit a segment is only as large as the block. A
 * block used by other streams is pending after it was freed; pending blocks are checked at each
 * allocation.
 *
 * Locks: each pool has two. `lock` is held for short steps, never during a wait for a device's
 * work; but the backend allocates and frees memory under it, which may take long (cudaMalloc,
 * cudaFree). Under it only the locks of backend events are taken (dpt__event_done). `emptying` is
 * taken before `lock` and held while the cache is emptied, including waits, so that another thread
 * that finds no memory waits for what this one is about to free.
 */
#include "device/allocator.h"

#include "device/device.h"
#include "device/fault.h"
#include "device/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MiB ((size_t)1 << 20)
static const size_t SMALL = MiB, SMALL_SEGMENT = 2 * MiB, MEDIUM = 10 * MiB,
                    MEDIUM_SEGMENT = 20 * MiB;

/* The free blocks of one stream. */
typedef struct heap {
  dpt__stream *stream;
  struct heap *next;
  dpt__bins small, large;
} heap;

/* A device's memory; [0]: page-locked host memory. */
typedef struct pool {
  dpt__mutex emptying, lock;
  heap *heaps DPT__GUARDED_BY(lock);
  dpt__block *pending DPT__GUARDED_BY(lock); /* freed, used by other streams */
  int64_t live DPT__GUARDED_BY(lock);        /* bytes of live blocks */
  int64_t taken DPT__GUARDED_BY(lock);       /* of all segments */
  int64_t peak DPT__GUARDED_BY(lock);        /* of live */
  int64_t limit DPT__GUARDED_BY(lock);       /* 0: none */
  /* the numbers of blocks of tensors and of segments allocated since the start */
  int64_t blocks DPT__GUARDED_BY(lock), segments DPT__GUARDED_BY(lock);
} pool;

static pool pools[DPT__MAX_DEVICES + 1] = {
    [0 ... DPT__MAX_DEVICES] = {.emptying = DPT__MUTEX_INIT, .lock = DPT__MUTEX_INIT}};

static atomic_llong live_everywhere; /* bytes of live blocks of all pools */

int64_t dpt_device_live_bytes(void) {
  return atomic_load_explicit(&live_everywhere, memory_order_relaxed);
}

/* ---- memory of the system ---- */

/* Returns the device on which a pool allocates memory. Page-locked memory is locked for all
 * devices, which are of one backend, and is allocated on this thread's current one. NULL: no
 * devices. */
static dpt__device *allocator_device(int number) {
  dpt__device *device = NULL;
  if (number) return dpt__device_at(number);
  return dpt__device_find("allocation", 0, &device) ? NULL : device;
}

static const dpt__backend *backend_of(const dpt__device *device) {
  return device ? device->backend : &dpt__host;
}

static int allocator_raw_alloc(int device, size_t bytes, void **data) {
  const dpt__device *d = allocator_device(device);
  const dpt__backend *backend = backend_of(d);
  return (device ? backend->memory_alloc : backend->pinned_alloc)(d ? d->index : 0, bytes, data);
}

static void allocator_raw_free(dpt__block *block) {
  const dpt__device *d = allocator_device(block->device);
  if (block->device)
    d->backend->memory_free(d->index, block->data, block->bytes);
  else
    backend_of(d)->pinned_free(block->data, block->bytes);
}

/* ---- blocks that other streams used ---- */

int dpt__block_use_first(dpt__block *block, dpt__stream *stream) {
  pool *p = &pools[block->device];
  int status = 0;
  dpt__lock(&p->lock);
  int i = 0;
  while (i < block->nuser && block->users[i].stream != stream) i++;
  if (i == block->nuser && i == block->user_capacity) {
    int capacity = i ? i * 2 : 4;
    dpt__event *users = realloc(block->users, (size_t)capacity * sizeof *users);
    if (users) {
      block->users = users;
      block->user_capacity = capacity;
    } else {
      status = dpt__no_memory("no host memory to record a stream that uses a block");
    }
  }
  if (!status) {
    if (i == block->nuser) block->users[block->nuser++] = (dpt__event){stream, 0};
    atomic_store_explicit(&block->last_user, stream, memory_order_release);
  }
  dpt__unlock(&p->lock);
  return status;
}

static int allocator_is_done(const dpt__block *block) {
  if (dpt__cache_off() && !dpt__event_done((dpt__event){block->stream, block->freed})) return 0;
  for (int i = 0; i < block->nuser; i++)
    if (!dpt__event_done(block->users[i])) return 0;
  return 1;
}

static void allocator_make_free(pool *p, dpt__block *block) DPT__REQUIRES(p->lock) {
  dpt__assert_held(&p->lock);
  if (dpt__cache_off()) {
    p->taken -= (int64_t)block->bytes;
    allocator_raw_free(block);
    free(block->users);
    free(block);
    return;
  }
  block->nuser = 0;
  atomic_store_explicit(&block->last_user, NULL, memory_order_relaxed);
  dpt__block_join(block);
}

/* Frees the block at once, or makes it pending until its streams have passed it. */
static void allocator_free_or_defer(pool *p, dpt__block *block) DPT__REQUIRES(p->lock) {
  dpt__assert_held(&p->lock);
  if (allocator_is_done(block)) {
    allocator_make_free(p, block);
  } else {
    block->next = p->pending;
    p->pending = block;
  }
}

/* Frees the pending blocks that are done, and returns their number. */
static int allocator_poll_pending(pool *p) DPT__REQUIRES(p->lock) {
  dpt__assert_held(&p->lock);
  int n = 0;
  for (dpt__block **link = &p->pending; *link;) {
    dpt__block *block = *link;
    if (allocator_is_done(block)) {
      *link = block->next;
      allocator_make_free(p, block);
      n++;
    } else {
      link = &block->next;
    }
  }
  return n;
}

void dpt__block_free(dpt__block *block) {
  if (dpt__forked()) return; /* a thread that does not exist in this process may hold the lock */
  pool *p = &pools[block->device];
  dpt__lock(&p->lock);
  if (block->pins) {
    block->freed_by_user = 1;
    dpt__unlock(&p->lock);
    return;
  }
  p->live -= (int64_t)block->requested;
  if (dpt__tracing())
    dpt__trace_memory(block->device, block->data, -(int64_t)block->requested, p->live);
  atomic_fetch_sub_explicit(&live_everywhere, (long long)block->requested, memory_order_relaxed);
  if (block->stream) block->freed = dpt__event_last(block->stream).number;
  for (int i = 0; i < block->nuser; i++) block->users[i] = dpt__event_last(block->users[i].stream);
  allocator_free_or_defer(p, block);
  dpt__unlock(&p->lock);
}

int dpt__block_pin(dpt__block *block, dpt__capture *capture) {
  if (block->graph == capture->id) return 0;
  if (dpt__list_add(&capture->blocks, block))
    return dpt__no_memory("cutorch.graph: no host memory to record the blocks that it uses");
  pool *p = &pools[block->device];
  dpt__lock(&p->lock);
  block->pins++;
  block->graph = capture->id;
  dpt__unlock(&p->lock);
  return 0;
}

void dpt__block_unpin(dpt__block *block) {
  pool *p = &pools[block->device];
  dpt__lock(&p->lock);
  dpt__assert(block->pins > 0);
  int last = --block->pins == 0 && block->freed_by_user;
  if (last) block->freed_by_user = 0;
  dpt__unlock(&p->lock);
  if (last) dpt__block_free(block);
}

/* ---- segments ---- */

/* Removes whole free segments from the bins and prepends them to the list. */
static dpt__block *allocator_collect_bins(dpt__bins *bins, dpt__block *list) {
  for (int row = 0; row < DPT__BIN_ROWS; row++)
    for (int column = 0; column < DPT__BIN_COLUMNS; column++)
      for (dpt__block *b = bins->first[row][column], *next; b; b = next) {
        next = b->next;
        if (b->before || b->after) continue;
        dpt__bins_remove(bins, b);
        b->next = list;
        list = b;
      }
  return list;
}

/* Waits for the other streams' use of the blocks that are pending now, and returns how many of
 * those became free. During the wait they are in no list. */
static int allocator_await_pending(pool *p) DPT__REQUIRES(p->emptying) {
  dpt__lock(&p->lock);
  dpt__block *pending = p->pending;
  p->pending = NULL;
  dpt__unlock(&p->lock);
  (void)dpt__sync_point("pending blocks are taken");
  for (dpt__block *b = pending; b; b = b->next) {
    for (int i = 0; i < b->nuser; i++) dpt__event_wait_keep_error(b->users[i]);
    if (dpt__cache_off()) dpt__event_wait_keep_error((dpt__event){b->stream, b->freed});
  }
  dpt__lock(&p->lock);
  while (pending) {
    dpt__block *next = pending->next;
    pending->next = p->pending;
    p->pending = pending;
    pending = next;
  }
  int n = allocator_poll_pending(p);
  dpt__unlock(&p->lock);
  return n;
}

/* Frees whole free segments and returns their number. Waits for the work that uses them. */
static int allocator_free_segments(pool *p) DPT__REQUIRES(p->emptying) {
  dpt__block *list = NULL;
  dpt__lock(&p->lock);
  allocator_poll_pending(p);
  for (heap *h = p->heaps; h; h = h->next)
    list = allocator_collect_bins(&h->large, allocator_collect_bins(&h->small, list));
  dpt__unlock(&p->lock);
  (void)dpt__sync_point("free segments are taken");
  for (dpt__block *b = list; b; b = b->next)
    dpt__event_wait_keep_error((dpt__event){b->stream, b->freed});
  int64_t bytes = 0;
  int n = 0;
  for (; list; n++) {
    dpt__block *next = list->next;
    bytes += (int64_t)list->bytes;
    allocator_raw_free(list);
    free(list->users);
    free(list);
    list = next;
  }
  dpt__lock(&p->lock);
  p->taken -= bytes;
  dpt__unlock(&p->lock);
  return n;
}

/* Finds or creates the heap of a stream; NULL if out of host memory. */
static heap *allocator_find_heap(pool *p, dpt__stream *stream) DPT__REQUIRES(p->lock) {
  dpt__assert_held(&p->lock);
  heap *h = p->heaps;
  while (h && h->stream != stream) h = h->next;
  if (h || !(h = calloc(1, sizeof *h))) return h;
  h->stream = stream;
  h->next = p->heaps;
  p->heaps = h;
  return h;
}

static size_t allocator_segment_size(size_t bytes) {
  if (bytes <= SMALL) return SMALL_SEGMENT;
  if (bytes <= MEDIUM) return MEDIUM_SEGMENT;
  return (bytes + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

/* Allocates a segment as one block in no bin; NULL: out of memory. */
static dpt__block *allocator_new_segment(pool *p, int device, dpt__stream *stream, dpt__bins *home,
                                         size_t bytes) DPT__REQUIRES(p->lock) {
  dpt__assert_held(&p->lock);
  if (p->limit && p->taken + (int64_t)bytes > p->limit) return NULL;
  dpt__block *block = calloc(1, sizeof *block);
  if (!block) return NULL;
  if (allocator_raw_alloc(device, bytes, &block->data) || !block->data) {
    free(block);
    return NULL;
  }
  block->bytes = bytes;
  block->device = device;
  block->home = home;
  block->stream = stream;
  p->taken += (int64_t)bytes;
  p->segments++;
  return block;
}

/* Finds a block, in no bin and cut to size; NULL: none. exact: allows a segment of just that
 * size. */
static dpt__block *allocator_find_block(pool *p, int device, dpt__stream *stream, size_t bytes,
                                        int exact) DPT__REQUIRES(p->lock) {
  allocator_poll_pending(p);
  heap *h = allocator_find_heap(p, stream);
  if (!h) return NULL;
  dpt__bins *bins = bytes <= SMALL ? &h->small : &h->large;
  dpt__block *block = NULL;
  if (!dpt__cache_off()) {
    block = dpt__bins_find(bins, bytes);
    if (block) dpt__bins_remove(bins, block);
    if (!block)
      block = allocator_new_segment(p, device, stream, bins, allocator_segment_size(bytes));
  }
  if (!block && (exact || dpt__cache_off()))
    block = allocator_new_segment(p, device, stream, bins, bytes);
  if (!block) return NULL;
  if (block->bytes - bytes >= (bytes <= SMALL ? DPT__GRAIN : SMALL)) dpt__block_cut(block, bytes);
  block->requested = bytes;
  return block;
}

/* Like allocator_find_block, but adds the block to the statistics: its bytes, and if `tensors` is 1
 * the number of tensors' blocks. */
static dpt__block *allocator_find_live(pool *p, int device, dpt__stream *stream, size_t bytes,
                                       int exact, int tensors) {
  dpt__lock(&p->lock);
  dpt__block *block = allocator_find_block(p, device, stream, bytes, exact);
  if (block) {
    p->live += (int64_t)bytes;
    p->blocks += tensors;
    if (p->live > p->peak) p->peak = p->live;
    if (dpt__tracing()) dpt__trace_memory(device, block->data, (int64_t)bytes, p->live);
    atomic_fetch_add_explicit(&live_everywhere, (long long)bytes, memory_order_relaxed);
  }
  dpt__unlock(&p->lock);
  return block;
}

/* Returns 0 if a device still responds; fails on a device that has failed. */
static int allocator_check_device(int number) {
  const dpt__device *d = allocator_device(number);
  int64_t left;
  return d && d->backend->memory_left ? d->backend->memory_left(d->index, &left) : 0;
}

static int allocator_out_of_memory(pool *p, int device, size_t bytes) {
  char where[48], limit[64] = "", space[64] = "";
  struct rlimit memory = {.rlim_cur = RLIM_INFINITY};
  getrlimit(RLIMIT_AS, &memory);
  if (memory.rlim_cur != RLIM_INFINITY)
    snprintf(space, sizeof space, ", RLIMIT_AS (ulimit -v) is %llu kB",
             (unsigned long long)memory.rlim_cur / 1024);
  snprintf(where, sizeof where, device ? "device %d" : "page-locked host memory", device);
  if (allocator_check_device(device)) return dpt__fail_in("%zu bytes on %s", bytes, where);
  dpt__lock(&p->lock);
  long long live = p->live, cached = p->taken - p->live;
  if (p->limit) snprintf(limit, sizeof limit, ", the limit is %lld", (long long)p->limit);
  dpt__unlock(&p->lock);
  return dpt__no_memory("out of memory on %s: %zu bytes asked, %lld live, %lld cached%s%s", where,
                        bytes, live, cached, limit, space);
}

static size_t allocator_whole_grains(size_t bytes) {
  return dpt__cache_off() ? bytes : (bytes + DPT__GRAIN - 1) / DPT__GRAIN * DPT__GRAIN;
}

/* Called after the first attempt fails. Frees cached memory and tries again, as long as any was
 * freed: another thread may have allocated it first, and may have cached it since. */
static dpt__block *allocator_reclaim(pool *p, int device, dpt__stream *stream, size_t bytes,
                                     int tensors) {
  enum { ROUNDS = 8 }; /* others could continue forever */
  dpt__block *block = NULL;
  dpt__lock(&p->emptying);
  for (int i = 0, more = 1; !block && more && i < ROUNDS; i++) {
    more = allocator_await_pending(p);
    more += allocator_free_segments(p);
    block = allocator_find_live(p, device, stream, bytes, 1, tensors);
  }
  dpt__unlock(&p->emptying);
  return block;
}

static int allocator_take(int device, dpt__stream *stream, size_t bytes, int tensors,
                          dpt__block **block) {
  pool *p = &pools[device];
  bytes = allocator_whole_grains(bytes);
  if (dpt__fault(DPT__FAULT_MALLOC)) return allocator_out_of_memory(p, device, bytes);
  *block = allocator_find_live(p, device, stream, bytes, 0, tensors);
  if (!*block) *block = allocator_reclaim(p, device, stream, bytes, tensors);
  return *block ? 0 : allocator_out_of_memory(p, device, bytes);
}

int dpt__block_alloc(int device, size_t bytes, dpt__block **block) {
  DPT__TRY(dpt__devices_ready("allocation"));
  return allocator_take(device, device ? dpt__current_stream(device) : NULL, bytes, 1, block);
}

int dpt__block_alloc_on(dpt__stream *stream, size_t bytes, dpt__block **block) {
  return allocator_take(stream->device, stream, bytes, 0, block);
}

/* ---- queries and settings ---- */

int dpt_memory_stats_get(int device, dpt_memory_stats *stats) {
  dpt__device *found;
  DPT__TRY(dpt__device_find("memoryStats", device, &found));
  pool *p = &pools[found->number];
  int64_t left = INT64_MAX; /* free on the system */
  if (found->backend->memory_left) DPT__TRY(found->backend->memory_left(found->index, &left));
  dpt__lock(&p->lock);
  int64_t total = p->limit ? p->limit : found->memory;
  int64_t cached = p->taken - p->live, most = total > p->live ? total - p->live : 0;
  left = left < most - cached ? left + cached : most; /* no overflow: left may be INT64_MAX */
  *stats = (dpt_memory_stats){.live = p->live,
                              .cached = cached,
                              .peak = p->peak,
                              .limit = p->limit,
                              .total = total,
                              .left = left,
                              .blocks = p->blocks,
                              .segments = p->segments};
  dpt__unlock(&p->lock);
  return 0;
}

int dpt_memory_peak_reset(int device) {
  dpt__device *found;
  DPT__TRY(dpt__device_find("resetPeakMemory", device, &found));
  pool *p = &pools[found->number];
  dpt__lock(&p->lock);
  p->peak = p->live;
  dpt__unlock(&p->lock);
  return 0;
}

int dpt_memory_limit_set(int device, int64_t bytes) {
  dpt__device *found;
  DPT__TRY(dpt__device_find("setMemoryLimit", device, &found));
  if (bytes < 0)
    return dpt__fail("setMemoryLimit: got %lld bytes, wanted at least 0 (0: no limit)",
                     (long long)bytes);
  pool *p = &pools[found->number];
  dpt__lock(&p->lock);
  p->limit = bytes;
  dpt__unlock(&p->lock);
  return 0;
}

void dpt__cache_empty(int device) {
  pool *p = &pools[device];
  dpt__lock(&p->emptying);
  allocator_free_segments(p);
  dpt__unlock(&p->emptying);
}

int dpt__memory_over_limit(int device, int64_t bytes) {
  pool *p = &pools[device];
  dpt__lock(&p->lock);
  int over = p->limit && p->live + bytes > p->limit;
  dpt__unlock(&p->lock);
  return over;
}
