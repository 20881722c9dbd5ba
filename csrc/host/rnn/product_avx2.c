/* product_avx2.c: products for AVX2 with FMA. */
#define TABLE dpt__rnn_product_avx2
#define BYTES 32
#define ROWS 6
#define MIX_f32 MIX8
#define MIX_f64 MIX4
#define DPT_ROWS "host/rnn/product.inc.c"
#include "host/rnn/product_table.inc.c"
