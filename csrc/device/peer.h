/* peer.h: tracks which devices can access each other's memory.
 *
 * Invariant: access is on for all devices that support it, from the first query on, until a script
 * turns it off. Only copies use it, until a script allows kernels to. Copies between two devices go
 * through host memory unless each can access the other, with the same result; on host devices,
 * where every thread can access everything, they do so for tests. A backend is queried once for
 * each pair, and again if a script changes the setting.
 */
#ifndef DPT_DEVICE_PEER_H
#define DPT_DEVICE_PEER_H

/* Sets *reached = 1 if kernels of device `from` can access the memory of `to` from now on. */
int dpt__peer_enable_access(int from, int to, int *reached);
/* peers: 1 if two devices can access each other's memory. peer_kernels: 1 if kernels may have
 * operands on two devices. */
int dpt__peers(int a, int b);
int dpt__peer_kernels(void);

#endif
