/* kernels.h: the prototypes of all host kernels (device/kernels.def), which their files document,
 * and what they share. */
#ifndef DPT_HOST_KERNELS_H
#define DPT_HOST_KERNELS_H
#include "device/backend.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#define DPT_KERNEL(name, why) int dpt__host_##name(dpt__context *context, const void *args);
#include "device/kernels.def"
#undef DPT_KERNEL

/* A matrix in memory: its element type, first element and strides. */
typedef struct dpt__matrix {
  int dtype;
  void *data;
  int64_t row, col;
} dpt__matrix;

/* Copies a matrix to another one of any element type (map.c). */
void dpt__host_copy(dpt__context *context, int64_t rows, int64_t cols, dpt__matrix to,
                    dpt__matrix from);

/* Returns the number of the calling thread in its parallel region, from 0. */
static inline int dpt__thread_number(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

#endif
