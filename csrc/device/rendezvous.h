/* rendezvous.h: one item of work for several streams.
 *
 * Invariant: a rendezvous is one item of each stream, all queued atomically, so that any other item
 * is before it on every stream or after it on every stream, and streams never wait for each other
 * in a cycle. The stream that arrives last runs the work, for all of them; the others' threads wait
 * until it has returned. Its error is one error, reported once, by the stream that is waited for
 * first.
 */
#ifndef DPT_DEVICE_RENDEZVOUS_H
#define DPT_DEVICE_RENDEZVOUS_H
#include "device/stream.h"

/* Runs on the thread of one of the streams, in the context of that stream. n and streams are those
 * passed to dpt__stream_rendezvous. */
typedef int dpt__rendezvous_fn(dpt__context *context, int n, dpt__stream *const *streams,
                               const void *args);

/* Queues fn(context, n, streams, a copy of args) after everything queued on the n streams and
 * before everything queued there later. n is at most DPT__PUSH_MAX; no stream may occur twice. */
int dpt__stream_rendezvous(int n, dpt__stream *const *streams, dpt__rendezvous_fn *fn,
                           const char *name, const void *args, size_t size);

#endif
