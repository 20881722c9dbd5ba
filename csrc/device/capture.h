/* capture.h: what a thread captures into a graph, and what can not be captured.
 *
 * Invariant: while a thread captures, what it queues on the stream is recorded by the stream's
 * queue and not done. So that thread can neither wait nor use another stream, and other threads can
 * not use this one: each gets an error message. Whoever queues notes what captured work uses:
 * blocks (allocator.h), storages that it writes to (storage.h), random numbers (draws.h).
 */
#ifndef DPT_DEVICE_CAPTURE_H
#define DPT_DEVICE_CAPTURE_H
#include "device/stream_state.h"

typedef struct dpt__list {
  void **item;
  int n, capacity;
} dpt__list;

typedef struct dpt__capture {
  uint64_t id; /* never used again */
  dpt__stream *stream;
  dpt__list blocks, written;  /* dpt__block, dpt_storage */
  struct dpt__block *scratch; /* one of `blocks`: what its kernels share, the largest they took */
  int failed;                 /* something that is needed could not be noted */
  uint64_t draws;             /* that a replay takes of the device's random numbers */
  uint64_t *live; /* where its kernels find from which on: device memory, one of `blocks` */
} dpt__capture;

/* What this thread captures; NULL: nothing. */
extern _Thread_local dpt__capture *dpt__own_capture;

/* An error message: fn can not be captured, because. dpt__capture_rejects: if this thread captures.
 */
int dpt__capture_reject(const char *fn, const char *why);
static inline int dpt__capture_rejects(const char *fn, const char *why) {
  return dpt__own_capture ? dpt__capture_reject(fn, why) : 0;
}
/* An error message: fn does not go with what is being captured on the stream, or by this thread. */
int dpt__capture_mismatch(const char *fn, const dpt__stream *stream);

int dpt__list_add(dpt__list *list, void *item); /* 1 without host memory, and no message of that */

#endif
