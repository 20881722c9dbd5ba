/* delay.h: random delays on the device, for tests (DPT_DELAY).
 *
 * Invariant: without DPT_DELAY the table is as it was. With it a kernel that spins for up to 300 us
 * is queued before half of the items that launch kernels. The thread that issues them goes on
 * meanwhile, so that a stream that lacks a wait for another one, memory that is used again too
 * early, or a read of the host's before its event shows in the results. Which items they are goes
 * by the seed, the device and the number of the item. (That thread sleeps, too: device/fault.h.)
 */
#ifndef DPT_CUDA_DELAY_H
#define DPT_CUDA_DELAY_H
#include "cuda/cuda.h"

void dpt__cuda_delays(dpt__backend *backend);

#endif
