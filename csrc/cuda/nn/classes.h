/* classes.h: classes and indices that a layer is told, of any element type but half. */
#ifndef DPT_CUDA_NN_CLASSES_H
#define DPT_CUDA_NN_CLASSES_H
#include "cuda/cuda.h"

/* Number i of p, from 1 where it is good: what the host reads (host/nn/real.h). */
__device__ __forceinline__ int64_t dpt__class_at(const void *p, int type, int64_t i) {
  double v;
  switch (type) {
  case DPT_U8:
    return ((const uint8_t *)p)[i];
  case DPT_I8:
    return ((const int8_t *)p)[i];
  case DPT_I16:
    return ((const int16_t *)p)[i];
  case DPT_I32:
    return ((const int32_t *)p)[i];
  case DPT_I64:
    return ((const int64_t *)p)[i];
  case DPT_F32:
    v = (double)((const float *)p)[i];
    break;
  default:
    v = ((const double *)p)[i];
  }
  return v > -9e15 && v < 9e15 ? (int64_t)v : INT64_MIN;
}

/* Where a kernel tells of a class that there is not. */
struct dpt__class_fault {
  dpt__fault record;
  const char *name;
  int64_t classes;
  /* Class number `place` (from 0) is not one of the classes: told if so. */
  __device__ __forceinline__ bool refuses(int64_t wanted, int64_t place) const {
    if (wanted >= 1 && wanted <= classes) return false;
    dpt__fault_set(record, DPT__FAULT_CLASS, name, wanted, place + 1, classes);
    return true;
  }
};
static inline dpt__class_fault dpt__class_fault_of(const dpt__context *context, int64_t classes) {
  return {dpt__fault_of(context), context->name, classes};
}

#endif
