/* cublas_v2.h: the part of cuBLAS that dpt's .cu files use, for the host's C++ compiler
 * (cublas.cpp).
 *
 * Invariant: names, semantics and requirements on arguments are cuBLAS's: matrices are
 * column-major.
 */
#ifndef DPT_EMULATED_CUBLAS_V2_H
#define DPT_EMULATED_CUBLAS_V2_H
#include "cuda_runtime.h"

#define CUBLAS_VER_MAJOR 13

typedef struct emulated_cublas *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 } cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 } cudaDataType;
typedef enum { MAJOR_VERSION } libraryPropertyType;

extern "C" {
#pragma GCC visibility push(default)
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                               int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                               cudaDataType a_type, int64_t lda, const void *b, cudaDataType b_type,
                               int64_t ldb, const void *beta, void *c, cudaDataType c_type,
                               int64_t ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t ta,
                                             cublasOperation_t tb, int64_t m, int64_t n, int64_t k,
                                             const void *alpha, const void *a, cudaDataType a_type,
                                             int64_t lda, long long a_stride, const void *b,
                                             cudaDataType b_type, int64_t ldb, long long b_stride,
                                             const void *beta, void *c, cudaDataType c_type,
                                             int64_t ldc, long long c_stride, int64_t count,
                                             cublasComputeType_t compute, cublasGemmAlgo_t algo);
#pragma GCC visibility pop
}

#endif
