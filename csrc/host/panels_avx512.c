/* panels_avx512.c: products for AVX-512. */
#include <immintrin.h>

#define TABLE dpt__panels_avx512
#define BYTES 64
#define ROWS 8
#define TILES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define AHEAD 32
#define MIX_f32 MIX16
#define MIX_f64 MIX8
#define F16_LOAD(from) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from)))
#define BF16_LOAD(from)                                                                            \
  _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(from))), 16)
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
