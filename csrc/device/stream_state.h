/* stream_state.h: what a device and a stream consist of; events; the errors that streams keep.
 *
 * Invariant: items are numbered from 1; an event is (stream, number), so that recording one costs
 * nothing. Streams live until the process ends.
 *
 * Errors: the first error of a stream is kept until a wait on that stream, or on a stream that
 * waited for an event behind the failed item, reports it; one error is reported once.
 *
 * What the stream's thread writes for each item, and what those write who queue, are in cache lines
 * of their own: else each item would cost both sides misses.
 *
 * Locks: a stream's `lock` is held by whoever queues and is the innermost lock (of several
 * streams': by rising id); the stream's thread never takes it. Errors have a lock of their own.
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
  int64_t memory;       /* bytes in all */
  dpt_device_info info; /* threads 0: those that it computes with */
  atomic_int nstream;   /* with stream 0 */
  atomic_int nblocking; /* of the others */
  dpt__stream *streams[DPT__MAX_STREAMS];
  _Atomic(dpt__stream *) communication; /* beside them, for work that users never choose it for */
} dpt__device;

extern dpt__mutex dpt__error_lock; /* of the errors of all streams */
typedef struct dpt__error dpt__error;

struct dpt__stream {
  /* What stays as it is, or seldom changes. */
  const dpt__backend *backend;
  dpt__device *owner;
  int unit;          /* the backend's number of the device */
  int device, index; /* device from 1; index 0: the default stream, from 1: reserved ones, -1: the
                      * one for communication */
  int id;            /* different for every stream of the process, from 0 */
  int threads;       /* OpenMP threads for its kernels */
  int blocking;      /* ordered with the device's stream 0 */
  /* The backend's; NULL: not started, or of a backend without streams, which does not use `issued`.
   * Set after `events`, so that whoever sees it sees them. */
  _Atomic(void *) native_stream;
  struct dpt__backend_events *events;
  _Atomic(struct dpt__capture *) capture; /* capture.h; NULL: what is queued is done */
  struct dpt__trace_clock *clock;         /* trace.c's */
  /* What those who queue write. */
  _Alignas(DPT__LINE) dpt__mutex lock;
  int started DPT__GUARDED_BY(lock);
  dpt__ring *write DPT__GUARDED_BY(lock); /* where the next item goes */
  dpt__counter submitted;
  /* A blocking stream: its stream 0's last item that it waited for, and its own last item that
   * stream 0 waited for. */
  _Atomic uint64_t seen_default, seen_by_default;
  _Atomic int64_t here; /* nanoseconds of kernels that ran where they were queued, since a wait */
  /* What the stream's thread writes. */
  _Alignas(DPT__LINE) dpt__runner runner;
  dpt__ring *read; /* where the next item is */
  dpt__counter issued, done;
  /* first one that is not reported yet, with the item behind which it lies; memory for one more */
  dpt__error *error DPT__GUARDED_BY(dpt__error_lock);
  uint64_t error_number DPT__GUARDED_BY(dpt__error_lock);
  dpt__error *reserve DPT__GUARDED_BY(dpt__error_lock);
};

/* A stream that has not started; the caller adds it to the device. NULL leaves an error message. */
dpt__stream *dpt__stream_new(dpt__device *device, int index, int blocking);
/* "stream 1 of device 2" */
enum { DPT__STREAM_NAME = 64 };
const char *dpt__stream_name(char text[DPT__STREAM_NAME], const dpt__stream *stream);

/* Of an operation on the stream; its native stream is only for the kernels that its thread runs. */
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

/* The last item that was queued on this stream itself. */
static inline dpt__event dpt__event_last(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(&stream->submitted)};
}
/* Whether it is known to be over; dpt__event_done asks the backend. */
static inline int dpt__event_over(dpt__event event) {
  return !event.stream || dpt__counter_value(&event.stream->done) >= event.number;
}
/* What a stream's thread advances when it has run an item. */
static inline dpt__counter *dpt__stream_progress(dpt__stream *stream) {
  return stream->backend->stream_new ? &stream->issued : &stream->done;
}
/* For an item's function: the item of its stream that runs now. */
static inline dpt__event dpt__event_running(dpt__stream *stream) {
  return (dpt__event){stream, dpt__counter_value(dpt__stream_progress(stream)) + 1};
}
/* The calling thread waits until an item's function has returned. */
static inline void dpt__event_run(dpt__event event) {
  dpt__counter_wait(dpt__stream_progress(event.stream), event.number);
}

/* ---- errors ---- */

/* This thread's error message becomes the stream's error, of its item `number`, unless it has one;
 * name: of the operation, which no kernel's message names itself. */
void dpt__stream_set_error(dpt__stream *stream, const char *name, uint64_t number);
/* The stream, from its item `number` on, takes over the error that lies before an event that it
 * waited for. */
void dpt__stream_inherit(dpt__stream *stream, uint64_t number, dpt__event event);
/* The stream's error, if it has one up to the event that was not reported: 1 and its message. */
int dpt__stream_report(dpt__event event);
/* Memory for an error message if there will be no other; 1: there is none. */
int dpt__stream_reserve_error(dpt__stream *stream);

#endif
