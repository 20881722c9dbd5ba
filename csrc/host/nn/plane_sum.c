/* plane_sum.c: gradients of biases: sums over images and places, in double, in one fixed order. */
#include "host/nn/real.h"

enum { BLOCK = 64 }; /* columns that one thread adds up at a time */

#define DPT_ROWS "host/nn/plane_sum.inc.c"
#include "host/each_real.h"

int dpt__host_plane_sum(dpt__context *context, const void *p) {
  const struct dpt__plane_sum_args *a = p;
  (a->type == DPT_F32 ? plane_sum_f32 : plane_sum_f64)(context, a);
  return 0;
}
