/* copy.c: r = a for any types, layouts and sides: the host, a device, two devices.
 *
 * Invariant: when dpt_copy returns, ordinary host memory has been read or written. Reading it does
 * not wait for work queued before: the elements go through a page-locked buffer. They are copied
 * directly only if the stream is idle and either this thread may copy them itself or they are so
 * many that a second pass over memory would take longer than waiting for the first. Writing host
 * memory waits for exactly the current stream of the source's device. Between devices no thread
 * waits: events order the two current streams. The transferred data is contiguous and of the
 * smaller of the two types; each side converts it to or from that form with its own convert kernel.
 */
#include "ops/copy.h"

#include "device/capture.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/launch.h"
#include "ops/map.h"
#include "tensor/tensor.h"
#include <inttypes.h>

static size_t copy_bytes(const dpt_tensor *t) {
  return (size_t)dpt__count(t) * dpt__dtype_size(dpt__type(t));
}

/* Allocates a contiguous tensor of like's size; device 0: in page-locked host memory. */
static int copy_dense(dpt_tensor *out, const dpt_tensor *like, int dtype, int device) {
  *out = (dpt_tensor){.kind_ = dtype | (device ? DPT_ON_DEVICE : 0)};
  if (!device) { DPT__TRY(dpt_storage_new_pinned(&out->storage_, out->kind_, dpt__count(like))); }
  if (dpt__result(out, like->ndim_, like->size_, device)) {
    dpt_tensor_free(out);
    return 1;
  }
  return 0;
}

/* Returns -1 if the shapes have no common rows; contiguous tensors always have. */
static int copy_launch(dpt_tensor *r, const dpt_tensor *a) {
  dpt__launch l;
  struct dpt__convert_args args;
  if (dpt__walk_start(&args.walk, 2, (const dpt_tensor *const[]){r, a})) return -1;
  dpt__walk_sort(&args.walk);
  dpt__launch_begin(&l, "copy");
  dpt__launch_out(&l, r, NULL);
  dpt__launch_in_place(&l, a, NULL);
  return dpt__launch_run(&l, convert, &args);
}

/* Copies within host memory or within one device. The counts are equal, not 0. */
static int copy_convert(dpt_tensor *r, const dpt_tensor *a) {
  int status = dpt__overlap(r, a) ? -1 : copy_launch(r, a);
  if (status >= 0) return status;
  dpt_tensor whole = {.kind_ = a->kind_};
  status = dpt__result(&whole, a->ndim_, a->size_, dpt_tensor_device(a)) ||
           copy_launch(&whole, a) || copy_launch(r, &whole);
  dpt_tensor_free(&whole);
  return status;
}

static int copy_fits(const dpt_tensor *t, int dtype) {
  return dpt__contiguous(t) && dpt__type(t) == dtype;
}

enum { STRAIGHT = 1 << 20 }; /* bytes from which waiting for a copy to a device pays off */

int dpt__copy_direct(const char *fn, const dpt_tensor *to, const dpt_tensor *from,
                     dpt__event *event) {
  int device = dpt_tensor_device(to), source = dpt_tensor_device(from);
  *event = (dpt__event){NULL, 0};
  if (!device == !source || !copy_fits(to, dpt__type(from)) || !copy_fits(from, dpt__type(to)))
    return 0;
  dpt__stream *stream = dpt__current_stream(device ? device : source);
  if (device) {
    dpt__event before;
    DPT__TRY(dpt__event_record(stream, &before));
    if (copy_bytes(to) < STRAIGHT || !dpt__event_done(before)) return 0;
  }
  DPT__TRY(dpt__copy_on(stream, fn, dpt__at(to), to->storage_, dpt__at(from), from->storage_,
                        copy_bytes(to)));
  return dpt__event_record(stream, event);
}

/* Queues a copy of all bytes between contiguous tensors of one size and type. awaited: 1 if one of
 * the tensors is in host memory and the caller must wait for the copy. */
