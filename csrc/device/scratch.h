/* scratch.h: temporary memory of kernels (dpt__scratch is in backend.h).
 *
 * Invariant: a launch takes it before anything is queued, so that a lack of memory is an error of
 * the call. How much that is only the kernel says: it is run with a context that measures. On a
 * stream it is a block of the device's allocator, seen by limits, statistics and emptyCache, and
 * given back as soon as the kernel is queued: whoever gets it next comes behind the kernel, in the
 * stream's order. Captured kernels share what their graph keeps. On host memory it is the
 * calling thread's, which keeps it for its next kernel.
 */
#ifndef DPT_DEVICE_SCRATCH_H
#define DPT_DEVICE_SCRATCH_H
#include "device/allocator.h"

/* Memory for the kernel, in the context; its block is freed when the kernel is queued or will not
 * be. The arguments have the operands' addresses. */
int dpt__scratch_measure(dpt__context *context, enum dpt__kernel kernel, const void *args);
static inline int dpt__scratch_alloc(dpt__context *context, enum dpt__kernel kernel,
                                     const void *args) {
  context->block = NULL;
  context->used = context->capacity = 0;
  return context->backend->asks >> kernel & 1 ? dpt__scratch_measure(context, kernel, args) : 0;
}

#endif
