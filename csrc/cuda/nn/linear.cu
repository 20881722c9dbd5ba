/* linear.cu: nn.Linear's kernel: a product (see nn/products.h). */
#include "cuda/gemm.h"
#include "cuda/walk.h"
extern "C" {
#include "nn/products.h"
}

namespace {

/* Copies `row` to every row of out (rows, cols). */
int repeat(dpt__context *context, int type, void *out, const void *row, int64_t rows,
           int64_t cols) {
  const int64_t size[2] = {rows, cols}, to[2] = {cols, 1}, from[2] = {0, 1};
  return dpt__cuda_copy(context, 2, size, type, out, to, type, row, from);
}

} // namespace

int dpt__cuda_linear(dpt__context *context, const void *args) {
  const struct dpt__linear_args *a = (const struct dpt__linear_args *)args;
  if (a->pass == DPT__PASS_FORWARD && a->bias &&
      repeat(context, a->type, a->out, a->bias, a->B, a->O))
    return 1;
  struct dpt__plane_sum_args sum = dpt__linear_bias_sum(a);
  if (a->pass == DPT__PASS_WEIGHT && a->bias && dpt__cuda_plane_sum(context, &sum)) return 1;
  dpt__gemm_args gemm = dpt__linear_product(context, a);
  return gemm.c ? dpt__cuda_gemm(context, &gemm) : 0;
}
