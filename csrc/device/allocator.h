/* allocator.h: device memory and page-locked host memory, given out again in stream order.
 *
 * What must stay true: a block is born on a stream (the current one of its device); given back, it
 * is given out again on that stream without a wait, and only after the last events of the other
 * streams that used it. Giving back is legal on any thread and never waits.
 */
#ifndef DPT_DEVICE_ALLOCATOR_H
#define DPT_DEVICE_ALLOCATOR_H
#include "device/stream.h"

typedef struct dpt__block dpt__block;
struct dpt__block {
  void *data;
  size_t bytes;
  dpt__stream *birth;          /* NULL: page-locked host memory */
  _Atomic(dpt__stream *) last; /* the stream of the last use, so that most uses cost one load */
  int nused;                   /* streams other than birth that used it */
  dpt__stream *used[8];
};

/* Memory of a device, born on this thread's current stream of it; device 0: page-locked host
 * memory. */
int dpt__block_take(int device, size_t bytes, dpt__block **block);
void dpt__block_give(dpt__block *block);
/* Work on stream uses the block from now on. */
void dpt__block_use(dpt__block *block, dpt__stream *stream);

#endif
