/* plane_sum.cu: gradients of biases: sums over images and positions. */
#include "cuda/nn/plane_sum.h"

namespace {

template <typename T, int n> struct elements {
  const T *gout;
  int whole;
  __device__ double operator()(int64_t at) const {
    auto g = dpt__unit_load<n>(gout + at, whole);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += g.v[i];
    return sum;
  }
};

} // namespace

int dpt__cuda_plane_sum(dpt__context *context, const void *args) {
  const struct dpt__plane_sum_args *a = (const struct dpt__plane_sum_args *)args;
  if (!a->N || !a->C || !a->S) return 0;
  dpt__cut k = dpt__cut_of(a->N, a->C, a->S);
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    const T *gout = (const T *)a->gout;
    int whole = dpt__packs_at<T>(gout);
    auto gb = (decltype(param) *)a->gb;
    if (k.per == 1)
      return dpt__plane_sum_launch(context, k, elements<T, 1>{gout, whole}, gb, a->scale);
    return dpt__plane_sum_launch(context, k, elements<T, DPT__PACK>{gout, whole}, gb, a->scale);
  });
}
