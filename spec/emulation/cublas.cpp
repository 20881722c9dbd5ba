/* cublas.cpp: cuBLAS's functions, implemented with the host's gemm kernel.
 *
 * Invariant: a call that cuBLAS would reject is rejected; a product uses one thread. A workspace is
 * filled with garbage, since nothing else may be stored there. A product sets the last error of its
 * thread (cudaGetLastError), as does a library that tries a feature the device may lack.
 */
#include "cublas_v2.h"
#include "cuda/element.h"

#include "cuda/cuda.h"
#include "ops/blas.h"

#include <vector>

struct emulated_cublas {
  cudaStream_t stream;
};

namespace {

struct product {
  cublasOperation_t ta, tb;
  int64_t m, n, k, lda, ldb, ldc;
  bool c_floats; /* beside a and b of a reduced type */
};

cublasStatus_t refuse_unless(bool right) {
  return right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

bool accepted(const product &p, cudaDataType type, cublasComputeType_t compute) {
  int64_t a_rows = p.ta ? p.k : p.m, b_rows = p.tb ? p.n : p.k;
  bool wide = type == CUDA_R_64F;
  return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.lda >= (a_rows > 1 ? a_rows : 1) &&
         p.ldb >= (b_rows > 1 ? b_rows : 1) && p.ldc >= (p.m > 1 ? p.m : 1) &&
         wide == (compute == CUBLAS_COMPUTE_64F) &&
         (type == CUDA_R_32F || compute != CUBLAS_COMPUTE_32F_FAST_TF32);
}

/* Runs the host's kernel, with a row stride of 1 and a column stride of ld, as in cuBLAS. */
void run(int dtype, const product &p, double alpha, const void *a, const void *b, double beta,
         void *c) {
  dpt__gemm_args g = {};
  g.dtype = g.c_dtype = dtype, g.batch = 1;
  g.m = p.m, g.n = p.n, g.k = p.k;
  g.alpha = alpha, g.beta = beta;
  g.a = a, g.b = b, g.c = c;
  g.a_row = p.ta ? p.lda : 1, g.a_col = p.ta ? 1 : p.lda;
  g.b_row = p.tb ? p.ldb : 1, g.b_col = p.tb ? 1 : p.ldb;
  g.c_row = 1, g.c_col = p.ldc;
  dpt__context context = {};
  context.backend = dpt__cuda_services->host;
  context.threads = 1;
  dpt__cuda_services->host->kernels[DPT__KERNEL_gemm](&context, &g);
}

void run(const product &p, const float *alpha, const float *a, const float *b, const float *beta,
         void *c) {
  run(DPT_F32, p, *alpha, a, b, *beta, c);
}

void run(const product &p, const double *alpha, const double *a, const double *b,
         const double *beta, void *c) {
  run(DPT_F64, p, *alpha, a, b, *beta, c);
}

/* Returns the columns of a matrix as floats, without gaps. */
template <typename T>
std::vector<float> widen(const T *from, int64_t rows, int64_t cols, int64_t ld) {
  std::vector<float> to((size_t)(rows * cols));
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) to[(size_t)(j * rows + i)] = dpt__load(from[j * ld + i]);
  return to;
}

/* T: a reduced type, which accumulates in float. */
template <typename T>
void run(const product &p, const float *alpha, const T *a, const T *b, const float *beta,
         void *to) {
  product q = p;
  T *c = (T *)to;
  q.lda = p.ta ? p.k : p.m, q.ldb = p.tb ? p.n : p.k;
  std::vector<float> wide_a = widen(a, q.lda, p.ta ? p.m : p.k, p.lda);
  std::vector<float> wide_b = widen(b, q.ldb, p.tb ? p.k : p.n, p.ldb);
  if (p.c_floats) return run(q, alpha, wide_a.data(), wide_b.data(), beta, to);
  std::vector<float> wide_c((size_t)(p.m * p.n));
  q.ldc = p.m;
  if (*beta != 0) wide_c = widen(c, p.m, p.n, p.ldc);
  run(q, alpha, wide_a.data(), wide_b.data(), beta, (void *)wide_c.data());
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.m; i++)
      c[j * p.ldc + i] = dpt__store<T>::from(wide_c[(size_t)(j * p.m + i)]);
}

