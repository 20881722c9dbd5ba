/* stream.c: the queue of a stream, its thread, events and kept errors (stream.h has the rules).
 *
 * A queue is a ring of bytes; where it is full, a ring of twice the size is linked behind it and
 * the thread frees the old one when it has read it to its end. So queueing allocates only while a
 * queue grows. At MAX_RING the caller waits for room instead.
 */
#include "device/stream.h"

#include "device/device.h"
#include "device/fault.h"
#include "device/graph.h"
#include "device/marks.h"
#include "device/meeting.h"
#include "device/scratch.h"
#include "device/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 32, FIRST_RING = 1 << 14, MAX_RING = 1 << 22, RESERVE = 512 };

typedef struct item {
  dpt__kernel_fn *fn; /* NULL: the rest of the ring is not used */
  const char *name;
  size_t size; /* of the item, a multiple of UNIT */
  size_t reserved;
} item;
_Static_assert(sizeof(item) == UNIT, "an item's head is one unit");

struct dpt__segment {
  _Atomic(dpt__segment *) next; /* set when no more is written here */
  size_t capacity;              /* a power of two */
  /* Bytes written since birth, and what their writer knows of the bytes read. */
  _Alignas(DPT__LINE) _Atomic size_t tail;
  size_t known_head;
  _Alignas(DPT__LINE) _Atomic size_t head; /* bytes read */
  _Alignas(DPT__LINE) char bytes[];
};

struct dpt__error {
  atomic_int references;
  atomic_int told;
  size_t size; /* of text */
  char text[];
};

dpt__mutex dpt__error_lock = DPT__MUTEX_INIT;

static int has_error(dpt__stream *stream) DPT__REQUIRES(dpt__error_lock) {
  dpt__assert_held(&dpt__error_lock);
  return stream->error && !atomic_load(&stream->error->told);
}

/* NULL: no host memory, and no message of that. */
static dpt__error *error_new(size_t size) {
  dpt__error *error = dpt__sync_point("error_new") ? NULL : malloc(sizeof *error + size);
  if (!error) return NULL;
  atomic_init(&error->references, 1);
  atomic_init(&error->told, 0);
  error->size = size;
  return error;
}

static void error_release(dpt__error *error) {
  if (!error) return;
  int references = atomic_fetch_sub(&error->references, 1);
  dpt__assert(references > 0);
  if (references == 1) free(error);
}

static dpt__segment *segment_new(size_t capacity) {
  dpt__segment *segment = aligned_alloc(64, sizeof *segment + capacity);
  if (!segment) return NULL;
  atomic_init(&segment->next, NULL);
  atomic_init(&segment->head, 0);
  atomic_init(&segment->tail, 0);
  segment->known_head = 0;
  segment->capacity = capacity;
  return segment;
}

dpt__stream *dpt__stream_new(const dpt__backend *backend, int unit, int device, int index,
                             int threads, int blocking) {
  static atomic_int ids;
  dpt__stream *stream = aligned_alloc(64, (sizeof *stream + 63) / 64 * 64);
  if (!stream) {
    dpt__no_memory("stream %d of device %d: no host memory for its queue", index, device);
    return NULL;
  }
  memset(stream, 0, sizeof *stream);
  stream->backend = backend;
  stream->unit = unit;
  stream->device = device;
  stream->index = index;
  stream->id = atomic_fetch_add(&ids, 1);
  stream->threads = threads;
  stream->blocking = blocking;
  dpt__mutex_init(&stream->lock, NULL);
  dpt__counter_init(&stream->submitted);
  dpt__counter_init(&stream->issued);
  dpt__counter_init(&stream->done);
  return stream;
}

/* Whether the stream has what its backend gives a stream that starts. */
static int has_queue(dpt__stream *stream) { return stream->queue || !stream->backend->queue_new; }

/* What a stream's thread advances when it has run an item. */
static dpt__counter *progress(dpt__stream *stream) {
  return stream->backend->queue_new ? &stream->issued : &stream->done;
}

/* ---- the thread ---- */

static _Atomic uint64_t failures;

uint64_t dpt_failures(void) { return atomic_load(&failures); }

static atomic_uint_least64_t waits;
uint64_t dpt_waits(void) { return atomic_load(&waits); }

static const char *stream_name(char text[32], const dpt__stream *stream) {
  if (stream->index < 0) return "the communication stream";
  snprintf(text, 32, "stream %d", stream->index);
  return text;
}

