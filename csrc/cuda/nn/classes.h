/* classes.h: what becomes of a class that there is not. */
#ifndef DPT_CUDA_NN_CLASSES_H
#define DPT_CUDA_NN_CLASSES_H
#include "cuda/cuda.h"
extern "C" {
#include "nn/kernels.h"
}

/* Where a kernel reports a class that does not exist. */
struct dpt__class_fault {
  dpt__kernel_fault record;
  const char *name;
  const void *target;
  int type;
  int64_t classes;
  /* Reports target `position` (from 0), which is `wanted`, if it is not one of the classes. */
  __device__ __forceinline__ bool rejects(int64_t wanted, int64_t position) const {
    if (wanted >= 1 && wanted <= classes) return false;
    dpt__fault_set(record, DPT__KERNEL_FAULT_CLASS, name, wanted, position + 1, classes,
                   dpt__index_number(target, type, position));
    return true;
  }
};
/* Returns the fault of a kernel whose arguments have targets. */
template <typename Args>
dpt__class_fault dpt__class_fault_of(const dpt__context *context, const Args &a) {
  return {dpt__fault_of(context), context->name, a.target, a.target_type, a.C};
}

#endif
