/* linear.cu: nn.Linear's kernel: a product (see nn/linear.h). */
#include "cuda/gemm.h"
extern "C" {
#include "nn/linear.h"
#include "ops/map.h"
}

namespace {

/* out (rows, cols) = the row, in every row */
int repeat(dpt__context *context, int type, void *out, const void *row, int64_t rows,
           int64_t cols) {
  struct dpt__convert_args args = {};
  args.walk.noperand = 2;
  args.walk.ndim = 2;
  args.walk.size[0] = rows;
  args.walk.size[1] = cols;
  args.walk.stride[0][0] = cols;
  args.walk.stride[0][1] = args.walk.stride[1][1] = 1;
  args.walk.data[0] = (char *)out;
  args.walk.data[1] = (char *)row;
  args.walk.dtype[0] = args.walk.dtype[1] = type;
  return dpt__cuda_convert(context, &args);
}

} // namespace

int dpt__cuda_linear(dpt__context *context, const void *args) {
  const struct dpt__linear_args *a = (const struct dpt__linear_args *)args;
  if (a->pass == DPT__CONV_FORWARD && a->bias &&
      repeat(context, a->type, a->out, a->bias, a->B, a->O))
    return 1;
  struct dpt__plane_sum_args sum = dpt__linear_bias_sum(a);
  if (a->pass == DPT__CONV_WEIGHT && a->bias && dpt__cuda_plane_sum(context, &sum)) return 1;
  dpt__gemm_args gemm = dpt__linear_product(context, a);
  return gemm.c ? dpt__cuda_gemm(context, &gemm) : 0;
}
