/* classes.h: what becomes of a class that there is not. */
#ifndef DPT_CUDA_NN_CLASSES_H
#define DPT_CUDA_NN_CLASSES_H
#include "cuda/cuda.h"

/* Where a kernel reports a class that does not exist. */
struct dpt__class_fault {
  dpt__kernel_fault record;
  const char *name;
  int64_t classes;
  /* Class number `position` (from 0) is not one of the classes: raised if so. */
  __device__ __forceinline__ bool rejects(int64_t wanted, int64_t position) const {
    if (wanted >= 1 && wanted <= classes) return false;
    dpt__fault_set(record, DPT__KERNEL_FAULT_CLASS, name, wanted, position + 1, classes);
    return true;
  }
};
static inline dpt__class_fault dpt__class_fault_of(const dpt__context *context, int64_t classes) {
  return {dpt__fault_of(context), context->name, classes};
}

#endif
