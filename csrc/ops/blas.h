/* blas.h: the arguments of the matrix product kernel.
 *
 * Invariant: element (i, j) of a is a[i * a_row + j * a_col], with any strides; likewise b and c. c
 * overlaps neither a nor b, and is not read if beta is 0. If `fixed` is set (deterministic mode,
 * and small linear layers on devices), a row of c does not depend on the other rows of a. Integer
 * arithmetic wraps, and alpha and beta are truncated to the integer type; halves accumulate in
 * float.
 */
#ifndef DPT_OPS_BLAS_H
#define DPT_OPS_BLAS_H
#include "device/backend.h"

typedef struct dpt__gemm_args {
  int32_t dtype, c_dtype; /* c_dtype: dtype, or DPT_F32 beside reduced a and b */
  int32_t fixed, tf32;    /* tf32: allows products of 10-bit mantissas, where these are fast */
  int64_t m, n, k;        /* a is m x k, b is k x n, c is m x n: each below 2^31 */
  int64_t batch;          /* number of products, at least 1 */
  double alpha, beta;     /* c = beta * c + alpha * a * b */
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, a_batch; /* strides in elements */
  int64_t b_row, b_col, b_batch;
  int64_t c_row, c_col, c_batch;
} dpt__gemm_args;

/* Returns true if the host kernel computes this product with a BLAS library. */
static inline int dpt__gemm_asks_blas(const dpt__gemm_args *g) {
  return !g->fixed && g->k > 0 && dpt__is_real(g->dtype);
}

/* Returns the arguments of a single product, number i of a batch. */
static inline dpt__gemm_args dpt__gemm_at(const dpt__gemm_args *g, int64_t i) {
  dpt__gemm_args one = *g;
  int64_t width = (int64_t)dpt__dtype_size(g->dtype);
  one.a = (const char *)g->a + i * g->a_batch * width;
  one.b = (const char *)g->b + i * g->b_batch * width;
  one.c = (char *)g->c + i * g->c_batch * (int64_t)dpt__dtype_size(g->c_dtype);
  one.batch = 1;
  return one;
}

/* Returns the product with rows and columns exchanged: c^T = b^T * a^T. */
static inline dpt__gemm_args dpt__gemm_exchanged(const dpt__gemm_args *g) {
  dpt__gemm_args t = *g;
  t.m = g->n, t.n = g->m;
  t.a = g->b, t.a_row = g->b_col, t.a_col = g->b_row, t.a_batch = g->b_batch;
  t.b = g->a, t.b_row = g->a_col, t.b_col = g->a_row, t.b_batch = g->a_batch;
  t.c_row = g->c_col, t.c_col = g->c_row;
  return t;
}

/* A matrix in BLAS's format: row-major with a leading dimension, or the transpose of one. fits is 0
 * if its strides allow neither. */
typedef struct dpt__blas_form {
  int fits, trans;
  int64_t lead;
} dpt__blas_form;

static inline dpt__blas_form dpt__blas_form_of(int64_t rows, int64_t cols, int64_t row,
                                               int64_t col) {
  dpt__blas_form form = {0, 0, 0};
  if (rows == 1 && cols > 1) row = col == 1 ? cols : row;
  if (cols == 1 && rows > 1) col = row == 1 ? rows : col;
  if (rows == 1 && cols == 1) row = col = 1;
  if ((col == 1 || cols == 1) && row >= cols && row <= INT32_MAX) {
    form.fits = 1;
    form.lead = row > 1 ? row : 1;
  } else if ((row == 1 || rows == 1) && col >= rows && col <= INT32_MAX) {
    form.fits = form.trans = 1;
    form.lead = col > 1 ? col : 1;
  }
  return form;
}

#endif
