/* copy.c: moving bytes (copy.h has the rules). */
#include "device/copy.h"

#include "device/device.h"
#include "device/fault.h"
#include "device/storage.h"

static _Atomic uint64_t copied;

uint64_t dpt_copied_bytes(void) { return atomic_load(&copied); }

static int device_of(const dpt__block *block) { return block ? block->device : 0; }

int dpt__copy_on(dpt__stream *stream, const char *fn, void *to, dpt__block *to_block,
                 const void *from, dpt__block *from_block, size_t bytes) {
  int to_device = device_of(to_block), from_device = device_of(from_block);
  struct dpt__copy_bytes_args args = {to, from, bytes,
                                      to_device && from_device && to_device != from_device};
  if (to_block) DPT__TRY(dpt__block_use(to_block, stream));
  if (from_block) DPT__TRY(dpt__block_use(from_block, stream));
  DPT__TRY(dpt__stream_order(stream));
  DPT__TRY(dpt__stream_push(stream, stream->backend->kernels[DPT__KERNEL_copy_bytes], fn, &args,
                            sizeof args));
  if (args.between) atomic_fetch_add(&copied, bytes);
  return 0;
}

int dpt__copy_between(const char *fn, dpt_storage *to, size_t to_offset, dpt_storage *from,
                      size_t from_offset, size_t bytes) {
  if (!bytes) return 0;
  dpt__stream *stream = dpt__current_stream(to->device);
  dpt__stream *source = dpt__current_stream(from->device);
  dpt__storage_written(to);
  DPT__TRY(dpt__stream_order(source));
  DPT__TRY(dpt__stream_wait(stream, dpt__event_record(source)));
  DPT__TRY(dpt__copy_on(stream, fn, (char *)to->data + to_offset, to->block,
                        (const char *)from->data + from_offset, from->block, bytes));
  return dpt__stream_wait(source, dpt__event_record(stream));
}
