/* allocator.h: device memory and page-locked host memory, allocated in stream order.
 *
 * Invariant: a block is allocated on a stream, the current one of its device (page-locked memory on
 * none). After it is freed it can be allocated again on that stream without a wait, and only after
 * the last events of the other streams that used it. Any thread may free a block, and freeing never
 * waits. Memory is returned to the system only after the work queued on it has run.
 */
#ifndef DPT_DEVICE_ALLOCATOR_H
#define DPT_DEVICE_ALLOCATOR_H
#include "device/capture.h"
#include "device/heap.h"

/* Allocates memory of a device, 64-byte aligned; device 0: page-locked host memory. If there is not
 * enough, fails with the live, cached and requested bytes. */
int dpt__block_alloc(int device, size_t bytes, dpt__block **block);
/* Allocates on a given stream, on its device; the block is not counted as a tensor's. */
int dpt__block_alloc_on(dpt__stream *stream, size_t bytes, dpt__block **block);
void dpt__block_free(dpt__block *block);

/* Marks the block as used by captured work: it becomes free only after its user has freed it and
 * the graph has unpinned it. */
int dpt__block_pin(dpt__block *block, dpt__capture *capture);
void dpt__block_unpin(dpt__block *block);

/* The slow path: a stream uses the block for the first time. */
int dpt__block_use_first(dpt__block *block, dpt__stream *stream);

/* Records that work queued on stream from now on uses the block. */
static inline int dpt__block_use(dpt__block *block, dpt__stream *stream) {
  dpt__capture *capture = atomic_load_explicit(&stream->capture, memory_order_relaxed);
  if (capture && capture == dpt__own_capture) DPT__TRY(dpt__block_pin(block, capture));
  if (stream == block->stream) return 0;
  if (stream == atomic_load_explicit(&block->last_user, memory_order_acquire)) return 0;
  return dpt__block_use_first(block, stream);
}

/* Returns unused memory of a device (0: page-locked host memory) to the system. */
void dpt__cache_empty(int device);
/* Returns true if that many live bytes more would exceed the limit set by a script. */
int dpt__memory_over_limit(int device, int64_t bytes);

#endif
