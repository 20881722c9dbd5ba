/* peer.h: which devices reach each other's memory.
 *
 * Invariant: all do that can, from the first question on, until a script says no. Only copies use
 * that, until a script says that kernels may. Copies between two devices of which one does not
 * reach the other go through host memory, with the same result; on host devices, where every thread
 * reaches everything, they do so for the tests' sake. A backend is asked once for each pair, and
 * again if a script changes its mind.
 */
#ifndef DPT_DEVICE_PEER_H
#define DPT_DEVICE_PEER_H

/* *reached = 1: kernels of device `from` reach the memory of `to` from now on. */
int dpt__reaches(int from, int to, int *reached);
/* 1: two devices reach each other's memory; 1: kernels may have operands on two devices. */
int dpt__peers(int a, int b);
int dpt__peer_kernels(void);

#endif
