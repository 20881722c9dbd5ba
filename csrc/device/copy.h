/* copy.h: the one primitive that copies bytes within a device and between devices.
 *
 * Invariant: every byte copied from one device to another is counted (dpt_copied_bytes), also by
 * code that copies in another way. On host devices such a copy sleeps for the time that DPT_LINK
 * specifies.
 */
#ifndef DPT_DEVICE_COPY_H
#define DPT_DEVICE_COPY_H
#include "device/allocator.h"
#include "device/bytes.h"
#include "device/storage.h"

/* Queues a copy on stream, from and to memory of two storages, and records that the stream uses
 * both and writes one. A storage that is NULL, or of ordinary host memory, must be kept alive by
 * the caller; a graph that is being captured cannot hold such a copy, which is rejected. The stream
 * belongs to one of the two devices; the copy is not ordered with other streams (dpt__copy_between
 * is). */
int dpt__copy_on(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                 const void *from, dpt_storage *from_storage, size_t bytes);

/* Blocks the caller until a copy to a device, whose stream was idle before it, or to the host (0)
 * is done. */
int dpt__copy_finish(int device, dpt__event event);

/* Like dpt__copy_on, but waits for the copy, which runs in this thread if the stream is idle. */
int dpt__copy_await(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                    const void *from, dpt_storage *from_storage, size_t bytes);

/* Adds bytes that a backend's library has copied between devices to dpt_copied_bytes. */
void dpt__copied_add(uint64_t bytes);

/* A batch of copies, queued as few items: start, add each copy, end. The copies run in any order.
 * Pieces that are adjacent in memory on both sides are merged. */
typedef struct dpt__copies {
  dpt__stream *stream;
  const char *fn;
  int awaited;           /* as in dpt__context */
  dpt__block *to, *from; /* the blocks of the last piece */
  struct dpt__copy_bytes_args args;
} dpt__copies;
void dpt__copies_start(dpt__copies *copies, dpt__stream *stream, const char *fn);
int dpt__copies_add(dpt__copies *copies, void *to, dpt_storage *to_storage, const void *from,
                    dpt_storage *from_storage, size_t bytes);
int dpt__copies_end(dpt__copies *copies);

/* Copies between two storages on (two) devices, in the order a user expects: on the current stream
 * of to's device, after all work queued on the current stream of from's device, and before work
 * that is queued there later. Offsets and size in bytes; nothing is checked. */
int dpt__copy_between(const char *fn, dpt_storage *to, size_t to_offset, dpt_storage *from,
                      size_t from_offset, size_t bytes);

#endif
