/* panels_base.c: products for every CPU of the architecture. */
#include "base/reduced.h"

typedef float base_floats __attribute__((vector_size(16)));

static inline base_floats f16_load(const dpt__half *from) {
  base_floats v;
  for (int i = 0; i < 4; i++) v[i] = dpt__f16_to_float(from[i]);
  return v;
}
static inline base_floats bf16_load(const dpt__bfloat16 *from) {
  base_floats v;
  for (int i = 0; i < 4; i++) v[i] = dpt__bf16_to_float(from[i]);
  return v;
}

#define TABLE dpt__panels_base
#define BYTES 16
#define ROWS 4
#define TILES(X) X(1) X(2) X(3) X(4)
#define AHEAD 0
#define MIX_f32 MIX4
#define MIX_f64 MIX2
#define F16_LOAD(from) f16_load(from)
#define BF16_LOAD(from) bf16_load(from)
#define DPT_ROWS "host/panels.inc.c"
#include "host/panels_table.inc.c"
