/* marks.h: how far a device has got with the queue of a stream, on backends that have queues.
 *
 * Invariant: `done` of a stream is advanced here alone, under the lock of its marks, to numbers
 * whose items the queue has passed. A mark is set behind items that were issued, so whoever asks
 * about an item waits until it was: its stream's thread never waits for a device.
 */
#ifndef DPT_DEVICE_MARKS_H
#define DPT_DEVICE_MARKS_H
#include "device/stream_state.h"

/* The marks and the queue of a stream that starts. */
int dpt__marks_new(dpt__stream *stream);
/* Whether the queue has passed the event, without waiting. */
int dpt__marks_done(dpt__event event);
/* The caller waits until the queue has passed the event; a sentence where the device failed. */
int dpt__marks_settle(dpt__event event);
/* Later work of stream's queue waits for the event, which is of a stream of the same backend. */
int dpt__marks_await(dpt__stream *stream, dpt__event event);

/* No mark is set any more (on 0: they are again): the queue has passed everything that it got. */
void dpt__marks_close(dpt__stream *stream, int on);

/* What kernels find wrong shows long after they were issued, in the queue that they are in. A
 * stream follows those whose events it waited for (by its item `at`; 0: the event was over), until
 * its own work behind that is done and nothing was wrong. look asks the queues of a stream and of
 * all that it follows, and keeps what they say as errors of those streams and of the first one, as
 * if its item `number` had failed. */
int dpt__marks_follow(dpt__stream *stream, uint64_t at, dpt__event event);
void dpt__marks_look(dpt__stream *stream, uint64_t number);

#endif
