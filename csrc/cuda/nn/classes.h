/* classes.h: reports classes that are out of range. */
#ifndef DPT_CUDA_NN_CLASSES_H
#define DPT_CUDA_NN_CLASSES_H
#include "cuda/cuda.h"
extern "C" {
#include "nn/kernels.h"
}

/* Where a kernel reports a class that is out of range. */
struct dpt__class_fault {
  dpt__kernel_fault record;
  const char *name;
  const void *target;
  int type;
  int64_t classes;
  /* Returns true and reports target `position` (from 0), `wanted`, if it is not a class. */
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
