/* stream.h: in-order queues of work, each run by its own OS thread, and waits for events.
 *
 * Invariant: an item's function and a copy of its arguments are all that is queued; it runs after
 * every earlier item of its stream has finished. An item waits only for items that were queued
 * before it, on any stream: so waiting can never go round in a circle.
 *
 * On a backend with queues (backend.h) a stream's thread issues items to the stream's queue: an
 * item is issued when its function has returned, and done when the queue has passed it, which is
 * noticed when somebody asks. Streams then wait for each other in their queues, not in their
 * threads. Elsewhere an item that was issued is done.
 *
 * There a thread that sleeps takes longer to wake up than a small kernel to run. So while a stream
 * has nothing to do, kernels that go through little memory run in the thread that queues them, as
 * items of the stream like others (their errors are its), for 20 us between two waits: more is
 * better done beside that thread, unless it waits for them at once. Traces and DPT_DELAY have all
 * of them in the stream's.
 */
#ifndef DPT_DEVICE_STREAM_H
#define DPT_DEVICE_STREAM_H
#include "device/stream_state.h"

/* Queues fn(context, a copy of args); size may be 0. name stands in messages: a literal. As every
 * function here that queues or records, it first orders a blocking stream with stream 0. */
int dpt__stream_push(dpt__stream *stream, dpt__kernel_fn *fn, const char *name, const void *args,
                     size_t size);
/* The same for a kernel, on its context's stream and with its temporary memory. It runs at once if
 * the stream rests and context->bytes are few, or it is awaited. */
int dpt__stream_push_kernel(const dpt__context *context, dpt__kernel_fn *fn, const void *args,
                            size_t size);
/* Whether an awaited kernel would run at once; whether a small one would: others need not be
 * measured. */
int dpt__stream_sleeps(dpt__stream *stream);
int dpt__stream_rests(dpt__stream *stream);
/* The same for n streams at once, DPT__PUSH_MAX at most, each there once and in the order of their
 * ids: whatever others queue comes before all of these items, or after all. They are the items of a
 * rendezvous. */
enum { DPT__PUSH_MAX = 256 };
int dpt__stream_push_all(int n, dpt__stream *const *streams, dpt__kernel_fn *fn, const char *name,
                         const void *args, size_t size);
int dpt__stream_push_unordered(dpt__stream *stream, dpt__kernel_fn *fn, const char *name,
                               const void *args, size_t size); /* of captures: with no other */
/* Everything that counts as queued on the stream: what a blocking stream is ordered behind, too. */
int dpt__event_record(dpt__stream *stream, dpt__event *event);
/* *done = 1 if the event is over; does not wait. 1 and an error message if the device failed. */
int dpt__event_query(dpt__event event, int *done);
int dpt__event_done(dpt__event event); /* 0 also if that fails */
/* Later items of stream wait for the event; nothing is queued if that is already so. */
int dpt__stream_wait(dpt__stream *stream, dpt__event event);
/* The same for everything that is queued on `other` now. */
int dpt__stream_wait_all(dpt__stream *stream, dpt__stream *other);
/* The caller waits, and gets the error that the stream keeps. dpt__event_wait_quietly only waits:
 * the error stays. */
int dpt__event_wait(dpt__event event);
/* The same for work that nothing queued was before: dpt_waits does not count it. */
int dpt__event_wait_uncounted(dpt__event event);
int dpt__event_wait_quietly(dpt__event event);
int dpt__stream_synchronize(dpt__stream *stream);

#endif
