/* linear.c: nn.Linear's kernels: one product each (nn/linear.h has the rules). */
#include "nn/linear.h"
#include "host/gemm.h"
#include "host/nn/real.h"

int dpt__host_linear(dpt__context *context, const void *p) {
  const struct dpt__linear_args *a = p;
  size_t row = (size_t)a->O * dpt__width(a->type);
  if (a->bias)
    for (int64_t b = 0; b < a->B; b++) memcpy((char *)a->out + (size_t)b * row, a->bias, row);
  dpt__gemm_args gemm = dpt__linear_product(context, a);
  return dpt__host_gemm(context, &gemm);
}

int dpt__host_linear_data(dpt__context *context, const void *p) {
  dpt__gemm_args gemm = dpt__linear_data_product(context, p);
  return dpt__host_gemm(context, &gemm);
}

int dpt__host_linear_weight(dpt__context *context, const void *p) {
  const struct dpt__linear_weight_args *a = p;
  struct dpt__plane_sum_args sum = dpt__linear_bias_sum(a);
  if (a->gb) DPT__TRY(dpt__host_plane_sum(context, &sum));
  dpt__gemm_args gemm = dpt__linear_weight_product(a);
  return a->gw ? dpt__host_gemm(context, &gemm) : 0;
}
