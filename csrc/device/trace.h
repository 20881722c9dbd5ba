/* trace.h: a record of every item that streams run, with its real begin and end, while a trace runs
 * (dpt.profiler).
 *
 * Invariant: when off, an item costs its thread and the thread that queues it one relaxed load or a
 * bit of a word that they read anyway. When on, all memory is allocated by dpt_trace_start: a
 * record is claimed by one atomic addition, and an item that finds none is counted as lost. The
 * thread that claims a record fills it in and marks it whole; dpt_trace_stop waits for all records
 * claimed, so that none is written later.
 *
 * The thread that queues an item claims its record, under the lock of its stream; the stream's
 * thread adds the times. On a backend with native streams these are the device's own: those of
 * events before and after the work that the item issues, compared with the clock once for each
 * stream.
 */
#ifndef DPT_DEVICE_TRACE_H
#define DPT_DEVICE_TRACE_H
#include "device/capture.h"

extern atomic_int dpt__trace_on;
static inline int dpt__tracing(void) {
  return atomic_load_explicit(&dpt__trace_on, memory_order_relaxed);
}

/* Bytes that a traced item has after its arguments. */
enum { DPT__TRACE_BYTES = sizeof(uint64_t) };
/* Records that the item with that number was queued on the stream. */
void dpt__trace_queued(dpt__stream *stream, uint64_t number, dpt__item *item, const void *args);
/* Called on the stream's thread, before and after the item's function; begin returns the record to
 * pass to end, 0 for none.
 */
uint64_t dpt__trace_begin(dpt__stream *stream, const dpt__item *item);
void dpt__trace_end(dpt__stream *stream, uint64_t record);

/* Describes the operands of the item that this thread queues next; between: it is a copy between
 * devices.
 */
void dpt__trace_describe(int64_t bytes, const dpt_tensor *t /* or NULL */, int between);
/* Records that the calling thread has waited for an event since `from` (dpt__now). */
void dpt__trace_waited(dpt__event event, int64_t from);
/* Records that a block was allocated (bytes > 0) or freed on a device, which has `live` bytes
 * now. */
void dpt__trace_memory(int device, const void *block, int64_t bytes, int64_t live);

#endif
