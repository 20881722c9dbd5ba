/* backend_events.h: tracks the progress of streams, on backends that have native streams.
 *
 * Invariant: `done` of a stream is advanced only here, under the lock of its backend events, to
 * numbers whose items the native stream has passed. A backend event is recorded after items that
 * were issued, so a thread that queries an item waits until it was issued: the stream's thread
 * never waits for a device.
 */
#ifndef DPT_DEVICE_BACKEND_EVENTS_H
#define DPT_DEVICE_BACKEND_EVENTS_H
#include "device/stream_state.h"

/* Creates the native stream of a stream that starts, and the record of its events. */
int dpt__backend_events_new(dpt__stream *stream);
/* Sets *done = 1 if the native stream has passed the event; does not wait. Returns 1 with an error
 * message if the device failed. */
int dpt__backend_event_query(dpt__event event, int *done);
/* Blocks the caller until the native stream has passed the event; fails if the device does. */
int dpt__backend_event_synchronize(dpt__event event);
/* Makes later work of the native stream wait for the event, which is of a stream of the same
 * backend. */
int dpt__backend_stream_wait_event(dpt__stream *stream, dpt__event event);

/* Stops recording events (on 0: resumes). All work of the stream must have ended. */
void dpt__backend_events_close(dpt__stream *stream, int on);

/* Kernel errors surface asynchronously. Each stream remembers the streams that it waited for (in
 * its item `at`; 0: the event was over) until its own work after that is done without an error.
 * poll queries a native stream and all streams that it waited for, and sets their errors as the
 * errors of those streams and of the first one, as if its item `number` had failed. */
int dpt__backend_events_follow(dpt__stream *stream, uint64_t at, dpt__event event);
void dpt__backend_events_poll(dpt__stream *stream, uint64_t number);

#endif
