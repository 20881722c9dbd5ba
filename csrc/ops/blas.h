/* blas.h: the arguments of the product kernel.
 *
 * What must stay true: elements are a[i * a_row + j * a_col], any steps; c overlaps neither a nor
 * b; beta 0 does not read c. With `fixed` (deterministic mode) a row of c does not depend on the
 * other rows of a. Integer types wrap, alpha and beta are truncated to them; halves sum in float.
 */
#ifndef DPT_OPS_BLAS_H
#define DPT_OPS_BLAS_H
#include "device/backend.h"

typedef struct dpt__gemm_args {
  int32_t dtype, fixed;
  int64_t m, n, k;    /* a is m x k, b is k x n, c is m x n: each below 2^31 */
  int64_t batch;      /* so many products, 1 or more */
  double alpha, beta; /* c = beta * c + alpha * a * b */
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, a_batch; /* steps in elements */
  int64_t b_row, b_col, b_batch;
  int64_t c_row, c_col, c_batch;
} dpt__gemm_args;

#endif
