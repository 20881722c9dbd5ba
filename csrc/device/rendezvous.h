/* rendezvous.h: one piece of work of several streams.
 *
 * Invariant: a rendezvous is one item of each stream, all queued at once, so that whatever others
 * queue lies before it on every stream or behind it on every stream: streams never wait for each
 * other in a circle. The stream that comes last runs the work, for all of them; the others' threads
 * wait until it has returned. Its error is one error, reported once, by whichever stream is waited
 * for first.
 */
#ifndef DPT_DEVICE_RENDEZVOUS_H
#define DPT_DEVICE_RENDEZVOUS_H
#include "device/stream.h"

/* Runs on the thread of one of the streams, in its context; streams are those of
 * dpt__stream_rendezvous. */
typedef int dpt__rendezvous_fn(dpt__context *context, int n, dpt__stream *const *streams,
                               const void *args);

/* Queues fn(context, n, streams, a copy of args): after everything that is queued on the n streams,
 * DPT__PUSH_MAX at most, each there once, before everything that is queued there later. */
int dpt__stream_rendezvous(int n, dpt__stream *const *streams, dpt__rendezvous_fn *fn,
                           const char *name, const void *args, size_t size);

#endif
