/* launch.c: resolves the device, memory and order of an operation's work (launch.h has the
 * rules). */
#include "device/launch.h"

#include "device/capture.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/peer.h"
#include "device/scratch.h"
#include "device/shutdown.h"
#include "device/storage.h"
#include "device/trace.h"

#include <stdio.h>
#include <string.h>

/* The reason why a graph cannot hold a kernel; NULL: it can. */
static const char *const not_captured[] = {
#define DPT_KERNEL(name, why) why,
#include "device/kernels.def"
#undef DPT_KERNEL
};

/* ---- checks ---- */

static const char *launch_describe(char text[80], const dpt_tensor *t) {
  if (t->storage_ && t->storage_->device)
    snprintf(text, 80, "%s on device %d", dpt__kind_name(t->kind_), t->storage_->device);
  else
    snprintf(text, 80, "%s", dpt__kind_name(t->kind_));
  return text;
}

static int launch_mixed(const char *fn, const dpt_tensor *a, const dpt_tensor *b) {
  char one[80], other[80];
  return dpt__fail(
      "%s: got %s with %s, wanted all on one device or all in host memory: copy one of "
      "them first",
      fn, launch_describe(one, a), launch_describe(other, b));
}

/* Checks that a kernel on a's device may access b, which is on another one. */
static int launch_check_across(const char *fn, const dpt_tensor *a, const dpt_tensor *b) {
  char one[80], other[80];
  int reached;
  if (!dpt__peer_kernels()) return launch_mixed(fn, a, b);
  if (dpt__peer_enable_access(a->storage_->device, b->storage_->device, &reached))
    return dpt__fail_in("%s", fn);
  if (reached) return 0;
  return dpt__fail("%s: got %s with %s, whose memory device %d does not reach: copy one of them "
                   "first",
                   fn, launch_describe(one, a), launch_describe(other, b), a->storage_->device);
}

/* Finds the operand that determines the device: one with a storage, if any has; NULL: none. */
static int launch_find_first(dpt__launch *l, const dpt_tensor **first) {
  const dpt_tensor *a = NULL;
  l->across = 0;
  for (int i = 0; i < l->n; i++) {
    const dpt_tensor *t = l->operand[i].t;
    if (!t) continue;
    if (!a) a = t;
    if (dpt__is_device(a->kind_) != dpt__is_device(t->kind_))
      return launch_mixed(l->context.name, a, t);
    if (!dpt__is_device(t->kind_) || !t->storage_) continue;
    if (a->storage_ && a->storage_->device != t->storage_->device) {
      DPT__TRY(launch_check_across(l->context.name, a, t));
      l->across = 1;
    }
    if (!a->storage_) a = t;
  }
  *first = a;
  return 0;
}

/* Returns the context of work on a stream (NULL: on host memory, at once). */
static dpt__context launch_context_of(dpt__stream *stream, const char *name) {
  if (!stream)
    return (dpt__context){.backend = &dpt__host, .threads = dpt_threads_get(), .name = name};
  return dpt__stream_context(stream, name);
}

/* Checks that the backend has the kernel, and that a capture can hold it. */
static int launch_check_kernel(const dpt__context *context, enum dpt__kernel kernel) {
  const char *why = not_captured[kernel];
  if (!context->backend->kernels[kernel])
    return dpt__fail("%s: not implemented on %s devices%s", context->name, context->backend->name,
                     context->backend->withheld & DPT__BIT_OF(kernel)
                         ? ", unless DPT_CUDA_NEW=1 enables kernels that no GPU has run yet"
                         : "");
  return why && context->stream ? dpt__capture_rejects(context->name, why) : 0;
}

int dpt__launch_check(dpt__launch *l, enum dpt__kernel kernel) {
  const dpt_tensor *first;
  dpt__device *device = NULL;
  if (l->checked)
    return l->checked == 1 + (int)kernel ? 0 : launch_check_kernel(&l->context, kernel);
  DPT__TRY(launch_find_first(l, &first));
  if (first && dpt__is_device(first->kind_))
    DPT__TRY(
        dpt__device_find(l->context.name, first->storage_ ? first->storage_->device : 0, &device));
  l->context =
      launch_context_of(device ? dpt__current_stream(device->number) : NULL, l->context.name);
  l->checked = 1 + (int)kernel;
  return launch_check_kernel(&l->context, kernel);
}

static int launch_find_backend(const char *fn, const dpt_tensor *t, const dpt__backend **backend) {
  *backend = &dpt__host;
  if (dpt__is_device(t->kind_)) {
    dpt__device *device;
    DPT__TRY(dpt__device_find(fn, t->storage_ ? t->storage_->device : 0, &device));
    *backend = device->backend;
  }
  return 0;
}

int dpt__launch_has(const char *fn, enum dpt__kernel kernel, const dpt_tensor *t) {
  const dpt__backend *backend;
  return !launch_find_backend(fn, t, &backend) && backend->kernels[kernel];
}

