/* capture.h: captures a thread's work into a graph, and rejects work that cannot be captured.
 *
 * Invariant: while a thread captures, work that it queues on the stream is recorded by the
 * backend's native stream and not executed. So that thread can neither wait nor use another stream,
 * and other threads cannot use this one: each gets an error message. Code that queues work records
 * what the captured work uses: blocks (allocator.h), storages that it writes to (storage.h), random
 * numbers (draws.h).
 */
#ifndef DPT_DEVICE_CAPTURE_H
#define DPT_DEVICE_CAPTURE_H
#include "device/stream_state.h"

typedef struct dpt__list {
  void **item;
  int n, capacity;
} dpt__list;

typedef struct dpt__capture {
  uint64_t id; /* never reused */
  dpt__stream *stream;
  dpt__list blocks, written;  /* dpt__block, dpt_storage */
  struct dpt__block *scratch; /* one of `blocks`: shared by its kernels, the largest needed */
  int failed;                 /* a resource in use could not be recorded */
  uint64_t draws;             /* the number of draws in a replay */
  uint64_t *live;             /* device memory, one of `blocks`: the initial state of its draws */
} dpt__capture;

/* The capture of this thread; NULL: none. */
extern _Thread_local dpt__capture *dpt__own_capture;

/* dpt__capture_reject fails with a message that fn cannot be captured, and why.
 * dpt__capture_rejects does so only if this thread captures.
 */
int dpt__capture_reject(const char *fn, const char *why);
static inline int dpt__capture_rejects(const char *fn, const char *why) {
  return dpt__own_capture ? dpt__capture_reject(fn, why) : 0;
}
/* Fails with a message that fn conflicts with a capture: one on the stream, or one by this
 * thread. */
int dpt__capture_mismatch(const char *fn, const dpt__stream *stream);

int dpt__list_add(dpt__list *list, void *item); /* 1 if out of host memory, without a message */

#endif
