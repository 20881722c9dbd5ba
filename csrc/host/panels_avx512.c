/* panels_avx512.c: products for AVX-512. */
#define TABLE dpt__panels_avx512
#define BYTES 64
#define ROWS 8
#define TILES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define AHEAD 32
#define MIX_f32 MIX16
#define MIX_f64 MIX8
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
