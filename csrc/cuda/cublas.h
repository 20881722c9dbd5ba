/* cublas.h: cuBLAS: its functions, and a handle for each native stream.
 *
 * Invariant: a handle is made at its native stream's first product and used by its native stream's
 * thread alone, so nothing locks. It has a workspace of its own for as long as the native stream
 * lives, so that products of several queues never share one (and have the same bits every time) and
 * recorded graphs find it where it was. Scalars are read from host memory when a function is
 * called.
 */
#ifndef DPT_CUDA_CUBLAS_H
#define DPT_CUDA_CUBLAS_H
#include "cuda/library.h"

#include <cublas_v2.h>

struct dpt__cublas_functions {
#define DPT_FUNCTION(name) decltype(&::name) name;
#include "cuda/cublas.def"
#undef DPT_FUNCTION
};

struct dpt__cublas {
  const dpt__cublas_functions *call;
  cublasHandle_t handle;
};

/* For the running kernel: its native stream's handle. */
int dpt__cublas_begin(dpt__context *context, dpt__cublas *cublas);

/* 0, or an error message that names the call. */
int dpt__cublas_status(cublasStatus_t status, const char *call);
#define DPT__CUBLAS(call)                                                                          \
  do {                                                                                             \
    if (dpt__cublas_status((call), #call)) return 1;                                               \
  } while (0)

#endif
