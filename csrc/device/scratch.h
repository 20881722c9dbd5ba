/* scratch.h: temporary memory of kernels (dpt__scratch is in backend.h).
 *
 * Invariant: a launch allocates it before anything is queued, so that a lack of memory is an error
 * of the call. Only the kernel knows how much it needs: it is run with a context that measures. On
 * a stream it is a block of the device's allocator, and counts for limits and statistics. It is
 * freed as soon as the kernel is queued: the block's next user runs after the kernel, in the
 * stream's order. Captured kernels share memory kept by their graph. For kernels on host memory it
 * belongs to the calling thread, which keeps it for the next kernel.
 */
#ifndef DPT_DEVICE_SCRATCH_H
#define DPT_DEVICE_SCRATCH_H
#include "device/allocator.h"

/* Allocates the kernel's memory in the context; its block is freed after the kernel has been
 * queued, or could not be queued. The arguments have the operands' addresses. */
int dpt__scratch_measure(dpt__context *context, enum dpt__kernel kernel, const void *args);
static inline int dpt__scratch_alloc(dpt__context *context, enum dpt__kernel kernel,
                                     const void *args) {
  context->block = NULL;
  context->used = context->capacity = 0;
  return context->backend->asks >> kernel & 1 ? dpt__scratch_measure(context, kernel, args) : 0;
}

#endif