template <typename T, typename A>
void run_all(const product &p, const void *alpha, const void *a, long long a_stride, const void *b,
             long long b_stride, const void *beta, void *c, long long c_stride, int64_t count) {
  int64_t width = p.c_floats ? sizeof(float) : sizeof(T);
  for (int64_t i = 0; i < count; i++)
    run(p, (const A *)alpha, (const T *)a + i * a_stride, (const T *)b + i * b_stride,
        (const A *)beta, (void *)((char *)c + i * c_stride * width));
}

} // namespace

const char *cublasGetStatusName(cublasStatus_t status) {
  return status ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_SUCCESS";
}
const char *cublasGetStatusString(cublasStatus_t status) {
  return status ? "an unsupported value or parameter was passed" : "success";
}
cublasStatus_t cublasGetProperty(libraryPropertyType, int *value) {
  *value = CUBLAS_VER_MAJOR;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  *handle = new emulated_cublas();
  /* products need the host's BLAS, which the host itself opens only for kernels that call it */
  return refuse_unless(
      !dpt__cuda_services->host->prepare(DPT__KERNEL_linear, "cublasCreate", nullptr));
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return refuse_unless(stream != nullptr); /* dpt never uses the default stream */
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *workspace, size_t bytes) {
  if ((uintptr_t)workspace % 256) return CUBLAS_STATUS_INVALID_VALUE;
  memset(workspace, 0xa5, bytes < 4096 ? bytes : 4096);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t ta,
                                             cublasOperation_t tb, int64_t m, int64_t n, int64_t k,
                                             const void *alpha, const void *a, cudaDataType a_type,
                                             int64_t lda, long long a_stride, const void *b,
                                             cudaDataType b_type, int64_t ldb, long long b_stride,
                                             const void *beta, void *c, cudaDataType c_type,
                                             int64_t ldc, long long c_stride, int64_t count,
                                             cublasComputeType_t compute, cublasGemmAlgo_t) {
  product p = {ta, tb, m, n, k, lda, ldb, ldc, c_type == CUDA_R_32F};
  bool reduced = a_type == CUDA_R_16F || a_type == CUDA_R_16BF;
  if (!handle || !handle->stream || a_type != b_type ||
      !(a_type == c_type || (reduced && p.c_floats)) || count < 0 || !accepted(p, a_type, compute))
    return CUBLAS_STATUS_INVALID_VALUE;
  auto call = a_type == CUDA_R_16F    ? run_all<dpt__half, float>
              : a_type == CUDA_R_16BF ? run_all<dpt__bfloat16, float>
              : a_type == CUDA_R_32F  ? run_all<float, float>
                                      : run_all<double, double>;
  /* copy the two scalars now: cuBLAS reads them when it is called */
  double first = 0, second = 0;
  size_t size = compute == CUBLAS_COMPUTE_64F ? sizeof(double) : sizeof(float);
  memcpy(&first, alpha, size);
  memcpy(&second, beta, size);
  emulated_leave(cudaErrorInvalidValue);
  auto work = [=]() { call(p, &first, a, a_stride, b, b_stride, &second, c, c_stride, count); };
  const void *operands[] = {a, b, c};
  cudaError_t error = emulated_do(handle->stream, work, "cublasGemmStridedBatchedEx",
                                  emulated_owners(operands, sizeof operands));
  return error ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                               int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                               cudaDataType a_type, int64_t lda, const void *b, cudaDataType b_type,
                               int64_t ldb, const void *beta, void *c, cudaDataType c_type,
                               int64_t ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo) {
  return cublasGemmStridedBatchedEx_64(handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b, b_type,
                                       ldb, 0, beta, c, c_type, ldc, 0, 1, compute, algo);
}
