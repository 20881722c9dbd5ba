/* delay.h: random delays on the device, for tests (DPT_DELAY).
 *
 * Invariant: without DPT_DELAY the table is unchanged. With it, a kernel that spins for up to 300
 * us is queued before half of the items that launch kernels. The issuing thread continues, so
 * results show a missing wait between streams, memory that is reused too early, or a host read
 * before its event. The choice of items depends on the seed, the device and the item's number. (The
 * issuing thread sleeps, too: device/fault.h.)
 */
#ifndef DPT_CUDA_DELAY_H
#define DPT_CUDA_DELAY_H
#include "cuda/cuda.h"

void dpt__cuda_delays(dpt__backend *backend);

#endif
