/* graph.h: work of one stream that is captured once and done again and again.
 *
 * Invariant: while a thread captures, what it queues on the stream is recorded by the stream's
 * queue and not done. So that thread can neither wait nor use another stream, and other threads can
 * not use this one: each gets a sentence. A graph holds every block that its work uses, and the
 * stream's temporary memory of that time, until it is freed and the device is through with it: what
 * is given back before that is nobody else's.
 */
#ifndef DPT_DEVICE_GRAPH_H
#define DPT_DEVICE_GRAPH_H
#include "device/heap.h"

/* What this thread captures; NULL: nothing. */
extern _Thread_local dpt_graph *dpt__own_capture;

/* A sentence where this thread captures: fn, or `what` in it, can not be captured, because. */
int dpt__graph_reject(const char *fn, const char *why);
static inline int dpt__graph_rejects(const char *fn, const char *why) {
  return dpt__own_capture ? dpt__graph_reject(fn, why) : 0;
}
/* A sentence: fn does not go with what is being captured on the stream, or by this thread. */
int dpt__graph_mismatch(const char *fn, const dpt__stream *stream);

/* A draw of captured work (device/draws.h). */
int dpt__graph_draw(dpt_graph *graph, dpt_draw *draw);

/* Captured work uses the block; it writes to the storage, which counts the writes. */
int dpt__graph_hold(dpt_graph *graph, dpt__block *block);
void dpt__graph_written(dpt_storage *storage);

/* Gives back what graphs leave behind that were freed and are not at work any more. */
void dpt__graphs_sweep(void);

#endif
