/* real.h: definitions that the layer kernels of the host share.
 *
 * Invariant: a kernel splits its work by rows or planes whose results do not depend on the split,
 * so the number of threads never changes a bit.
 */
#ifndef DPT_HOST_NN_REAL_H
#define DPT_HOST_NN_REAL_H
#include "base/element.h"
#include "base/isa.h"
#include "host/kernels.h"
#include "nn/kernels.h"

#include <math.h>
#include <string.h>

/* Returns the number of threads that `work` elementary steps are worth. */
static inline int dpt__threads(const dpt__context *context, int64_t work) {
  return work < 32768 ? 1 : context->threads;
}

/* Defines the kernel `name`: calls name_f32 or name_f64 by `type`, the first field of its
 * arguments. */
#define DPT_REAL_KERNEL(name)                                                                      \
  int dpt__host_##name(dpt__context *context, const void *args) {                                  \
    return (*(const int32_t *)args == DPT_F32 ? name##_f32 : name##_f64)(context, args);           \
  }

static inline size_t dpt__width(int type) {
  return type == DPT_F32 ? sizeof(float) : sizeof(double);
}

#endif
