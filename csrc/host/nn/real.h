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

/* Defines name_by_type, which calls name_f32 and so on by `type`, the first field of its arguments,
 * or by its compute type. list: DPT__BY_REAL or DPT__BY_STORED_REAL. */
#define DPT__BY_TYPE(name, list)                                                                   \
  static int name##_by_type(dpt__context *context, const struct dpt__##name##_args *args) {        \
    static int (*const by_type[DPT_NDTYPE])(dpt__context *,                                        \
                                            const struct dpt__##name##_args *) = {list(name)};     \
    int own = by_type[args->type] != NULL;                                                         \
    return by_type[own ? args->type : dpt__compute_dtype(args->type)](context, args);              \
  }
/* Define the kernel `name` of a list of types, of floats and doubles, and of these and, by
 * name_strips, reduced types. */
#define DPT_KERNEL_OF(name, list)                                                                  \
  DPT__BY_TYPE(name, list)                                                                         \
  int dpt__host_##name(dpt__context *context, const void *args) {                                  \
    return name##_by_type(context, args);                                                          \
  }
#define DPT_REAL_KERNEL(name) DPT_KERNEL_OF(name, DPT__BY_REAL)
#define DPT_STORED_KERNEL(name)                                                                    \
  DPT__BY_TYPE(name, DPT__BY_REAL)                                                                 \
  int dpt__host_##name(dpt__context *context, const void *args) {                                  \
    const struct dpt__##name##_args *a = args;                                                     \
    return (dpt__is_reduced(a->type) ? name##_strips : name##_by_type)(context, a);                \
  }

#endif
