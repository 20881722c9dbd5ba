/* copy.h: the one primitive that moves bytes within a device, and between devices.
 *
 * What must stay true: every byte that goes from one device to another goes through here and is
 * counted (dpt_copied_bytes); on host devices such a copy takes the time that DPT_LINK asks for,
 * asleep.
 */
#ifndef DPT_DEVICE_COPY_H
#define DPT_DEVICE_COPY_H
#include "device/allocator.h"

struct dpt__copy_bytes_args {
  void *to;
  const void *from;
  size_t bytes;
  int between; /* from one device to another */
};

/* Queues a copy on stream, and records that the stream uses both blocks (NULL: ordinary host
 * memory, which the caller keeps alive). The stream is one of the two blocks' devices; nothing
 * orders it with other streams: see dpt__copy_between. */
int dpt__copy_on(dpt__stream *stream, const char *fn, void *to, dpt__block *to_block,
                 const void *from, dpt__block *from_block, size_t bytes);

/* Copies between two storages on (two) devices, ordered as a user expects: it runs on the current
 * stream of to's device, after everything queued on the current stream of from's, and later work
 * on that one waits for it. Offsets and size in bytes; nothing is checked. */
int dpt__copy_between(const char *fn, dpt_storage *to, size_t to_offset, dpt_storage *from,
                      size_t from_offset, size_t bytes);

#endif
