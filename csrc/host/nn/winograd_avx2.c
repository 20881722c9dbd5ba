/* winograd_avx2.c: the transforms for AVX2 with FMA. */
#define TABLE dpt__winograd_avx2
#define BYTES 32
#include "host/nn/winograd.inc.c"
