/* linear.c: nn.Linear's kernel: a product (see nn/products.h). */
#include "host/gemm.h"
#include "host/nn/real.h"
#include "nn/products.h"

int dpt__host_linear(dpt__context *context, const void *p) {
  const struct dpt__linear_args *a = p;
  size_t row = (size_t)a->O * dpt__dtype_size(a->type);
  if (a->pass == DPT__PASS_FORWARD && a->bias && !context->measures)
#pragma omp parallel for num_threads(dpt__threads(context, a->B * a->O)) schedule(static)
    for (int64_t b = 0; b < a->B; b++) memcpy((char *)a->out + (size_t)b * row, a->bias, row);
  if (a->pass == DPT__PASS_WEIGHT && a->bias) {
    size_t used = context->used;
    struct dpt__plane_sum_args sum = dpt__linear_bias_sum(a);
    DPT__TRY(dpt__host_plane_sum(context, &sum));
    context->used = used;
  }
  dpt__gemm_args gemm = dpt__linear_product(context, a);
  return gemm.c ? dpt__host_gemm(context, &gemm) : 0;
}
