/* cublas.h: cuBLAS: its functions, and a handle for each native stream.
 *
 * Invariant: a handle is created at its native stream's first product and is used by that stream's
 * thread alone, so nothing locks. Each has a workspace that lives as long as the native stream: the
 * products of several queues never share one (and so have the same bits every time), and recorded
 * graphs find it at the same address. Scalars are read from host memory when a function is called.
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

/* Returns the native stream's handle for the running kernel; creates it at the first call. */
int dpt__cublas_begin(dpt__context *context, dpt__cublas *cublas);

/* Returns 0, or fails with a message that names the call. */
int dpt__cublas_status(cublasStatus_t status, const char *call);
#define DPT__CUBLAS(call)                                                                          \
  do {                                                                                             \
    if (dpt__cublas_status((call), #call)) return 1;                                               \
  } while (0)

#endif
