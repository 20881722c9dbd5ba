/* copy.c: copies bytes (see copy.h). */
#include "device/copy.h"

#include "device/device.h"
#include "device/fault.h"
#include "device/peer.h"
#include "device/trace.h"

static _Atomic uint64_t copied;

uint64_t dpt_copied_bytes(void) { return atomic_load(&copied); }

void dpt__copied_add(uint64_t bytes) { atomic_fetch_add(&copied, bytes); }

/* A copy that DPT_FAULT makes fail, on any backend. */
static int copy_run_failure(dpt__context *context, const void *args) {
  const struct dpt__copy_bytes_args *a = args;
  unsigned long long bytes = 0;
  for (int i = 0; i < a->count; i++) bytes += a->piece[i].bytes;
  return dpt__fail("copy of %llu bytes: failed on demand (DPT_FAULT)", bytes);
}

static int copy_device(const dpt__block *block) { return block ? block->device : 0; }

static enum dpt__copy_path copy_path_of(const dpt__block *to, const dpt__block *from) {
  int a = copy_device(to), b = copy_device(from);
  if (!a || !b || a == b) return DPT__WITHIN;
  return dpt__peers(a, b) ? DPT__PEERS : DPT__STAGED;
}

void dpt__copies_start(dpt__copies *copies, dpt__stream *stream, const char *fn) {
  copies->stream = stream;
  copies->fn = fn;
  copies->awaited = 0;
  copies->args.count = 0;
}

int dpt__copies_end(dpt__copies *copies) {
  struct dpt__copy_bytes_args *args = &copies->args;
  dpt__stream *stream = copies->stream;
  if (!args->count) return 0;
  uint64_t bytes = 0;
  for (int i = 0; i < args->count; i++) bytes += args->piece[i].bytes;
  dpt__kernel_fn *run = stream->backend->kernels[DPT__KERNEL_copy_bytes];
  dpt__context context = dpt__stream_context(stream, copies->fn);
  if (args->way == DPT__WITHIN || !dpt__link_ns(bytes)) context.bytes = (int64_t)bytes;
  context.awaited = copies->awaited;
  if (dpt__tracing()) dpt__trace_describe((int64_t)bytes, NULL, args->way != DPT__WITHIN);
  if (dpt__fault(DPT__FAULT_COPY)) run = copy_run_failure;
  DPT__TRY(dpt__stream_push_kernel(&context, run, args,
                                   offsetof(struct dpt__copy_bytes_args, piece) +
                                       (size_t)args->count * sizeof *args->piece));
  if (args->way != DPT__WITHIN) dpt__copied_add(bytes);
  args->count = 0;
  return 0;
}

int dpt__copies_add(dpt__copies *copies, void *to, dpt_storage *to_storage, const void *from,
                    dpt_storage *from_storage, size_t bytes) {
  dpt__block *to_block = to_storage ? to_storage->block : NULL;
  dpt__block *from_block = from_storage ? from_storage->block : NULL;
  struct dpt__copy_bytes_args *args = &copies->args;
  int32_t between = copy_path_of(to_block, from_block);
  if (args->count && args->way == between && copies->to == to_block && copies->from == from_block) {
    dpt__piece *last = &args->piece[args->count - 1];
    if ((char *)last->to + last->bytes == to && (const char *)last->from + last->bytes == from) {
      last->bytes += bytes;
      return 0;
    }
  }
  if (args->count == DPT__PIECES || (args->count && args->way != between))
    DPT__TRY(dpt__copies_end(copies));
  if (!to_block || !from_block)
    DPT__TRY(dpt__capture_rejects(copies->fn, to_block ? "it reads ordinary host memory"
                                                       : "it waits for the device"));
  if (to_block) DPT__TRY(dpt__block_use(to_block, copies->stream));
  if (from_block) DPT__TRY(dpt__block_use(from_block, copies->stream));
  if (to_storage) dpt__storage_written(to_storage);
  copies->to = to_block;
  copies->from = from_block;
  args->way = between;
  args->piece[args->count++] = (dpt__piece){to, from, bytes};
  return 0;
}

static int copy_one(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                    const void *from, dpt_storage *from_storage, size_t bytes, int awaited) {
  dpt__copies copies;
  dpt__copies_start(&copies, stream, fn);
  copies.awaited = awaited;
  DPT__TRY(dpt__copies_add(&copies, to, to_storage, from, from_storage, bytes));
  return dpt__copies_end(&copies);
}

int dpt__copy_on(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                 const void *from, dpt_storage *from_storage, size_t bytes) {
  return copy_one(stream, fn, to, to_storage, from, from_storage, bytes, 0);
}

int dpt__copy_finish(int device, dpt__event event) {
  return (device ? dpt__event_wait_uncounted : dpt__event_wait)(event);
}

int dpt__copy_await(dpt__stream *stream, const char *fn, void *to, dpt_storage *to_storage,
                    const void *from, dpt_storage *from_storage, size_t bytes) {
  int device = to_storage ? copy_device(to_storage->block) : 0;
  return copy_one(stream, fn, to, to_storage, from, from_storage, bytes, 1) ||
         dpt__copy_finish(device, dpt__event_last(stream));
}

int dpt__copy_between(const char *fn, dpt_storage *to, size_t to_offset, dpt_storage *from,
                      size_t from_offset, size_t bytes) {
  if (!bytes) return 0;
  dpt__stream *stream = dpt__current_stream(to->device);
  dpt__stream *source = dpt__current_stream(from->device);
  DPT__TRY(dpt__stream_wait_all(stream, source));
  DPT__TRY(dpt__copy_on(stream, fn, (char *)to->data + to_offset, to,
                        (const char *)from->data + from_offset, from, bytes));
  return dpt__stream_wait_all(source, stream);
}
