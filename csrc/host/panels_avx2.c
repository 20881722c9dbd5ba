/* panels_avx2.c: products for AVX2 with FMA. */
#include <immintrin.h>

#define TABLE dpt__panels_avx2
#define BYTES 32
#define ROWS 6
#define TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define AHEAD 0
#define MIX_f32 MIX8
#define MIX_f64 MIX4
#define F16_LOAD(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from)))
#define BF16_LOAD(from)                                                                            \
  _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(from))), 16)
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