static int copy_move(const dpt_tensor *to, const dpt_tensor *from, int awaited) {
  int device = dpt_tensor_device(to), source = dpt_tensor_device(from);
  size_t width = dpt__dtype_size(dpt__type(to));
  if (device && source)
    return dpt__copy_between("copy", to->storage_, (size_t)to->offset_ * width, from->storage_,
                             (size_t)from->offset_ * width, copy_bytes(to));
  return (awaited ? dpt__copy_await : dpt__copy_on)(dpt__current_stream(device ? device : source),
                                                    "copy", dpt__at(to), to->storage_,
                                                    dpt__at(from), from->storage_, copy_bytes(to));
}

/* Copies between host and device, or between two devices; number 0 is the host. Transfers a itself
 * or its copy `sent`, of type `wire`, to r itself or to `got`. */
static int copy_transfer(dpt_tensor *r, int device, const dpt_tensor *a, int source, int wire,
                         int async) {
  int sends = copy_fits(a, wire) && (source || (async && a->storage_->block));
  int gets = copy_fits(r, wire), wait = !device && !(async && gets && r->storage_->block);
  if (!source && !sends)
    DPT__TRY(dpt__capture_rejects("copy", "it reads ordinary host memory (copy before the graph is "
                                          "replayed, or copyAsync from page-locked memory)"));
  if (wait) DPT__TRY(dpt__capture_rejects("copy", "it waits for the device"));
  if (!source && !async) {
    dpt__event event;
    if (gets && copy_fits(a, wire) && dpt__stream_is_sleeping(dpt__current_stream(device)))
      return copy_move(r, a, 1);
    DPT__TRY(dpt__copy_direct("copy", r, a, &event));
    if (event.stream) return dpt__copy_finish(device, event);
  }
  dpt_tensor sent = {.kind_ = a->kind_}, got = {.kind_ = r->kind_};
  int status = sends ? 0 : copy_dense(&sent, a, wire, source) || copy_convert(&sent, a);
  if (!gets) status = status || copy_dense(&got, r, wire, device);
  status = status || copy_move(gets ? r : &got, sends ? a : &sent, wait);
  if (!gets) status = status || copy_convert(r, &got);
  dpt_tensor_free(&got);
  dpt_tensor_free(&sent);
  return status;
}

static int copy_any(dpt_tensor *r, const dpt_tensor *a, int async) {
  int64_t n = dpt__count(a);
  if (dpt__count(r) != n)
    return dpt__fail("copy: argument 'a' has %" PRId64 " elements, wanted %" PRId64 " as in %s", n,
                     dpt__count(r), dpt__describe(r));
  if (n == 0) return 0;
  int wire =
      dpt__dtype_size(dpt__type(a)) < dpt__dtype_size(dpt__type(r)) ? dpt__type(a) : dpt__type(r);
  int device = dpt_tensor_device(r), source = dpt_tensor_device(a);
  return device == source ? copy_convert(r, a) : copy_transfer(r, device, a, source, wire, async);
}

int dpt_copy(dpt_tensor *r, const dpt_tensor *a) { return copy_any(r, a, 0); }
int dpt_copy_async(dpt_tensor *r, const dpt_tensor *a) { return copy_any(r, a, 1); }

int dpt_clone(dpt_tensor *out, const dpt_tensor *t) {
  dpt_tensor fresh = {.kind_ = t->kind_};
  DPT__TRY(dpt__check_kind("clone", out, t));
  if (dpt__result(&fresh, t->ndim_, t->size_, dpt_tensor_device(t)) || dpt_copy(&fresh, t)) {
    dpt_tensor_free(&fresh);
    return 1;
  }
  dpt_tensor_free(out);
  *out = fresh;
  return 0;
}

int dpt_contiguous(dpt_tensor *out, const dpt_tensor *t) {
  return dpt__contiguous(t) ? dpt_tensor_set(out, t) : dpt_clone(out, t);
}

int dpt__copy_result(int failed, dpt_tensor *r, dpt_tensor *made) {
  failed = failed || dpt__result(r, made->ndim_, made->size_, dpt_tensor_device(made)) ||
           dpt_copy(r, made);
  dpt_tensor_free(made);
  return failed;
}
