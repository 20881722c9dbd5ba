/* group.h: separates calls that wait for GPUs from launches of NCCL on several of them.
 *
 * Invariant: while a group of collectives is launched on several devices of this process, no
 * cudaFree, cudaHostAlloc or cudaFreeHost runs. These wait for kernels of their device and its
 * peers, and until they return the driver may launch nothing: a deadlock, since device 1's kernel
 * would wait for device 2's, which is not launched before the call returns. A launch waits for such
 * a call for 5 s at most; a call takes longer if a kernel hangs.
 */
#ifndef DPT_CUDA_GROUP_H
#define DPT_CUDA_GROUP_H

/* Bracket a group, from its first call until all its kernels are in their streams. */
void dpt__group_begin(void);
void dpt__group_end(void);

/* Blocks launches of groups during its lifetime. Its thread must not begin one. */
struct dpt__apart_from_groups {
  dpt__apart_from_groups();
  ~dpt__apart_from_groups();
};

#endif
