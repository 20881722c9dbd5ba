/* blas_fake.c: a BLAS of plain loops, without LAPACK, for DPT_BLAS.
 *
 * Invariant: row-major only. DPT_FAKE_WIDE: integers have 64 bits, with the same names;
 * DPT_FAKE_NAMED: functions are named scipy_cblas_NAME_.
 */
#include <stdint.h>

#ifdef DPT_FAKE_WIDE
typedef int64_t size;
#else
typedef int size;
#endif
#ifdef DPT_FAKE_NAMED
#define CBLAS(name) scipy_cblas_##name##_
#else
#define CBLAS(name) cblas_##name
#endif
enum { TRANS = 112 };

double CBLAS(ddot)(size n, const double *x, size x_stride, const double *y, size y_stride);
double CBLAS(ddot)(size n, const double *x, size x_stride, const double *y, size y_stride) {
  double sum = 0;
  for (size i = 0; i < n; i++) sum += x[i * x_stride] * y[i * y_stride];
  return sum;
}

#define REAL float
#define GEMM CBLAS(sgemm)
#define GEMV CBLAS(sgemv)
#include "blas_fake.inc.c"
#undef REAL
#undef GEMM
#undef GEMV
#define REAL double
#define GEMM CBLAS(dgemm)
#define GEMV CBLAS(dgemv)
#include "blas_fake.inc.c"
