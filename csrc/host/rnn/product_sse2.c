/* product_sse2.c: products for any x86-64 (and, by plain code, for other machines). */
#define TABLE dpt__rnn_product_sse2
#define BYTES 16
#define ROWS 4
#define DPT_ROWS "host/rnn/product.inc.c"
#include "host/rnn/product_table.inc.c"
