/* gemm.cu: products of matrices by cuBLAS.
 *
 * Invariant: cuBLAS is column-major and sees a row-major matrix as its transpose, so it computes
 * c^T = b^T * a^T. Operands without a leading dimension are copied to temporary memory. Reduced
 * types accumulate in float.
 */
#include "cuda/cublas.h"
#include "cuda/element.h"
#include "cuda/gemm.h"
#include "cuda/walk.h"

namespace {

typedef dpt__blas_form form;

enum { MOST_PRODUCTS = 65535 }; /* of one call: the limit of a grid's third dimension */

cudaDataType type_of(int dtype) {
  switch (dtype) {
#define X(id, type, suffix, name, compute, bits, file, cuda, ...)                                  \
  case id:                                                                                         \
    return cuda;
    DPT_REDUCED_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
  }
  return (cudaDataType)-1; /* cuBLAS refuses it */
}

cublasComputeType_t compute_of(const dpt__gemm_args *g) {
  if (dpt__compute_dtype(g->dtype) == DPT_F64) return CUBLAS_COMPUTE_64F;
  return g->dtype == DPT_F32 && g->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/* Multiplies matrices that all have BLAS forms; c is row-major. */
int multiply(dpt__context *context, const dpt__gemm_args *g, form fa, form fb, form fc) {
  dpt__cublas cublas;
  if (context->measures) return 0;
  float alpha = (float)g->alpha, beta = (float)g->beta;
  bool wide = dpt__compute_dtype(g->dtype) == DPT_F64;
  const void *a_scale = wide ? (const void *)&g->alpha : &alpha;
  const void *c_scale = wide ? (const void *)&g->beta : &beta;
  cudaDataType type = type_of(g->dtype), c_type = type_of(g->c_dtype);
  cublasComputeType_t compute = compute_of(g);
  cublasOperation_t ta = fa.trans ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t tb = fb.trans ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (dpt__cublas_begin(context, &cublas)) return 1;
  if (g->batch == 1) {
    DPT__CUBLAS(cublas.call->cublasGemmEx_64(cublas.handle, tb, ta, g->n, g->m, g->k, a_scale, g->b,
                                             type, fb.lead, g->a, type, fa.lead, c_scale, g->c,
                                             c_type, fc.lead, compute, CUBLAS_GEMM_DEFAULT));
    return 0;
  }
  for (int64_t i = 0; i < g->batch; i += MOST_PRODUCTS) {
    int64_t count = g->batch - i;
    if (count > MOST_PRODUCTS) count = MOST_PRODUCTS;
    dpt__gemm_args p = dpt__gemm_at(g, i);
    DPT__CUBLAS(cublas.call->cublasGemmStridedBatchedEx_64(
        cublas.handle, tb, ta, g->n, g->m, g->k, a_scale, p.b, type, fb.lead, g->b_batch, p.a, type,
        fa.lead, g->a_batch, c_scale, p.c, c_type, fc.lead, g->c_batch, count, compute,
        CUBLAS_GEMM_DEFAULT));
  }
  return 0;
}

int spread(dpt__context *context, int dtype, void *to, const int64_t *to_stride, const void *from,
           const int64_t *from_stride, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t size[3] = {batch, rows, cols};
  return dpt__cuda_copy(context, 3, size, dtype, to, to_stride, dtype, from, from_stride);
}

/* Replaces *matrix by a dense copy (or, unless `fill`, by uninitialized memory for one). A matrix
 * that all products share is copied once. */
int dense(dpt__context *context, const dpt__gemm_args *g, int dtype, bool fill, const void **matrix,
          int64_t rows, int64_t cols, int64_t *row, int64_t *col, int64_t *batch) {
  int64_t count = g->batch, from[3] = {*batch, *row, *col};
  if (*batch == 0) count = 1;
  int64_t to[3] = {rows * cols, cols, 1};
  void *copy = dpt__scratch(context, (size_t)(count * rows * cols) * dpt__dtype_size(dtype));
  if (fill && spread(context, dtype, copy, to, *matrix, from, count, rows, cols)) return 1;
  *matrix = copy;
  *row = cols;
  *col = 1;
  if (*batch) *batch = rows * cols;
  return 0;
}

int product(dpt__context *context, const dpt__gemm_args *args) {
  dpt__gemm_args g = *args;
  form fa = dpt__blas_form_of(g.m, g.k, g.a_row, g.a_col);
  form fb = dpt__blas_form_of(g.k, g.n, g.b_row, g.b_col);
  form fc = dpt__blas_form_of(g.m, g.n, g.c_row, g.c_col);
  if (fc.fits && fc.trans) {
    g = dpt__gemm_exchanged(args);
    return product(context, &g);
  }
  if (fa.fits && fb.fits && fc.fits) return multiply(context, &g, fa, fb, fc);
  const void *c = g.c;
  int64_t c_stride[3] = {g.c_batch, g.c_row, g.c_col};
  if (!fa.fits && dense(context, &g, g.dtype, true, &g.a, g.m, g.k, &g.a_row, &g.a_col, &g.a_batch))
    return 1;
  if (!fb.fits && dense(context, &g, g.dtype, true, &g.b, g.k, g.n, &g.b_row, &g.b_col, &g.b_batch))
    return 1;
  if (!fc.fits &&
      dense(context, &g, g.c_dtype, g.beta != 0, &c, g.m, g.n, &g.c_row, &g.c_col, &g.c_batch))
    return 1;
  g.c = (void *)c;
  if (product(context, &g)) return 1;
  int64_t stride[3] = {g.c_batch, g.c_row, g.c_col};
  return fc.fits ? 0 : spread(context, g.c_dtype, args->c, c_stride, c, stride, g.batch, g.m, g.n);
}

} // namespace

int dpt__cuda_gemm(dpt__context *context, const void *args) {
  const dpt__gemm_args *g = (const dpt__gemm_args *)args;
  if (g->m == 0 || g->n == 0) return 0;
  if (!dpt__is_real(g->dtype) || g->fixed || g->k == 0) return dpt__cuda_gemm_ordered(context, g);
  return product(context, g);
}
