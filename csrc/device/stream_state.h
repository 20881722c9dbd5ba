/* stream_state.h: the state of devices and streams; events; the errors that streams keep.
 *
 * Invariant: items are numbered from 1; an event is (stream, number), so that recording one costs
 * nothing. Streams live until the process ends.
 *
 * Errors: the first error of a stream is kept until a wait on that stream, or on a stream that
 * waited for an event after the failed item, reports it. One error is reported once.
 *
 * Fields written by the stream's thread for each item and fields written by threads that queue are
 * in separate cache lines: otherwise each item would cost both sides cache misses.
 *
 * Locks: a thread that queues holds a stream's `lock`, which is the innermost lock (locks of
 * several streams are taken by rising id); the stream's thread never takes it. Errors have their
 * own lock.
 */
#ifndef DPT_DEVICE_STREAM_STATE_H
#define DPT_DEVICE_STREAM_STATE_H
#include "base/lock.h"
#include "device/backend.h"
#include "device/counter.h"
#include "device/ring.h"
#include "device/shutdown.h"

enum { DPT__MAX_STREAMS = 256 };

/* A logical device; see device.h. */
typedef struct dpt__device {
  const dpt__backend *backend;
  int number;           /* from 1 */
  int index;            /* the backend's own number, from 0 */
  int threads;          /* OpenMP threads of each of its streams */
  int64_t memory;       /* total bytes */
  dpt_device_info info; /* if its `threads` is 0, `threads` above applies */
  atomic_int nstream;   /* including stream 0 */
  atomic_int nblocking; /* the number of blocking streams */
  dpt__stream *streams[DPT__MAX_STREAMS];
  _Atomic(dpt__stream *) communication; /* an additional stream, which users cannot choose */
} dpt__device;

extern dpt__mutex dpt__error_lock; /* guards the errors of all streams */
typedef struct dpt__error dpt__error;

struct dpt__stream {
  /* Fields that never or rarely change. */
  const dpt__backend *backend;
  dpt__device *owner;
  int unit;          /* the backend's number of the device */
  int device, index; /* device from 1; index 0: the default stream, from 1: reserved ones, -1: the
                      * communication stream */
  int id;            /* unique among all streams of the process, from 0 */
  int threads;       /* OpenMP threads for its kernels */
  int blocking;      /* ordered with the device's stream 0 */
  /* The backend's; NULL: not started, or of a backend without streams, which does not use `issued`.
   * Set after `events`, so that a thread that sees it also sees them. */
  _Atomic(void *) native_stream;
  struct dpt__backend_events *events;
  _Atomic(struct dpt__capture *) capture; /* capture.h; NULL: items are executed */
  struct dpt__trace_clock *clock;         /* see trace.c */
  /* Fields written by threads that queue. */
  _Alignas(DPT__LINE) dpt__mutex lock;
  int started DPT__GUARDED_BY(lock);
  dpt__ring *write DPT__GUARDED_BY(lock); /* where the next item is written */
  dpt__counter submitted;
  /* For a blocking stream: the last item of its stream 0 that it waited for, and its own last item
   * that stream 0 waited for. */
  _Atomic uint64_t seen_default, seen_by_default;
  _Atomic int64_t here; /* nanoseconds of kernels run by threads that queue, since a wait */
  /* Fields written by the stream's thread. */
  _Alignas(DPT__LINE) dpt__runner runner;
  dpt__ring *read; /* where the next item is read */
  dpt__counter issued, done;
  /* the first error not reported yet, the item after which it occurred, memory for one more */
  dpt__error *error DPT__GUARDED_BY(dpt__error_lock);
  uint64_t error_number DPT__GUARDED_BY(dpt__error_lock);
  dpt__error *reserve DPT__GUARDED_BY(dpt__error_lock);
};

/* Creates a stream that has not started; the caller adds it to the device. NULL on failure, with an
 * error message. */
dpt__stream *dpt__stream_new(dpt__device *device, int index, int blocking);
/* "stream 1 of device 2" */
enum { DPT__STREAM_NAME = 64 };
const char *dpt__stream_name(char text[DPT__STREAM_NAME], const dpt__stream *stream);

/* Returns the context of an operation on the stream, without the native stream, which only kernels
 * run by the stream's thread use. */
static inline dpt__context dpt__stream_context(dpt__stream *stream, const char *name) {
  return (dpt__context){.backend = stream->backend,
                        .stream = stream,
                        .device = stream->device,
                        .unit = stream->unit,
                        .threads = stream->threads,
                        .name = name};
}

/* ---- events ---- */

typedef struct dpt__event {
  dpt__stream *stream; /* NULL: nothing to wait for */
  uint64_t number;
} dpt__event;

/* Returns the last item that was queued on this stream itself. */
static inline dpt__event dpt__event_last(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(&stream->submitted)};
}
/* Returns true if the event is known to be over; dpt__event_done also queries the backend. */
static inline int dpt__event_known_done(dpt__event event) {
  return !event.stream || dpt__counter_value(&event.stream->done) >= event.number;
}
/* Returns the counter that a stream's thread advances after it has run an item. */
static inline dpt__counter *dpt__stream_progress(dpt__stream *stream) {
  return stream->backend->stream_new ? &stream->issued : &stream->done;
}
/* For an item's function: returns the item of its stream that runs now. */
static inline dpt__event dpt__event_running(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(dpt__stream_progress(stream)) + 1};
}
/* Blocks the calling thread until an item's function has returned. */
static inline void dpt__event_run(dpt__event event) {
  dpt__counter_wait(dpt__stream_progress(event.stream), event.number);
}

/* ---- errors ---- */

/* Makes this thread's error message the error of the stream's item `number`, unless the stream has
 * an error already; name: of the operation, which a kernel's message does not contain. */
void dpt__stream_set_error(dpt__stream *stream, const char *name, uint64_t number);
/* Copies to the stream, from its item `number` on, the error that occurred before an event that it
 * waited for. */
void dpt__stream_inherit(dpt__stream *stream, uint64_t number, dpt__event event);
/* Returns 1 and the message of the stream's error if it has one up to the event that was not
 * reported. */
int dpt__stream_report(dpt__event event);
/* Allocates memory for an error message in case there is none left later; returns 1 if that
 * fails. */
int dpt__stream_reserve_error(dpt__stream *stream);

#endif
