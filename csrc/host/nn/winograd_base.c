/* winograd_base.c: the transforms for every CPU of the architecture. */
#define TABLE dpt__winograd_base
#define BYTES 16
#include "host/nn/winograd.inc.c"
