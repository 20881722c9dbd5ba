/* allocator.h: device memory and page-locked host memory, allocated in stream order.
 *
 * Invariant: a block is allocated on a stream, the current one of its device (page-locked memory on
 * none). After it is freed it is allocated again on that stream without a wait, and only after the
 * last events of the other streams that used it. Freeing is legal on any thread and never waits.
 * Memory goes back to the system only when the work that was queued on it has run.
 */
#ifndef DPT_DEVICE_ALLOCATOR_H
#define DPT_DEVICE_ALLOCATOR_H
#include "device/capture.h"
#include "device/heap.h"

/* Memory of a device, 64-byte aligned; device 0: page-locked host memory. If there is
 * none, an error message with the live, cached and wanted bytes. */
int dpt__block_alloc(int device, size_t bytes, dpt__block **block);
/* The same of a stream's device, born on that stream; it counts as no tensor's block. */
int dpt__block_alloc_on(dpt__stream *stream, size_t bytes, dpt__block **block);
void dpt__block_free(dpt__block *block);

/* Captured work uses the block: it is free only when the graph has unpinned it, too. */
int dpt__block_pin(dpt__block *block, dpt__capture *capture);
void dpt__block_unpin(dpt__block *block);

/* Out of line: a stream uses the block for the first time. */
int dpt__block_use_first(dpt__block *block, dpt__stream *stream);

/* Work that is queued on stream from now on uses the block. */
static inline int dpt__block_use(dpt__block *block, dpt__stream *stream) {
  dpt__capture *capture = atomic_load_explicit(&stream->capture, memory_order_relaxed);
  if (capture && capture == dpt__own_capture) DPT__TRY(dpt__block_pin(block, capture));
  if (stream == block->stream) return 0;
  if (stream == atomic_load_explicit(&block->last_user, memory_order_acquire)) return 0;
  return dpt__block_use_first(block, stream);
}

/* Memory of a device (0: page-locked host memory) that nothing uses goes back to the system. */
void dpt__cache_empty(int device);
/* Whether so many live bytes more would be beyond the limit that a script has set. */
int dpt__memory_over_limit(int device, int64_t bytes);

#endif