int dpt__launch_type(const char *fn, enum dpt__kernel kernel, const dpt_tensor *t, int *type) {
  const dpt__backend *backend;
  DPT__TRY(launch_find_backend(fn, t, &backend));
  *type = dpt__dtype(t->kind_);
  if (!(backend->reduced & DPT__BIT_OF(kernel))) *type = dpt__compute_dtype(*type);
  return 0;
}

/* ---- operands that share memory with results ---- */

/* Returns the bytes from t's first element to the end of its last one; none if *from == *to. */
static void launch_span(const dpt_tensor *t, const char **from, const char **to) {
  int64_t last = 0;
  *from = *to = NULL;
  if (!t->storage_ || !t->ndim_) return;
  for (int d = 0; d < t->ndim_; d++) {
    if (!t->size_[d]) return;
    last += (t->size_[d] - 1) * t->stride_[d];
  }
  *from = dpt__at(t);
  *to = *from + (size_t)(last + 1) * dpt__dtype_size(dpt__dtype(t->kind_));
}

/* Returns the storage that owns the memory; NULL: none. */
static const dpt_storage *launch_owner(const dpt_tensor *t) {
  const dpt_storage *s = t->storage_;
  while (s && s->parent) s = s->parent;
  return s;
}

/* Returns true if two storages may overlap; one over memory that dpt did not allocate may overlap
 * any other. */
static int launch_may_share(const dpt_storage *a, const dpt_storage *b) {
  return a == b || (a && b && ((a->flags | b->flags) & DPT__FOREIGN));
}

/* Computes the part of every `period` elements of the storage that contains t's elements; returns
 * false if it goes beyond a period. */
static int launch_periodic(const dpt_tensor *t, int64_t period, int64_t *first, int64_t *size) {
  *size = 1;
  *first = t->offset_ % period;
  for (int d = 0; d < t->ndim_; d++)
    if (t->size_[d] > 1 && t->stride_[d] % period) *size += (t->size_[d] - 1) * t->stride_[d];
  return *first + *size <= period;
}

/* Returns true if two views of a storage are interleaved, such as columns of one matrix: each has
 * its own part of every period, a stride of a. */
static int launch_interleaved(const dpt_tensor *a, const dpt_tensor *b) {
  int64_t first[2], size[2];
  if (a->storage_ != b->storage_ || a->kind_ != b->kind_) return 0;
  for (int d = 0; d < a->ndim_; d++)
    if (a->stride_[d] > 1 && launch_periodic(a, a->stride_[d], &first[0], &size[0]) &&
        launch_periodic(b, a->stride_[d], &first[1], &size[1]) &&
        (first[0] + size[0] <= first[1] || first[1] + size[1] <= first[0]))
      return 1;
  return 0;
}

int dpt__share_memory(const dpt_tensor *a, const dpt_tensor *b) {
  if (!launch_may_share(launch_owner(a), launch_owner(b))) return 0;
  const char *from[2], *to[2];
  launch_span(a, &from[0], &to[0]);
  launch_span(b, &from[1], &to[1]);
  return from[0] < to[1] && from[1] < to[0] && !launch_interleaved(a, b);
}

/* Allocates a copy for operand k if it shares memory with result r. */
static int launch_take_copy(dpt__launch *l, int r, int k) {
  const dpt_tensor *result = l->operand[r].t, *t = l->operand[k].t;
  const char *from, *to;
  if (l->operand[k].copy || !dpt__share_memory(result, t)) return 0;
  if (l->operand[k].use == DPT__OUT)
    return dpt__fail("%s: two results share memory", l->context.name);
  launch_span(t, &from, &to);
  int kind = DPT_U8 | (t->kind_ & DPT_ON_DEVICE);
  l->copies++;
  return dpt__storage_new_on(&l->operand[k].copy, kind, to - from, l->context.device);
}

static int launch_take_copies(dpt__launch *l) {
  if (!l->results || (!l->reads && l->results == 1)) return 0;
  for (int r = 0; r < l->n; r++) {
    const dpt_tensor *result = l->operand[r].t;
    if (l->operand[r].use != DPT__OUT || !result) continue;
    const dpt_storage *own = launch_owner(result);
    for (int k = 0; k < l->n && own; k++) {
      const dpt_tensor *t = l->operand[k].t;
      if (k == r || !t || l->operand[k].use == DPT__IN_PLACE ||
          !launch_may_share(own, launch_owner(t)))
        continue;
      DPT__TRY(launch_take_copy(l, r, k));
    }
  }
  return 0;
}

static int launch_copy_shared(dpt__launch *l) {
  for (int k = 0; k < l->n && l->copies; k++) {
    dpt_storage *copy = l->operand[k].copy;
    const dpt_tensor *t = l->operand[k].t;
    if (!copy) continue;
    if (!l->context.stream)
      memcpy(copy->data, dpt__at(t), (size_t)copy->size);
    else
      DPT__TRY(dpt__copy_on(l->context.stream, l->context.name, copy->data, copy, dpt__at(t),
                            t->storage_, (size_t)copy->size));
  }
  return 0;
}

