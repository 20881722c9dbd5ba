/* stream.c: the threads of streams, queueing, and waits (see stream.h). */
#include "device/stream.h"

#include "device/backend_events.h"
#include "device/capture.h"
#include "device/fault.h"
#include "device/threads.h"
#include "device/trace.h"

/* Returns true if the stream has its backend's native stream, or needs none. */
static int has_native_stream(dpt__stream *stream) {
  return stream->native_stream || !stream->backend->stream_new;
}

static atomic_uint_least64_t waits;
uint64_t dpt_waits(void) { return atomic_load(&waits); }

/* ---- the thread ---- */

static void *stream_run(void *arg) {
  dpt__stream *stream = arg;
  dpt__context context = dpt__stream_context(stream, NULL);
  context.native_stream = stream->native_stream;
  uint64_t random = 0;
  dpt__counter_worker();
  dpt__gomp_set_threads(stream->threads);
  int lost = stream->backend->enter && stream->backend->enter(stream->unit);
  for (uint64_t number = 1;; number++) {
    dpt__counter_wait(&stream->submitted, number);
    uint64_t over = dpt__counter_value(dpt__stream_progress(stream));
    if (number <= over) { /* they ran in the threads that queued them */
      number = over;
      continue;
    }
    dpt__item *item = dpt__ring_next(&stream->read);
    size_t size = item->size, kind = item->kind;
    context.name = item->name;
    context.number = number;
    context.scratch = item->scratch;
    context.capacity = item->capacity * DPT__SCRATCH_ALIGN;
    context.used = 0;
    dpt__delay(&random, stream->id);
    /* exit() waits only for kernels: a wait may never end */
    if (kind == DPT__ITEM_KERNEL) dpt__runner_enter(&stream->runner);
    uint64_t record = item->traced ? dpt__trace_begin(stream, item) : 0;
    if ((lost && kind != DPT__ITEM_RENDEZVOUS) || item->fn(&context, item + 1))
      dpt__stream_set_error(stream, context.name, number);
    if (record) dpt__trace_end(stream, record);
    dpt__runner_done(&stream->runner);
    dpt__ring_pop(stream->read, size);
    dpt__counter_advance(dpt__stream_progress(stream), number);
  }
  return NULL;
}

static int stream_start(dpt__stream *stream) DPT__REQUIRES(stream->lock) {
  dpt__assert_held(&stream->lock);
  char what[DPT__STREAM_NAME];
  dpt__stream_name(what, stream);
  if (!stream->write) stream->write = stream->read = dpt__ring_new();
  if (!stream->write || dpt__stream_reserve_error(stream))
    return dpt__no_memory("%s: no host memory for its queue", what);
  if (!has_native_stream(stream)) DPT__TRY(dpt__backend_events_new(stream));
  pthread_t thread;
  dpt__runner_add(&stream->runner);
  if (dpt__thread_start(&thread, stream_run, stream, what)) {
    dpt__runner_remove(&stream->runner);
    return 1;
  }
  pthread_detach(thread);
  stream->started = 1;
  return 0;
}

/* ---- queueing ---- */

/* Under the locks of n streams, which clang cannot count: starts each and makes space for an item
 * of that size, at tail[i]. */
static int stream_prepare(int n, dpt__stream *const *streams, const char *name, size_t size,
                          size_t *tail) DPT__UNPROVED {
  for (int i = 0; i < n; i++) {
    dpt__stream *stream = streams[i];
    dpt__assert_held(&stream->lock);
    if (atomic_load(&stream->capture) != dpt__own_capture)
      return dpt__capture_mismatch(name, stream);
    if (!stream->started) DPT__TRY(stream_start(stream));
    DPT__TRY(dpt__ring_reserve(&stream->write, dpt__stream_progress(stream), size, &tail[i]));
  }
  return 0;
}

/* Queues an item on n streams; head: all fields but the size. */
static int stream_push(int n, dpt__stream *const *streams, dpt__item head, const void *args,
                       size_t size) DPT__UNPROVED {
  dpt__assert(n > 0 && n <= DPT__PUSH_MAX && dpt__item_size(size + DPT__TRACE_BYTES) < 1 << 28);
  size_t tail[DPT__PUSH_MAX];
  if (streams[0]->threads > 1) dpt__gomp_end_team();
  for (int i = 0; i < n; i++) {
    dpt__assert(i == 0 || streams[i]->id > streams[i - 1]->id);
    dpt__lock(&streams[i]->lock);
  }
  head.traced = (unsigned)dpt__tracing() & 1;
  head.size = dpt__item_size(size + head.traced * DPT__TRACE_BYTES);
  int status = stream_prepare(n, streams, head.name, head.size, tail);
  for (int i = 0; i < n && !status; i++) {
    dpt__counter *submitted = &streams[i]->submitted;
    uint64_t number = dpt__counter_value(submitted) + 1;
    dpt__item *item = dpt__ring_put(streams[i]->write, tail[i], &head, args, size);
    if (head.traced) dpt__trace_queued(streams[i], number, item, args);
    dpt__counter_advance(submitted, number);
    atomic_store_explicit(&streams[i]->here, 0, memory_order_relaxed);
  }
  if (!status && head.kind != DPT__ITEM_WAIT) dpt__effect();
  for (int i = 0; i < n; i++) dpt__unlock(&streams[i]->lock);
  return status;
}

