/* group.h: keeps calls that wait for GPUs apart from launches of NCCL on several of them.
 *
 * Invariant: while a group of collectives is launched on several devices of this process, none of
 * cudaFree, cudaHostAlloc and cudaFreeHost runs. They wait for kernels of their device and its
 * peers, and the driver may launch nothing meanwhile: the kernel of device 1 would wait for that of
 * device 2, which is not launched before the call returns. A call that lasts for 5 s, as it does if
 * a kernel hangs, is not waited for any longer.
 */
#ifndef DPT_CUDA_GROUP_H
#define DPT_CUDA_GROUP_H

/* From the first call of a group until all of its kernels are in their streams. */
void dpt__group_begin(void);
void dpt__group_end(void);

/* While it lives, no group is launched. Its thread must not begin one. */
struct dpt__apart_from_groups {
  dpt__apart_from_groups();
  ~dpt__apart_from_groups();
};

#endif
