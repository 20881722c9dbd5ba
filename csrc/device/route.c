/* route.c: where the work of one operation goes (backend.h has the rules). */
#include "device/allocator.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/graph.h"
#include "device/leaving.h"
#include "device/scratch.h"
#include "device/storage.h"

#include <stdio.h>
#include <string.h>

static const char *place(char text[80], const dpt_tensor *t) {
  if (t->store_ && t->store_->device)
    snprintf(text, 80, "%s on device %d", dpt__kind_name(t->kind_), t->store_->device);
  else
    snprintf(text, 80, "%s", dpt__kind_name(t->kind_));
  return text;
}

static int mixed(const char *fn, const dpt_tensor *a, const dpt_tensor *b) {
  char one[80], other[80];
  return dpt__fail(
      "%s: got %s with %s, wanted all on one device or all in host memory: copy one of "
      "them first",
      fn, place(one, a), place(other, b));
}

/* The route's stream waits for the current streams of the operands on other devices. */
static int await_others(struct dpt__route *route, int n, const dpt_tensor *const *operands) {
  memset(route->others, 0, sizeof route->others);
  for (int i = 0; i < n; i++) {
    const dpt_storage *s = operands[i] ? operands[i]->store_ : NULL;
    if (!s || s->device == route->context.device) continue;
    dpt__stream *other = dpt__current_stream(s->device);
    route->others[(s->device - 1) / 64] |= (uint64_t)1 << (s->device - 1) % 64;
    DPT__TRY(dpt__stream_wait_all(route->context.stream, other));
  }
  return 0;
}

/* Those streams wait for the route's. */
static int let_wait(const struct dpt__route *route) {
  dpt__event done = dpt__event_last(route->context.stream);
  for (int device = 1; device <= DPT__MAX_DEVICES; device++)
    if (route->others[(device - 1) / 64] >> (device - 1) % 64 & 1)
      DPT__TRY(dpt__stream_wait(dpt__current_stream(device), done));
  return 0;
}

int dpt__route(struct dpt__route *route, const char *fn, int n, const dpt_tensor *const *operands) {
  const dpt_tensor *first = NULL; /* the operand that decides: one with a storage, if any has */
  int across = 0;
  for (int i = 0; i < n; i++) {
    const dpt_tensor *t = operands[i];
    if (!t) continue;
    if (!first) {
      first = t;
      continue;
    }
    if (dpt__is_device(first->kind_) != dpt__is_device(t->kind_)) return mixed(fn, first, t);
    if (!t->store_) continue;
    if (first->store_ && first->store_->device != t->store_->device) {
      if (!dpt__peer_kernels()) return mixed(fn, first, t);
      across = 1;
    }
    if (!first->store_) first = t;
  }
  route->across = across;
  if (!first || !dpt__is_device(first->kind_)) {
    route->context =
        (dpt__context){.backend = &dpt__host, .threads = dpt_threads_get(), .name = fn};
    return 0;
  }
  dpt__device *device;
  DPT__TRY(dpt__device_find(fn, first->store_ ? first->store_->device : 0, &device));
  dpt__stream *stream = dpt__current_stream(device->number);
  for (int i = 0; i < n; i++)
    if (operands[i] && operands[i]->store_ && operands[i]->store_->block)
      DPT__TRY(dpt__block_use(operands[i]->store_->block, stream));
  if (operands[0]) dpt__written(operands[0]);
  route->context = (dpt__context){.backend = device->backend,
                                  .stream = stream,
                                  .device = device->number,
                                  .threads = device->threads,
                                  .name = fn};
  return across ? await_others(route, n, operands) : 0;
}

int dpt__submit(struct dpt__route *route, enum dpt__kernel kernel, const char *fn, const void *args,
                size_t size) {
  dpt__context *context = &route->context;
  dpt__kernel_fn *run = context->backend->kernels[kernel];
  if (!run)
    return dpt__fail("%s: there is no such kernel on %s devices", fn, context->backend->name);
  if (context->backend->prepare) DPT__TRY(context->backend->prepare(kernel, fn, args));
  if (!context->stream) {
    dpt__runner *runner = dpt__own_runner;
    if (runner) dpt__runner_enter(runner);
    int status = run(context, args);
    if (runner) dpt__runner_done(runner);
    dpt__scratch_reset();
    return status;
  }
  if (kernel == DPT__KERNEL_adam) DPT__TRY(dpt__graph_refuses(fn, "it counts its steps"));
  DPT__TRY(dpt__stream_push(context->stream, run, fn, args, size));
  return route->across ? let_wait(route) : 0;
}

int dpt__wait(struct dpt__route *route) {
  if (!route->context.stream) return 0;
  DPT__TRY(dpt__graph_refuses(route->context.name, "it waits for the device"));
  return dpt__stream_synchronize(route->context.stream);
}