int dpt__stream_push_unordered(dpt__stream *stream, dpt__kernel_fn *fn, const char *name,
                               const void *args, size_t size) {
  return stream_push(1, &stream, (dpt__item){.fn = fn, .name = name}, args, size);
}

/* ---- kernels that run in the thread that queues them ---- */

enum { FEW_BYTES = 1 << 15, MOST_NS = 20000 };

/* Returns true if the stream's thread sleeps, or is about to, and all items are done. Certain only
 * under the stream's lock. */
int dpt__stream_is_sleeping(dpt__stream *stream) {
  uint64_t number = dpt__counter_value(&stream->submitted);
  return dpt__counter_sleeps(&stream->submitted, number + 1) &&
         dpt__counter_value(&stream->done) == number && !stream->backend->stream_new;
}

int dpt__stream_is_idle(dpt__stream *stream) {
  return dpt__stream_is_sleeping(stream) &&
         atomic_load_explicit(&stream->here, memory_order_relaxed) < MOST_NS;
}

static int stream_can_run_here(dpt__stream *stream, const dpt__context *context) {
  if (context->awaited) return dpt__stream_is_sleeping(stream);
  return context->bytes > 0 && context->bytes <= FEW_BYTES && dpt__stream_is_idle(stream);
}

static int stream_runs_here(dpt__stream *stream, const dpt__context *context)
    DPT__REQUIRES(stream->lock) {
  return stream_can_run_here(stream, context) && !dpt__own_capture &&
         !atomic_load(&stream->capture) && !dpt__tracing() && !dpt__delays();
}

/* Returns true if the kernel has run. Its event is done before the stream's thread could look for
 * an item. */
static int stream_run_here(dpt__context context, dpt__kernel_fn *fn, const void *args) {
  dpt__stream *stream = context.stream;
  dpt__runner *runner = dpt__local.runner;
  int64_t start = dpt__now();
  if (runner) dpt__runner_enter(runner);
  dpt__lock(&stream->lock);
  int here = stream_runs_here(stream, &context);
  if (here) {
    context.number = dpt__counter_value(&stream->submitted) + 1;
    int threads = dpt__gomp_set_threads(context.threads);
    if (fn(&context, args)) dpt__stream_set_error(stream, context.name, context.number);
    dpt__gomp_set_threads(threads);
    dpt__effect();
    dpt__counter_advance(&stream->done, context.number);
    dpt__counter_pass(&stream->submitted, context.number);
    atomic_fetch_add_explicit(&stream->here, dpt__now() - start, memory_order_relaxed);
  }
  dpt__unlock(&stream->lock);
  if (runner) dpt__runner_done(runner);
  return here;
}

static void stream_record_idle(dpt__stream *stream) {
  if (atomic_load_explicit(&stream->here, memory_order_relaxed))
    atomic_store_explicit(&stream->here, 0, memory_order_relaxed);
}

/* ---- events ---- */

static int stream_run_wait(dpt__context *context, const void *args) {
  dpt__event event = *(const dpt__event *)args;
  dpt__stream *stream = context->stream;
  if (stream->native_stream) {
    DPT__TRY(dpt__backend_stream_wait_event(stream, event));
    DPT__TRY(dpt__backend_events_follow(stream, context->number, event));
  } else {
    dpt__counter_wait(&event.stream->done, event.number);
  }
  dpt__stream_inherit(stream, context->number, event);
  return 0;
}

static int stream_wait_for(dpt__stream *stream, dpt__event event) {
  if (!event.stream || event.stream == stream || !event.number) return 0;
  stream_record_idle(event.stream);
  if (dpt__own_capture && !dpt__event_done(event))
    return dpt__capture_mismatch(
        "a wait", atomic_load(&stream->capture) == dpt__own_capture ? event.stream : stream);
  if (dpt__event_known_done(event) && has_native_stream(stream)) {
    dpt__stream_inherit(stream, 0, event);
    return stream->native_stream ? dpt__backend_events_follow(stream, 0, event) : 0;
  }
  dpt__item head = {.fn = stream_run_wait, .name = "stream wait", .kind = DPT__ITEM_WAIT};
  return stream_push(1, &stream, head, &event, sizeof event);
}