/* ---- uses, writes and streams ---- */

static int launch_record_uses(dpt__launch *l) {
  dpt__stream *stream = l->context.stream;
  for (int i = 0; i < l->n; i++) {
    int written = l->operand[i].use == DPT__OUT;
    dpt_storage *s = (stream || written) && l->operand[i].t ? l->operand[i].t->storage_ : NULL;
    if (!s) continue;
    if (stream && s->block) DPT__TRY(dpt__block_use(s->block, stream));
    if (written) dpt__storage_written(s);
  }
  return 0;
}

/* Makes the stream wait for the current streams of the operands on other devices or, if `done` is
 * set, makes those streams wait for it. */
static int launch_order_others(const dpt__launch *l, int done) {
  dpt__stream *own = l->context.stream;
  for (int i = 0; i < l->n; i++) {
    const dpt_storage *s = l->operand[i].t ? l->operand[i].t->storage_ : NULL;
    if (!s || s->device == l->context.device) continue;
    dpt__stream *other = dpt__current_stream(s->device);
    DPT__TRY(done ? dpt__stream_wait_all(other, own) : dpt__stream_wait_all(own, other));
  }
  return 0;
}

/* ---- kernels ---- */

static int launch_submit(dpt__context *context, enum dpt__kernel kernel, const void *args,
                         size_t size) {
  dpt__kernel_fn *run = context->backend->kernels[kernel];
  if (context->stream) return dpt__stream_push_kernel(context, run, args, size);
  struct dpt__local *local = &dpt__local;
  dpt__runner *runner = local->runner;
  if (runner) dpt__runner_enter(runner);
  local->effects++;
  int status = run(context, args);
  if (runner) dpt__runner_done(runner);
  return status ? dpt__fail_in("%s", context->name) : 0;
}

static int64_t launch_bytes(const dpt__launch *l) {
  int64_t bytes = 0;
  for (int i = 0; i < l->n; i++) {
    const dpt_tensor *t = l->operand[i].t;
    int64_t elements = t && t->ndim_;
    for (int d = 0; t && d < t->ndim_; d++) elements *= t->size_[d];
    if (elements) bytes += elements * (int64_t)dpt__dtype_size(dpt__dtype(t->kind_));
  }
  return bytes;
}

/* Measures the bytes, for the stream and for a trace. The trace's size is the first operand's,
 * which is a result in most launches. */
static void launch_measure(dpt__launch *l) {
  int traced = dpt__tracing();
  l->context.bytes = traced || dpt__stream_is_idle(l->context.stream) ? launch_bytes(l) : 0;
  if (traced) dpt__trace_describe(l->context.bytes, l->operand[0].t, 0);
}

static int launch_begin(dpt__launch *l) {
  DPT__TRY(launch_record_uses(l) || (l->across && launch_order_others(l, 0)));
  l->begun = 1;
  return launch_copy_shared(l);
}

int dpt__launch_kernel(dpt__launch *l, enum dpt__kernel kernel, const void *args, size_t size) {
  DPT__TRY(dpt__launch_check(l, kernel));
  if (!l->begun) DPT__TRY(launch_take_copies(l));
  for (int i = 0; i < l->n && l->fields; i++) {
    if (!l->operand[i].field) continue;
    const dpt_tensor *t = l->operand[i].t;
    const void *at = l->operand[i].copy ? l->operand[i].copy->data : t ? dpt__at(t) : NULL;
    memcpy(l->operand[i].field, &at, sizeof at);
  }
  DPT__TRY(dpt__scratch_alloc(&l->context, kernel, args));
  int status = !l->begun && launch_begin(l);
  if (l->context.stream) launch_measure(l);
  status = status || launch_submit(&l->context, kernel, args, size);
  if (l->context.block) dpt__block_free(l->context.block);
  return status || (l->across && launch_order_others(l, 1));
}

int dpt__launch_free(dpt__launch *l, int status) {
  for (int i = 0; i < l->n; i++)
    if (l->operand[i].copy) dpt_storage_release(l->operand[i].copy);
  return status;
}

int dpt__launch_kernel_here(enum dpt__kernel kernel, const char *fn, const dpt_tensor *r,
                            const void *args) {
  dpt__context context = launch_context_of(NULL, fn);
  dpt__assert(!(context.backend->asks >> kernel & 1));
  dpt__written(r);
  return launch_submit(&context, kernel, args, 0);
}

int dpt__launch_on(dpt__stream *stream, enum dpt__kernel kernel, const char *fn, int64_t bytes,
                   const void *args, size_t size) {
  dpt__context context = launch_context_of(stream, fn);
  context.bytes = bytes;
  if (dpt__tracing()) dpt__trace_describe(bytes, NULL, 0);
  DPT__TRY(launch_check_kernel(&context, kernel) || dpt__scratch_alloc(&context, kernel, args));
  int status = launch_submit(&context, kernel, args, size);
  if (context.block) dpt__block_free(context.block);
  return status;
}
