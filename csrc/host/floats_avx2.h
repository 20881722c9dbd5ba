/* floats_avx2.h: exp of 8 floats. */
#ifndef DPT_HOST_FLOATS_AVX2_H
#define DPT_HOST_FLOATS_AVX2_H
#include <immintrin.h>

/* Returns v * 2^n, by two factors of which the second rounds if the result is subnormal. */
static inline __attribute__((always_inline)) __m256 dpt__scale8(__m256 v, __m256 n) {
  const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
#define POWER(n)                                                                                   \
  _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23))
  return _mm256_mul_ps(_mm256_mul_ps(v, POWER(half)), POWER(_mm256_sub_epi32(whole, half)));
#undef POWER
}

#define FLOATS __m256
#define MM(op) _mm256_##op
#define EXP_SCALE(v, n) dpt__scale8(v, n)
#define EXP_NAME dpt__exp8
#include "host/float_exp.inc.h"

#endif
