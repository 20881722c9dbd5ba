/* graph.h: work of one stream that is captured once and replayed.
 *
 * Invariant: a graph holds every block that its work uses, including its kernels' temporary memory,
 * until the graph is freed and the device has finished with it. A block freed before that is not
 * allocated to others.
 */
#ifndef DPT_DEVICE_GRAPH_H
#define DPT_DEVICE_GRAPH_H

/* Frees the resources of graphs that were freed and no longer run. */
void dpt__graphs_sweep(void);

#endif
