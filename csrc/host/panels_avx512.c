/* panels_avx512.c: products for AVX-512. */
#define TABLE dpt__panels_avx512
#define BYTES 64
#define ROWS 8
#define MIX_f32 MIX16
#define MIX_f64 MIX8
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
