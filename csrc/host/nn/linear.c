/* linear.c: nn.Linear's kernels: one product each.
 *
 * What must stay true: the bias is in `out` before the product is added to it, so that a row is
 * written by one thread in one order; `deterministic` is handed to the product (host/gemm.h). On
 * devices a layer of at most SMALL weights always has the fixed order: it costs next to nothing
 * there, and several devices give the bits of one. The choice may not depend on the rows.
 */
#include "host/gemm.h"
#include "host/nn/real.h"

enum { SMALL = 128 };

static int fixed(const dpt__context *context, int deterministic, int64_t weights) {
  return deterministic || (context->device && weights <= SMALL);
}

int dpt__host_linear(dpt__context *context, const void *p) {
  const struct dpt__linear_args *a = p;
  size_t row = (size_t)a->O * dpt__width(a->type);
  if (a->bias)
    for (int64_t b = 0; b < a->B; b++) memcpy((char *)a->out + (size_t)b * row, a->bias, row);
  dpt__gemm_args gemm = {.dtype = a->type,
                         .fixed = fixed(context, a->deterministic, a->I * a->O),
                         .batch = 1,
                         .m = a->B,
                         .n = a->O,
                         .k = a->I,
                         .alpha = 1,
                         .beta = a->bias ? 1 : 0,
                         .a = a->in,
                         .a_row = a->I,
                         .a_col = 1,
                         .b = a->weight,
                         .b_row = 1,
                         .b_col = a->I,
                         .c = a->out,
                         .c_row = a->O,
                         .c_col = 1};
  return dpt__host_gemm(context, &gemm);
}

int dpt__host_linear_data(dpt__context *context, const void *p) {
  const struct dpt__linear_data_args *a = p;
  dpt__gemm_args gemm = {.dtype = a->type,
                         .fixed = fixed(context, a->deterministic, a->I * a->O),
                         .batch = 1,
                         .m = a->B,
                         .n = a->I,
                         .k = a->O,
                         .alpha = 1,
                         .beta = 0,
                         .a = a->gout,
                         .a_row = a->O,
                         .a_col = 1,
                         .b = a->weight,
                         .b_row = a->I,
                         .b_col = 1,
                         .c = a->gin,
                         .c_row = a->I,
                         .c_col = 1};
  return dpt__host_gemm(context, &gemm);
}

int dpt__host_linear_weight(dpt__context *context, const void *p) {
  const struct dpt__linear_weight_args *a = p;
  struct dpt__plane_sum_args sum = {.type = a->type,
                                    .N = a->B,
                                    .C = a->O,
                                    .S = 1,
                                    .scale = a->scale,
                                    .gout = a->gout,
                                    .gb = a->gb};
  if (a->gb) DPT__TRY(dpt__host_plane_sum(context, &sum));
  dpt__gemm_args gemm = {.dtype = a->type,
                         .batch = 1,
                         .m = a->O,
                         .n = a->I,
                         .k = a->B,
                         .alpha = a->scale,
                         .beta = 1,
                         .a = a->gout,
                         .a_row = 1,
                         .a_col = a->O,
                         .b = a->in,
                         .b_row = a->I,
                         .b_col = 1,
                         .c = a->gw,
                         .c_row = a->I,
                         .c_col = 1};
  return a->gw ? dpt__host_gemm(context, &gemm) : 0;
}
