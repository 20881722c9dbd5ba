/* stream.h: in-order queues of work, each run by its own OS thread, and waits for events.
 *
 * Invariant: an item consists of a function and a copy of its arguments. It runs after every
 * earlier item of its stream has finished. An item waits only for items that were queued before it,
 * on any stream, so waits never form a cycle.
 *
 * On a backend with native streams (backend.h) a stream's thread issues items to the native stream.
 * An item is issued when its function has returned, and done when the native stream has passed it,
 * which is noticed only when it is queried. Streams then wait for each other in their native
 * streams, not in their threads. On other backends an issued item is also done.
 *
 * On backends without native streams, a sleeping thread takes longer to wake up than a small kernel
 * takes to run. So while a stream is idle, kernels that process little memory run in the thread
 * that queues them, as ordinary items of the stream (which keeps their errors), for up to 20 us
 * between two waits. Beyond that it is faster to run them concurrently, unless the queueing thread
 * waits for them at once. With traces or DPT_DELAY, all kernels run in the stream's thread.
 */
#ifndef DPT_DEVICE_STREAM_H
#define DPT_DEVICE_STREAM_H
#include "device/stream_state.h"

/* Queues fn(context, a copy of args); size may be 0. name, a literal, appears in messages. Like
 * every function here that queues or records, it first orders a blocking stream with stream 0. */
int dpt__stream_push(dpt__stream *stream, dpt__kernel_fn *fn, const char *name, const void *args,
                     size_t size);
/* Queues a kernel on its context's stream, with its temporary memory. It runs at once if the stream
 * is idle and either context->bytes is small or the kernel is awaited. */
int dpt__stream_push_kernel(const dpt__context *context, dpt__kernel_fn *fn, const void *args,
                            size_t size);
/* is_sleeping: returns true if an awaited kernel would run at once. is_idle: returns true if a
 * small kernel would; otherwise the bytes of kernels need not be counted. */
int dpt__stream_is_sleeping(dpt__stream *stream);
int dpt__stream_is_idle(dpt__stream *stream);
/* Queues on n streams at once, at most DPT__PUSH_MAX, each once and sorted by id: any other item is
 * before all of these items, or after all. They are the items of a rendezvous. */
enum { DPT__PUSH_MAX = 256 };
int dpt__stream_push_all(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                         const void *args, size_t size);
int dpt__stream_push_unordered(dpt__stream *stream, dpt__kernel_fn *fn, const char *name,
                               const void *args, size_t size); /* for captures: not ordered */
/* Records an event after all work that counts as queued on the stream, including work that a
 * blocking stream is ordered after. */
int dpt__event_record(dpt__stream *stream, dpt__event *event);
/* Sets *done = 1 if the event is over; does not wait. Returns 1 with an error message if the device
 * failed. */
int dpt__event_query(dpt__event event, int *done);
int dpt__event_done(dpt__event event); /* returns 0 if the event is not over or the query fails */
/* Makes later items of stream wait for the event; queues nothing if it is already over. */
int dpt__stream_wait(dpt__stream *stream, dpt__event event);
/* Makes later items of stream wait for all work queued on `other` now. */
int dpt__stream_wait_all(dpt__stream *stream, dpt__stream *other);
/* Blocks the caller, and returns the error that the stream keeps. dpt__event_wait_keep_error only
 * waits: the error is kept. */
int dpt__event_wait(dpt__event event);
/* Like dpt__event_wait, but not counted by dpt_waits: for an event with no work queued before
 * it. */
int dpt__event_wait_uncounted(dpt__event event);
int dpt__event_wait_keep_error(dpt__event event);
int dpt__stream_synchronize(dpt__stream *stream);

#endif
