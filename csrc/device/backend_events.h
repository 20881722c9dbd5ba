/* backend_events.h: how far a device has got with a stream, on backends that have native streams.
 *
 * Invariant: `done` of a stream is advanced here alone, under the lock of its backend events, to
 * numbers whose items the native stream has passed. A backend event is recorded behind items that
 * were issued, so whoever asks about an item waits until it was: its stream's thread never waits
 * for a device.
 */
#ifndef DPT_DEVICE_BACKEND_EVENTS_H
#define DPT_DEVICE_BACKEND_EVENTS_H
#include "device/stream_state.h"

/* The native stream of a stream that starts, and what is known of it. */
int dpt__backend_events_new(dpt__stream *stream);
/* *done = 1 if the native stream has passed the event; does not wait. 1 and an error message if the
 * device failed. */
int dpt__backend_event_query(dpt__event event, int *done);
/* The caller waits until that is so; an error message if that fails. */
int dpt__backend_event_synchronize(dpt__event event);
/* Later work of the native stream waits for the event, which is of a stream of the same backend. */
int dpt__backend_stream_wait_event(dpt__stream *stream, dpt__event event);

/* No event is recorded any more (on 0: they are again): the stream has passed all that it got. */
void dpt__backend_events_close(dpt__stream *stream, int on);

/* Kernel errors surface asynchronously. Each stream remembers the streams that it waited for (by
 * its item `at`; 0: the event was over) until its own work behind that is done without an error.
 * poll asks a native stream and all that it waited for, and sets what they answer as the errors of
 * those streams and of the first one, as if its item `number` had failed. */
int dpt__backend_events_follow(dpt__stream *stream, uint64_t at, dpt__event event);
void dpt__backend_events_poll(dpt__stream *stream, uint64_t number);

#endif
