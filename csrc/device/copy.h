/* copy.h: the one primitive that moves bytes within a device, and between devices.
 *
 * Invariant: every byte that goes from one device to another is counted (dpt_copied_bytes), also by
 * those who move it in another way; on host devices such a copy takes the time that DPT_LINK asks
 * for, asleep.
 */
#ifndef DPT_DEVICE_COPY_H
#define DPT_DEVICE_COPY_H
#include "device/allocator.h"
#include "device/bytes.h"
#include "device/storage.h"

/* Queues a copy on stream, from and to memory of two storages, and records that the stream uses
 * both and writes one; NULL, or one of ordinary host memory: the caller keeps it alive, and a graph
 * that is captured can't hold the copy, which is rejected. The stream is of one of the two devices;
 * nothing orders it with other streams: see dpt__copy_between. */
int dpt__copy_on(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                 const void *from, dpt_storage *from_storage, size_t bytes);

/* The caller waits for a copy to a device, whose stream was idle then, or to the host (0). */
int dpt__copy_finish(int device, dpt__event event);

/* The same as dpt__copy_on, and waits for it: it runs in this thread if the stream rests. */
int dpt__copy_await(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                    const void *from, dpt_storage *from_storage, size_t bytes);

/* So many bytes go from device to device by a backend's library. */
void dpt__copied_add(uint64_t bytes);

/* Many such copies, queued as few items: start, add each, end. They run in any order. Pieces that
 * follow each other in memory on both sides become one. */
typedef struct dpt__copies {
  dpt__stream *stream;
  const char *fn;
  int awaited;           /* as a context's */
  dpt__block *to, *from; /* of the last piece */
  struct dpt__copy_bytes_args args;
} dpt__copies;
void dpt__copies_start(dpt__copies *copies, dpt__stream *stream, const char *fn);
int dpt__copies_add(dpt__copies *copies, void *to, dpt_storage *to_storage, const void *from,
                    dpt_storage *from_storage, size_t bytes);
int dpt__copies_end(dpt__copies *copies);

/* Copies between two storages on (two) devices, ordered as a user expects: it runs on the current
 * stream of to's device, after everything queued on the current stream of from's, and later work
 * on that one waits for it. Offsets and size in bytes; nothing is checked. */
int dpt__copy_between(const char *fn, dpt_storage *to, size_t to_offset, dpt_storage *from,
                      size_t from_offset, size_t bytes);

#endif