/* Makes `stream` wait for the work queued on `other`, unless it has waited for that before. */
static int stream_catch_up(dpt__stream *stream, dpt__stream *other, _Atomic uint64_t *seen) {
  dpt__event event = dpt__event_last(other);
  if (event.number <= atomic_load(seen)) return 0;
  DPT__TRY(stream_wait_for(stream, event));
  atomic_store(seen, event.number);
  return 0;
}

/* Queues the waits that order a blocking stream and its device's stream 0. Cheap if the device has
 * no blocking stream. */
static int stream_order(dpt__stream *stream) {
  dpt__device *device = stream->owner;
  if (!atomic_load_explicit(&device->nblocking, memory_order_acquire)) return 0;
  if (stream->index)
    return stream->blocking ? stream_catch_up(stream, device->streams[0], &stream->seen_default)
                            : 0;
  int count = atomic_load(&device->nstream);
  for (int i = 1; i < count; i++) {
    dpt__stream *other = device->streams[i];
    if (other->blocking) DPT__TRY(stream_catch_up(stream, other, &other->seen_by_default));
  }
  return 0;
}

int dpt__stream_push_all(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                         const void *args, size_t size) {
  for (int i = 0; i < n; i++) DPT__TRY(stream_order(streams[i]));
  dpt__item head = {.fn = fn, .name = name, .kind = DPT__ITEM_RENDEZVOUS};
  return stream_push(n, streams, head, args, size);
}

int dpt__stream_push(dpt__stream *stream, dpt__kernel_fn *fn, const char *name, const void *args,
                     size_t size) {
  return stream_order(stream) ||
         stream_push(1, &stream, (dpt__item){.fn = fn, .name = name}, args, size);
}

int dpt__stream_push_kernel(const dpt__context *context, dpt__kernel_fn *fn, const void *args,
                            size_t size) {
  dpt__stream *stream = context->stream;
  dpt__item head = {.fn = fn,
                    .name = context->name,
                    .capacity = context->capacity / DPT__SCRATCH_ALIGN,
                    .scratch = context->scratch};
  DPT__TRY(stream_order(stream));
  if (stream_can_run_here(stream, context) && stream_run_here(*context, fn, args)) return 0;
  return stream_push(1, &stream, head, args, size);
}

int dpt__event_record(dpt__stream *stream, dpt__event *event) {
  DPT__TRY(stream_order(stream));
  *event = dpt__event_last(stream);
  return 0;
}

int dpt__stream_wait(dpt__stream *stream, dpt__event event) {
  return stream_order(stream) || stream_wait_for(stream, event);
}

int dpt__stream_wait_all(dpt__stream *stream, dpt__stream *other) {
  dpt__event event;
  return dpt__event_record(other, &event) || dpt__stream_wait(stream, event);
}

int dpt__event_query(dpt__event event, int *done) {
  *done = dpt__event_known_done(event);
  return *done || !event.stream->native_stream ? 0 : dpt__backend_event_query(event, done);
}

int dpt__event_done(dpt__event event) {
  int done;
  return !dpt__event_query(event, &done) && done;
}

int dpt__event_wait_keep_error(dpt__event event) {
  if (!event.stream) return 0;
  stream_record_idle(event.stream);
  int64_t from = dpt__tracing() && !dpt__event_known_done(event) ? dpt__now() : 0;
  int status = 0;
  if (event.stream->backend->stream_new)
    status = dpt__backend_event_synchronize(event);
  else
    dpt__counter_wait(&event.stream->done, event.number);
  if (from) dpt__trace_waited(event, from);
  return status;
}

int dpt__event_wait(dpt__event event) {
  DPT__TRY(dpt__capture_rejects("synchronize", "it waits for the device"));
  if (event.stream) atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed);
  return dpt__event_wait_uncounted(event);
}

int dpt__event_wait_uncounted(dpt__event event) {
  if (!event.stream) return 0;
  int status = dpt__event_wait_keep_error(event);
  if (event.stream->native_stream) dpt__backend_events_poll(event.stream, event.number);
  return dpt__stream_report(event) || status;
}

int dpt__stream_synchronize(dpt__stream *stream) {
  dpt__event event;
  return dpt__event_record(stream, &event) || dpt__event_wait(event);
}