/* Memory for a message when there is no other. */
static int fill_reserve(dpt__stream *stream) {
  dpt__lock(&dpt__error_lock);
  if (!stream->reserve) stream->reserve = error_new(RESERVE);
  int status = !stream->reserve;
  dpt__unlock(&dpt__error_lock);
  return status;
}

/* An error that was told: the reserve once more, if nobody else has it. */
static void error_done(dpt__stream *stream, dpt__error *error) {
  dpt__lock(&dpt__error_lock);
  if (!stream->reserve && error->size == RESERVE && atomic_load(&error->references) == 1) {
    atomic_store(&error->told, 0);
    stream->reserve = error;
    error = NULL;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(error);
}

/* The memory for a message of that size; where there is none the stream's reserve, and the message
 * is cut. NULL: that is used already. */
static dpt__error *error_for(dpt__stream *stream, size_t size) {
  dpt__error *error = error_new(size);
  if (!error) {
    dpt__lock(&dpt__error_lock);
    error = stream->reserve;
    stream->reserve = NULL;
    dpt__unlock(&dpt__error_lock);
  }
  fill_reserve(stream);
  return error;
}

void dpt__stream_keep(dpt__stream *stream, const char *name, uint64_t number) {
  atomic_fetch_add(&failures, 1);
  const char *text = dpt_message();
  char where[64], which[32];
  snprintf(where, sizeof where, " (queued on %s of device %d)", stream_name(which, stream),
           stream->device);
  dpt__error *error = error_for(stream, strlen(name) + strlen(text) + strlen(where) + 3);
  if (!error) return;
  snprintf(error->text, error->size, "%s: %s%s", name, text, where);
  dpt__lock(&dpt__error_lock);
  dpt__error *old = error;
  if (!has_error(stream)) {
    old = stream->error;
    stream->error = error;
    stream->error_number = number;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(old);
}

void dpt__stream_inherit(dpt__stream *stream, uint64_t number, dpt__event event) {
  dpt__error *old = NULL;
  dpt__lock(&dpt__error_lock);
  dpt__stream *from = event.stream;
  if (has_error(from) && from->error_number <= event.number && !has_error(stream)) {
    atomic_fetch_add(&from->error->references, 1);
    old = stream->error;
    stream->error = from->error;
    stream->error_number = number;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(old);
}

static item *next_item(dpt__stream *stream) {
  for (;;) {
    dpt__segment *ring = stream->read;
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    dpt__assert(head <= atomic_load(&ring->tail));
    if (head == atomic_load_explicit(&ring->tail, memory_order_acquire)) {
      stream->read = atomic_load_explicit(&ring->next, memory_order_acquire);
      free(ring);
      continue;
    }
    item *it = (item *)(ring->bytes + (head & (ring->capacity - 1)));
    if (it->fn) return it;
    atomic_store_explicit(&ring->head, head + it->size, memory_order_release);
  }
}

static int run_wait(dpt__context *context, const void *args);

static void *run_stream(void *arg) {
  dpt__stream *stream = arg;
  dpt__context context = {.backend = stream->backend,
                          .stream = stream,
                          .queue = stream->queue,
                          .device = stream->device,
                          .threads = stream->threads};
  uint64_t random = 0;
  dpt__counter_worker();
  dpt__gomp_begin(stream->threads, stream->announces);
  int lost = stream->backend->enter && stream->backend->enter(stream->unit);
  for (uint64_t number = 1;; number++) {
    dpt__counter_wait(&stream->submitted, number);
    item *it = next_item(stream);
    size_t size = it->size;
    context.name = it->name;
    context.number = number;
    dpt__delay(&random, stream->id);
    /* a wait may never end, and does no harm; at a meeting the others wait for this stream */
    int meets = it->fn == dpt__meeting_run;
    if (it->fn != run_wait && !meets) dpt__runner_enter(&stream->runner);
    if ((lost && !meets) || it->fn(&context, it + 1)) dpt__stream_keep(stream, it->name, number);
    dpt__runner_done(&stream->runner);
    dpt__scratch_reset(&dpt__local);
    atomic_fetch_add_explicit(&stream->read->head, size, memory_order_release);
    dpt__counter_advance(progress(stream), number);
  }
  return NULL;
}

static int start(dpt__stream *stream) DPT__REQUIRES(stream->lock) {
  dpt__assert_held(&stream->lock);
  char what[64], which[32];
  snprintf(what, sizeof what, "%s of device %d", stream_name(which, stream), stream->device);
  if (!stream->write) stream->write = stream->read = segment_new(FIRST_RING);
  if (!stream->write || fill_reserve(stream))
    return dpt__no_memory("%s: no host memory for its queue", what);
  if (!has_queue(stream)) DPT__TRY(dpt__marks_new(stream));
  pthread_t thread;
  dpt__runner_add(&stream->runner);
  stream->announces = dpt__gomp_claim(stream->threads);
  if (dpt__thread_start(&thread, run_stream, stream, what)) {
    if (stream->announces) dpt__gomp_unclaim();
    dpt__runner_remove(&stream->runner);
    return 1;
  }
  pthread_detach(thread);
  if (stream->announces) dpt__gomp_wait();
  stream->started = 1;
  return 0;
}

/* ---- queueing ---- */

/* Room for size bytes in one piece at *tail, behind a filler where the ring ends; or 0. */
static int has_room(dpt__segment *ring, size_t size, size_t *tail) {
  size_t written = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  size_t to_end = ring->capacity - (written & (ring->capacity - 1));
  size_t filler = size > to_end ? to_end : 0;
  if (written + filler + size - ring->known_head > ring->capacity) {
    ring->known_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (written + filler + size - ring->known_head > ring->capacity) return 0;
  }
  if (filler) {
    item *it = (item *)(ring->bytes + (written & (ring->capacity - 1)));
    *it = (item){NULL, NULL, filler, 0};
  }
  *tail = written + filler;
  return 1;
}

/* A ring of twice the size has room once it is empty, wherever it ends. */
static int make_room(dpt__stream *stream, size_t size, size_t *tail) DPT__REQUIRES(stream->lock) {
  dpt__assert_held(&stream->lock);
  for (;;) {
    /* read before it is known that there is no room: what runs meanwhile ends the wait below */
    uint64_t seen = dpt__counter_value(progress(stream));
    if (has_room(stream->write, size, tail)) return 0;
    dpt__segment *ring = stream->write;
    if (ring->capacity >= MAX_RING && ring->capacity >= 2 * size) {
      (void)dpt__sync_point("stream full");
      dpt__counter_wait(progress(stream), seen + 1);
      continue;
    }
    size_t capacity = ring->capacity * 2;
    while (capacity < 2 * size) capacity *= 2;
    dpt__segment *next = segment_new(capacity);
    if (!next) return dpt__no_memory("no host memory for the queue of a stream");
    atomic_store_explicit(&ring->next, next, memory_order_release);
    stream->write = next;
  }
}

/* Under the locks of n streams, which clang cannot count: room of `size` bytes in each, at tail[i].
 */
static int prepare(int n, dpt__stream *const *streams, const char *name, size_t size,
                   size_t *tail) DPT__UNPROVED {
  for (int i = 0; i < n; i++) {
    if (atomic_load(&streams[i]->capture) != dpt__own_capture)
      return dpt__graph_mismatch(name, streams[i]);
    if (!streams[i]->started) DPT__TRY(start(streams[i]));
    DPT__TRY(make_room(streams[i], size, &tail[i]));
  }
  return 0;
}

static void put(dpt__stream *stream, size_t tail, item head, const void *args, size_t size)
    DPT__REQUIRES(stream->lock) {
  dpt__assert_held(&stream->lock);
  dpt__segment *ring = stream->write;
  dpt__assert(tail + head.size - atomic_load(&ring->head) <= ring->capacity);
  item *it = (item *)(ring->bytes + (tail & (ring->capacity - 1)));
  *it = head;
  if (size) memcpy(it + 1, args, size);
  atomic_store_explicit(&ring->tail, tail + head.size, memory_order_release);
  dpt__counter_advance(&stream->submitted, dpt__counter_value(&stream->submitted) + 1);
}

static int push(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                const void *args, size_t size) DPT__UNPROVED {
  dpt__assert(n > 0 && n <= DPT__PUSH_MAX);
  size_t tail[DPT__PUSH_MAX], whole = (sizeof(item) + size + UNIT - 1) / UNIT * UNIT;
  for (int i = 0; i < n; i++) {
    dpt__assert(i == 0 || streams[i]->id > streams[i - 1]->id);
    dpt__lock(&streams[i]->lock);
  }
  int status = prepare(n, streams, name, whole, tail);
  for (int i = 0; i < n && !status; i++)
    put(streams[i], tail[i], (item){fn, name, whole, 0}, args, size);
  if (!status && fn != run_wait) dpt__effect();
  for (int i = 0; i < n; i++) dpt__unlock(&streams[i]->lock);
  return status;
}

int dpt__stream_push_unordered(dpt__stream *stream, dpt__kernel_fn *fn, const char *name,
                               const void *args, size_t size) {
  return push(1, &stream, fn, name, args, size);
}

/* ---- events ---- */

static int run_wait(dpt__context *context, const void *args) {
  dpt__event event = *(const dpt__event *)args;
  dpt__stream *stream = context->stream;
  uint64_t number = dpt__event_running(stream).number;
  if (stream->queue) {
    DPT__TRY(dpt__marks_await(stream, event));
    DPT__TRY(dpt__marks_follow(stream, number, event));
  } else {
    dpt__counter_wait(&event.stream->done, event.number);
  }
  dpt__stream_inherit(stream, number, event);
  return 0;
}

static int wait_for(dpt__stream *stream, dpt__event event) {
  if (!event.stream || event.stream == stream || !event.number) return 0;
  if (dpt__own_capture && !dpt__event_done(event))
    return dpt__graph_mismatch(
        "a wait", atomic_load(&stream->capture) == dpt__own_capture ? event.stream : stream);
  if (dpt__event_over(event) && has_queue(stream)) {
    dpt__stream_inherit(stream, 0, event);
    return stream->queue ? dpt__marks_follow(stream, 0, event) : 0;
  }
  return push(1, &stream, run_wait, "stream wait", &event, sizeof event);
}

/* Queues the waits that order a blocking stream and its device's stream 0. Cheap where the device
 * has no blocking stream. */
static int order(dpt__stream *stream) {
  dpt__device *device = dpt__device_at(stream->device);
  if (!atomic_load_explicit(&device->nblocking, memory_order_acquire)) return 0;
  if (stream->index) {
    if (!stream->blocking) return 0;
    dpt__event event = dpt__event_last(device->streams[0]);
    if (event.number <= atomic_load(&stream->seen_default)) return 0;
    DPT__TRY(wait_for(stream, event));
    atomic_store(&stream->seen_default, event.number);
    return 0;
  }
  int count = atomic_load(&device->nstream);
  for (int i = 1; i < count; i++) {
    dpt__stream *other = device->streams[i];
    dpt__event event = dpt__event_last(other);
    if (!other->blocking || event.number <= atomic_load(&other->seen_by_default)) continue;
    DPT__TRY(wait_for(stream, event));
    atomic_store(&other->seen_by_default, event.number);
  }
  return 0;
}

int dpt__stream_push_all(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                         const void *args, size_t size) {
  for (int i = 0; i < n; i++) DPT__TRY(order(streams[i]));
  return push(n, streams, fn, name, args, size);
}

int dpt__stream_push(dpt__stream *stream, dpt__kernel_fn *fn, const char *name, const void *args,
                     size_t size) {
  return dpt__stream_push_all(1, &stream, fn, name, args, size);
}

int dpt__event_record(dpt__stream *stream, dpt__event *event) {
  DPT__TRY(order(stream));
  *event = dpt__event_last(stream);
  return 0;
}

int dpt__stream_wait(dpt__stream *stream, dpt__event event) {
  return order(stream) || wait_for(stream, event);
}

int dpt__stream_wait_all(dpt__stream *stream, dpt__stream *other) {
  dpt__event event;
  return dpt__event_record(other, &event) || dpt__stream_wait(stream, event);
}

int dpt__event_done(dpt__event event) {
  if (dpt__event_over(event)) return 1;
  return event.stream->queue ? dpt__marks_done(event) : 0;
}

void dpt__event_run(dpt__event event) { dpt__counter_wait(progress(event.stream), event.number); }

dpt__event dpt__event_running(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(progress(stream)) + 1};
}

int dpt__event_settle(dpt__event event) {
  if (!event.stream) return 0;
  if (event.stream->backend->queue_new) return dpt__marks_settle(event);
  dpt__counter_wait(&event.stream->done, event.number);
  return 0;
}

int dpt__event_wait(dpt__event event) {
  DPT__TRY(dpt__graph_rejects("synchronize", "it waits for the device"));
  if (!event.stream) return 0;
  dpt__stream *stream = event.stream;
  atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed);
  int status = dpt__event_settle(event);
  if (stream->queue) dpt__marks_look(stream, event.number);
  dpt__error *error = NULL;
  dpt__lock(&dpt__error_lock);
  if (stream->error && stream->error_number <= event.number) {
    error = stream->error;
    stream->error = NULL;
  }
  dpt__unlock(&dpt__error_lock);
  if (error && !atomic_exchange(&error->told, 1)) status = dpt__fail("%s", error->text);
  if (error) error_done(stream, error);
  return status;
}

int dpt__stream_synchronize(dpt__stream *stream) {
  dpt__event event;
  return dpt__event_record(stream, &event) || dpt__event_wait(event);
}
