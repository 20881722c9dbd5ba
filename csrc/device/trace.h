/* trace.h: a record of every item that streams run, with its real begin and end, while one is
 * wanted (dpt.profiler).
 *
 * Invariant: off, an item costs its thread and who queues it one relaxed load or a bit of a word
 * that they read anyway. On, memory is that of dpt_trace_start: a record is claimed by one atomic
 * addition, what finds none is counted as lost. Who claims a record fills it in and says that it is
 * whole; dpt_trace_stop waits for all that were claimed, so that nobody writes to them later.
 *
 * An item's record is claimed by who queues it, under the lock of its stream; its thread adds the
 * times. On a backend with native streams these are the device's own: of events before and behind
 * what the item issues, compared with the clock once for each stream.
 */
#ifndef DPT_DEVICE_TRACE_H
#define DPT_DEVICE_TRACE_H
#include "device/capture.h"

extern atomic_int dpt__trace_on;
static inline int dpt__tracing(void) {
  return atomic_load_explicit(&dpt__trace_on, memory_order_relaxed);
}

/* Bytes that an item of a trace has behind its arguments. */
enum { DPT__TRACE_BYTES = sizeof(uint64_t) };
/* The item with that number is queued on the stream. */
void dpt__trace_queued(dpt__stream *stream, uint64_t number, dpt__item *item, const void *args);
/* On its stream's thread, before and after its function; begin returns what end wants, 0: nothing.
 */
uint64_t dpt__trace_begin(dpt__stream *stream, const dpt__item *item);
void dpt__trace_end(dpt__stream *stream, uint64_t record);

/* What the item works on that this thread queues next; between: it is a copy between devices.
 */
void dpt__trace_describe(int64_t bytes, const dpt_tensor *t /* or NULL */, int between);
/* The calling thread has waited for an event since then (dpt__now). */
void dpt__trace_waited(dpt__event event, int64_t from);
/* A block was taken (bytes > 0) or given back on a device, which has `live` bytes now. */
void dpt__trace_memory(int device, const void *block, int64_t bytes, int64_t live);

#endif
