/* stream.h: in-order queues of work, each run by its own OS thread, and the events between them.
 *
 * Invariant: an item's function and a copy of its arguments are all that is queued; it runs after
 * every earlier item of its stream has finished. Items are numbered from 1; an event is (stream,
 * number), so that recording one costs nothing. An item waits only for items that were queued
 * before it, on any stream: so waiting can never go round in a circle. Streams live until the
 * process ends.
 *
 * On a backend with queues (backend.h) a stream's thread issues items to the stream's queue: an
 * item is issued when its function has returned, and done when the queue has passed it, which is
 * noticed when somebody asks. Streams then wait for each other in their queues, not in their
 * threads. Elsewhere an item that was issued is done.
 *
 * Errors: the first error of a stream is kept until a wait on that stream, or on a stream that
 * waited for an event behind the failed item, tells it; one error is told once.
 *
 * What the stream's thread writes for each item, and what those write who queue, are in cache lines
 * of their own: else each item would cost both sides misses.
 *
 * Locks: `lock` is held by whoever queues and is the innermost lock (of several streams': by
 * rising id); the stream's thread never takes it. Errors have a lock of their own.
 */
#ifndef DPT_DEVICE_STREAM_H
#define DPT_DEVICE_STREAM_H
#include "base/lock.h"
#include "device/backend.h"
#include "device/counter.h"
#include "device/leaving.h"

extern dpt__mutex dpt__error_lock; /* of the errors of all streams */
typedef struct dpt__error dpt__error;
typedef struct dpt__segment dpt__segment;

enum { DPT__LINE = 64 }; /* bytes of a cache line */

struct dpt__stream {
  /* What stays as it is, or seldom changes. */
  const dpt__backend *backend;
  int unit;          /* the backend's number of the device */
  int device, index; /* device from 1; index 0: the default stream, from 1: reserved ones, -1: the
                      * one for communication */
  int id;            /* different for every stream of the process, from 0 */
  int threads;       /* OpenMP threads for its kernels */
  int announces;     /* its thread lets libgomp know of the streams' threads */
  int blocking;      /* ordered with the device's stream 0 */
  /* NULL: not started, or of a backend without queues, where `issued` is not used. Set after
   * `marks`, so that whoever sees a queue sees its marks. */
  _Atomic(void *) queue;
  struct dpt__marks *marks;
  _Atomic(dpt_graph *) capture; /* graph.h; NULL: what is queued is done */
  /* What those who queue write. */
  _Alignas(DPT__LINE) dpt__mutex lock;
  int started DPT__GUARDED_BY(lock);
  dpt__segment *write DPT__GUARDED_BY(lock); /* where the next item goes */
  dpt__counter submitted;
  /* A blocking stream: its stream 0's last item that it waited for, and its own last item that
   * stream 0 waited for. */
  _Atomic uint64_t seen_default, seen_by_default;
  /* What the stream's thread writes. */
  _Alignas(DPT__LINE) dpt__runner runner;
  dpt__segment *read; /* where the next item is */
  dpt__counter issued, done;
  /* first one that is not told yet, with the item behind which it lies; memory for one more */
  dpt__error *error DPT__GUARDED_BY(dpt__error_lock);
  uint64_t error_number DPT__GUARDED_BY(dpt__error_lock);
  dpt__error *reserve DPT__GUARDED_BY(dpt__error_lock);
};

typedef struct dpt__event {
  dpt__stream *stream; /* NULL: nothing to wait for */
  uint64_t number;
} dpt__event;

dpt__stream *dpt__stream_new(const dpt__backend *backend, int unit, int device, int index,
                             int threads, int blocking);

/* Queues fn(context, a copy of args); size may be 0. name stands in messages: a literal. As every
 * function here that queues or records, it first orders a blocking stream with stream 0. */
int dpt__stream_push(dpt__stream *stream, dpt__kernel_fn *fn, const char *name, const void *args,
                     size_t size);
/* The same for n streams at once, DPT__PUSH_MAX at most, each there once and in the order of their
 * ids: whatever others queue comes before all of these items, or after all. */
enum { DPT__PUSH_MAX = 256 };
int dpt__stream_push_all(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                         const void *args, size_t size);
int dpt__stream_push_unordered(dpt__stream *stream, dpt__kernel_fn *fn, const char *name,
                               const void *args, size_t size); /* of captures: with no other */
/* Everything that counts as queued on the stream: what a blocking stream is ordered behind, too. */
int dpt__event_record(dpt__stream *stream, dpt__event *event);
/* The last item that was queued on this stream itself. */
static inline dpt__event dpt__event_last(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(&stream->submitted)};
}
/* Whether it is known to be over; dpt__event_done asks the queue. */
static inline int dpt__event_over(dpt__event event) {
  return !event.stream || dpt__counter_value(&event.stream->done) >= event.number;
}
int dpt__event_done(dpt__event event);
/* Later items of stream wait for the event; nothing is queued where that is already so. */
int dpt__stream_wait(dpt__stream *stream, dpt__event event);
/* The same for everything that is queued on `other` now. */
int dpt__stream_wait_all(dpt__stream *stream, dpt__stream *other);
/* The caller waits, and gets the error that the stream keeps. dpt__event_settle only waits: the
 * error stays. */
int dpt__event_wait(dpt__event event);
int dpt__event_settle(dpt__event event);
int dpt__stream_synchronize(dpt__stream *stream);

/* For an item's function: the item of its stream that runs now; the calling thread waits until an
 * item's function has returned; the stream, from its item `number` on, takes over the error that
 * lies before an event that it waited for. */
dpt__event dpt__event_running(dpt__stream *stream);
void dpt__event_run(dpt__event event);
void dpt__stream_inherit(dpt__stream *stream, uint64_t number, dpt__event event);
/* This thread's error message becomes the stream's error, of its item `number`, unless it has one;
 * name: of the operation, which no kernel's message names itself. */
void dpt__stream_keep(dpt__stream *stream, const char *name, uint64_t number);

#endif
