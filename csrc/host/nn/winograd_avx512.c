/* winograd_avx512.c: the transforms for AVX-512. */
#define TABLE dpt__winograd_avx512
#define BYTES 64
#include "host/nn/winograd.inc.c"
