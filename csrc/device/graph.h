/* graph.h: work of one stream that is captured once and done again and again.
 *
 * Invariant: a graph holds every block that its work uses, its kernels' temporary memory included,
 * until it is freed and the device is through with it: what is given back before that is nobody
 * else's.
 */
#ifndef DPT_DEVICE_GRAPH_H
#define DPT_DEVICE_GRAPH_H

/* Frees what graphs leave behind that were freed and are not at work any more. */
void dpt__graphs_sweep(void);

#endif
