/* sum_avx2.c: sums of contiguous floats and reduced types for AVX2 with FMA; gcc 12 would convert a
 * vector to double in two halves.
 *
 * Invariant: the bits are those of host/reduce_rows.inc.c, with the same order of sums. Additions
 * are fused multiply-adds by 1, which are exact, so that they run on execution units that do no
 * conversions; squares of floats are exact as well. dtype and kind are constants in every call of
 * an INLINE function.
 */
#include "base/number.h"
#include "host/reduce.h"
#include "ops/reduce.h"

#include <immintrin.h>

#define INLINE DPT__INLINE
#define FMA __attribute__((target("avx2,fma,f16c")))
#define AT(x, i) ((const char *)(x) + (i) * (dtype == DPT_F32 ? 4 : 2))

enum { SPREAD = DPT__REDUCE_SPREAD, LANES = 4, VECTORS = SPREAD / LANES };
enum { TOGETHER = 8, PIECE = 128 };

/* Adds the terms of 2 * LANES elements. */
FMA static INLINE void sum_add(int dtype, int kind, __m256d s[2], const void *x) {
  const void *next = AT(x, LANES);
  __m128 v[2];
  if (dtype == DPT_F32) {
    v[0] = _mm_loadu_ps(x), v[1] = _mm_loadu_ps(next);
  } else if (dtype == DPT_F16) {
    v[0] = _mm_cvtph_ps(_mm_loadl_epi64(x)), v[1] = _mm_cvtph_ps(_mm_loadl_epi64(next));
  } else {
    __m128i zero = {0}, bits = _mm_loadu_si128(x);
    v[0] = (__m128)_mm_unpacklo_epi16(zero, bits), v[1] = (__m128)_mm_unpackhi_epi16(zero, bits);
  }
  for (int k = 0; k < 2; k++) {
    __m256d y = _mm256_cvtps_pd(v[k]);
    if (kind == DPT__ABS) y = _mm256_andnot_pd(_mm256_set1_pd(-0.0), y);
    s[k] = _mm256_fmadd_pd(y, kind == DPT__SQUARE ? y : _mm256_set1_pd(1), s[k]);
  }
}

/* Returns the term of one element. */
static INLINE double sum_term(int dtype, int kind, const void *x, int64_t i) {
  return dpt__term_real(kind, dpt__get_element(dtype, AT(x, i)), 0);
}

/* Adds rows of `vectors` times LANES elements to s. */
FMA static INLINE void sum_rows(int dtype, int kind, double *s, const void *x, int64_t rows,
                                int64_t row_stride, int vectors) {
  __m256d v[VECTORS];
  for (int j = 0; j < vectors; j++) v[j] = _mm256_loadu_pd(s + j * LANES);
  for (int64_t i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j += 2)
      sum_add(dtype, kind, v + j, AT(x, i * row_stride + j * LANES));
  for (int j = 0; j < vectors; j++) _mm256_storeu_pd(s + j * LANES, v[j]);
}

/* Reads PIECE elements of each run in turn: memory delivers several streams faster than one. */
FMA static INLINE void sum_runs(int dtype, int kind, const void *const *x, int runs, int64_t n,
                                part *out) {
  double s[DPT__REDUCE_SIDE][SPREAD] = {{0}};
  for (int k = 0; k < runs && n <= DPT__REDUCE_FEW; k++)
    for (int64_t i = 0; i < n; i++) s[k][0] += sum_term(dtype, kind, x[k], i);
  for (int64_t i = 0; i < n && n > DPT__REDUCE_FEW; i += PIECE)
    for (int k = 0; k < runs; k++) {
      int64_t some = dpt__min(PIECE, n - i), at = i + some / SPREAD * SPREAD;
      sum_rows(dtype, kind, s[k], AT(x[k], i), some / SPREAD, SPREAD, VECTORS);
      for (int64_t j = 0; at + j < i + some; j++) s[k][j] += sum_term(dtype, kind, x[k], at + j);
    }
  for (int k = 0; k < runs; k++) {
    for (int h = SPREAD / 2; h && n > DPT__REDUCE_FEW; h /= 2)
      for (int j = 0; j < h; j++) s[k][j] += s[k][j + h];
    out[k].real = s[k][0];
  }
}

FMA static INLINE void sum_columns(int dtype, int kind, const void *x, int64_t rows,
                                   int64_t row_stride, int64_t cols, part *out) {
  double s[DPT__REDUCE_TILE] = {0};
  for (int64_t i = 0, j = 0; i < rows; i += TOGETHER, j = 0) {
    const char *from = AT(x, i * row_stride);
    int64_t high = dpt__min(TOGETHER, rows - i);
    for (; j + SPREAD <= cols; j += SPREAD) /* whole cache lines */
      sum_rows(dtype, kind, s + j, AT(from, j), high, row_stride, VECTORS);
    for (; j + 2 * LANES <= cols; j += 2 * LANES)
      sum_rows(dtype, kind, s + j, AT(from, j), high, row_stride, 2);
    for (; j < cols; j++)
      for (int k = 0; k < high; k++) s[j] += sum_term(dtype, kind, from, k * row_stride + j);
  }
  for (int64_t j = 0; j < cols; j++) out[j].real = s[j];
}

/* Calls f with a constant dtype and kind. */
#define KINDS(dtype, f, ...)                                                                       \
  kind == DPT__SUM   ? f(dtype, DPT__SUM, __VA_ARGS__)                                             \
  : kind == DPT__ABS ? f(dtype, DPT__ABS, __VA_ARGS__)                                             \
                     : f(dtype, DPT__SQUARE, __VA_ARGS__)
#define CALL(...)                                                                                  \
  dtype == DPT_F32   ? KINDS(DPT_F32, __VA_ARGS__)                                                 \
  : dtype == DPT_F16 ? KINDS(DPT_F16, __VA_ARGS__)                                                 \
                     : KINDS(DPT_BF16, __VA_ARGS__)
_Static_assert(DPT_NDTYPE == 9, "CALL and sum_add have every type that is computed in float");

FMA void dpt__sum_runs(int dtype, int kind, const void *const *x, int runs, int64_t n, part *out) {
  CALL(sum_runs, x, runs, n, out);
}

FMA void dpt__sum_columns(int dtype, int kind, const void *x, int64_t rows, int64_t row_stride,
                          int64_t cols, part *out) {
  CALL(sum_columns, x, rows, row_stride, cols, out);
}
