/* allocator.c: device memory in stream order (allocator.h has the rules). */
#include "device/allocator.h"

#include "device/device.h"
#include "device/fault.h"

#include <stdlib.h>
#include <string.h>

int dpt__block_take(int device, size_t bytes, dpt__block **block) {
  dpt__block *b = calloc(1, sizeof *b);
  if (!b) return dpt__fail("no host memory for a block");
  b->bytes = bytes;
  if (device) {
    b->birth = dpt__current_stream(device);
    atomic_init(&b->last, b->birth);
  }
  if (!dpt__fault(DPT__FAULT_MALLOC)) dpt__host.memory_take(0, bytes, &b->data);
  if (!b->data) {
    free(b);
    return dpt__fail("out of memory on device %d: %zu bytes wanted", device, bytes);
  }
  *block = b;
  return 0;
}

void dpt__block_use(dpt__block *block, dpt__stream *stream) {
  if (stream == atomic_load_explicit(&block->last, memory_order_relaxed)) return;
  atomic_store(&block->last, stream);
  for (int i = 0; i < block->nused; i++)
    if (block->used[i] == stream) return;
  if (stream != block->birth && block->nused < 8) block->used[block->nused++] = stream;
}

static int run_free(dpt__context *context, const void *args) {
  dpt__block *b = *(dpt__block *const *)args;
  free(b->data);
  free(b);
  return 0;
}

void dpt__block_give(dpt__block *block) {
  dpt__stream *stream = block->birth ? block->birth : block->last;
  if (!stream) {
    free(block->data);
    free(block);
    return;
  }
  for (int i = 0; i < block->nused; i++)
    dpt__stream_wait(stream, dpt__event_record(block->used[i]));
  dpt__stream_push(stream, run_free, "free", &block, sizeof block);
}
