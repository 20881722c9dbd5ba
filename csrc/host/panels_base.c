/* panels_base.c: products for every CPU of the architecture. */
#define TABLE dpt__panels_base
#define BYTES 16
#define ROWS 4
#define TILES(X) X(1) X(2) X(3) X(4)
#define AHEAD 0
#define MIX_f32 MIX4
#define MIX_f64 MIX2
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
