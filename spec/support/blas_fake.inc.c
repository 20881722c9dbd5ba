/* blas_fake.inc.c: the products of blas_fake.c for one element type. */
void GEMM(int layout, int ta, int tb, size m, size n, size k, REAL alpha, const REAL *a, size lda,
          const REAL *b, size ldb, REAL beta, REAL *c, size ldc);
void GEMM(int layout, int ta, int tb, size m, size n, size k, REAL alpha, const REAL *a, size lda,
          const REAL *b, size ldb, REAL beta, REAL *c, size ldc) {
  for (size i = 0; i < m; i++)
    for (size j = 0; j < n; j++) {
      REAL sum = 0, *to = &c[i * ldc + j];
      for (size l = 0; l < k; l++)
        sum += (ta == TRANS ? a[l * lda + i] : a[i * lda + l]) *
               (tb == TRANS ? b[j * ldb + l] : b[l * ldb + j]);
      *to = (beta == 0 ? 0 : beta * *to) + alpha * sum;
    }
}

void GEMV(int layout, int ta, size m, size n, REAL alpha, const REAL *a, size lda, const REAL *x,
          size x_stride, REAL beta, REAL *y, size y_stride);
void GEMV(int layout, int ta, size m, size n, REAL alpha, const REAL *a, size lda, const REAL *x,
          size x_stride, REAL beta, REAL *y, size y_stride) {
  for (size i = 0; i < (ta == TRANS ? n : m); i++) {
    REAL sum = 0, *to = &y[i * y_stride];
    for (size l = 0; l < (ta == TRANS ? m : n); l++)
      sum += (ta == TRANS ? a[l * lda + i] : a[i * lda + l]) * x[l * x_stride];
    *to = (beta == 0 ? 0 : beta * *to) + alpha * sum;
  }
}
