/* sum_avx2.c: sums of contiguous floats for AVX2 with FMA; gcc 12 would convert a vector to double
 * in two halves.
 *
 * Invariant: the bits are those of host/reduce_rows.inc.c, with the same order of sums. Additions
 * are fused multiply-adds by 1, which are exact, so that they run on execution units that do no
 * conversions.
 */
#include "base/number.h"
#include "host/reduce.h"

#include <immintrin.h>

#define INLINE DPT__INLINE
#define FMA __attribute__((target("avx2,fma")))
#define ADD(sum, at) _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(at)), one, sum)

enum { LANES = 4, VECTORS = DPT__REDUCE_SPREAD / LANES, TOGETHER = 8, PIECE = 128 };

FMA static INLINE void sum_add(double *s, const float *x, int64_t n) {
  __m256d v[VECTORS], one = _mm256_set1_pd(1);
  int64_t i = 0;
  for (int j = 0; j < VECTORS; j++) v[j] = _mm256_loadu_pd(s + j * LANES);
  for (; i + DPT__REDUCE_SPREAD <= n; i += DPT__REDUCE_SPREAD)
#pragma GCC unroll 8
    for (int j = 0; j < VECTORS; j++) v[j] = ADD(v[j], x + i + j * LANES);
  for (int j = 0; j < VECTORS; j++) _mm256_storeu_pd(s + j * LANES, v[j]);
  for (int64_t j = 0; i + j < n; j++) s[j] += x[i + j];
}

FMA static INLINE double sum_fold(double *s) {
  for (int h = DPT__REDUCE_SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return s[0];
}

FMA void dpt__sum_run(const float *x, int64_t n, part *out) {
  double s[DPT__REDUCE_SPREAD] = {0};
  if (n <= DPT__REDUCE_FEW) {
    for (int64_t i = 0; i < n; i++) s[0] += x[i];
    out->real = s[0];
    return;
  }
  sum_add(s, x, n);
  out->real = sum_fold(s);
}

/* Reads PIECE elements of each run in turn: memory delivers several streams faster than one. */
FMA void dpt__sum_runs(const float *const x[DPT__REDUCE_SIDE], int64_t n, part *out) {
  double s[DPT__REDUCE_SIDE][DPT__REDUCE_SPREAD] = {{0}};
  if (n <= DPT__REDUCE_FEW) {
    for (int k = 0; k < DPT__REDUCE_SIDE; k++) dpt__sum_run(x[k], n, out + k);
    return;
  }
  for (int64_t i = 0; i < n; i += PIECE)
    for (int k = 0; k < DPT__REDUCE_SIDE; k++) sum_add(s[k], x[k] + i, dpt__min(PIECE, n - i));
  for (int k = 0; k < DPT__REDUCE_SIDE; k++) out[k].real = sum_fold(s[k]);
}

FMA void dpt__sum_columns(const float *x, int64_t rows, int64_t row_stride, int64_t cols,
                          part *out) {
  __m256d one = _mm256_set1_pd(1);
  double s[DPT__REDUCE_TILE] = {0};
  int64_t i = 0, whole = cols - cols % (2 * LANES);
  for (; i + TOGETHER <= rows; i += TOGETHER) {
    const float *from = x + i * row_stride;
    for (int64_t j = 0; j < whole; j += 2 * LANES) {
      __m256d a = _mm256_loadu_pd(s + j), b = _mm256_loadu_pd(s + j + LANES);
#pragma GCC unroll 8
      for (int k = 0; k < TOGETHER; k++) {
        a = ADD(a, from + k * row_stride + j);
        b = ADD(b, from + k * row_stride + j + LANES);
      }
      _mm256_storeu_pd(s + j, a);
      _mm256_storeu_pd(s + j + LANES, b);
    }
    for (int64_t j = whole; j < cols; j++)
      for (int k = 0; k < TOGETHER; k++) s[j] += from[k * row_stride + j];
  }
  for (; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) s[j] += x[i * row_stride + j];
  for (int64_t j = 0; j < cols; j++) out[j].real = s[j];
}
