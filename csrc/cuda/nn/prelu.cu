/* prelu.cu: PReLU and its gradients.
 *
 * Invariant: there is one slope, or one per plane; the gradient of slopes is a sum in double and in
 * a fixed order (cuda/nn/planes.h).
 */
#include "cuda/nn/plane_sum.h"

namespace {

/* Computes out = g if in is positive, otherwise slope * g, in units of n elements; a plane has
 * `positions` adjacent units. */
template <typename T, int n, typename Index>
__global__ void scale_negative(const T *in, const T *g, const T *weight, T *out, Index count,
                               Index positions, Index planes, int whole) {
  Index unit = dpt__thread<Index>(), at = unit * n;
  if (at >= count) return;
  auto slope = dpt__load(weight[planes == 1 ? 0 : unit / positions % planes]);
  int m = count - at < n ? (int)(count - at) : n;
  bool packs = n > 1 && whole && m == n;
  auto x = dpt__pack_widen(dpt__pack_load(in + at, m, packs));
  auto y = dpt__pack_widen(dpt__pack_load(g + at, m, packs));
  for (int i = 0; i < n; i++) y.v[i] = x.v[i] > 0 ? y.v[i] : slope * y.v[i];
  dpt__pack_store(out + at, dpt__pack_narrow<T>(y), m, packs);
}

int launch(dpt__context *context, const dpt__prelu_args *a, const void *g, void *out) {
  int64_t count = a->N * a->C * a->S;
  if (!count) return 0;
  return dpt__of_stored_real_index(a->type, count, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    int per = a->shared || a->S % DPT__PACK == 0 ? DPT__PACK : 1;
    int whole = dpt__packs_at<T>(a->in) && dpt__packs_at<T>(g) && dpt__packs_at<T>(out);
    auto packs = scale_negative<T, DPT__PACK, Index>;
    auto elements = scale_negative<T, 1, Index>;
    auto kernel = per == 1 ? elements : packs;
    return DPT_LAUNCH(kernel, dpt__blocks((count + per - 1) / per), DPT__BLOCK, 0, context,
                      (const T *)a->in, (const T *)g, (const T *)a->weight, (T *)out, (Index)count,
                      (Index)(a->S / per), (Index)(a->shared ? 1 : a->C), whole);
  });
}

template <typename T, int n> struct slope_gradient {
  const T *in, *gout;
  int whole;
  __device__ double operator()(int64_t at) const {
    auto x = dpt__unit_load<n>(in + at, whole), g = dpt__unit_load<n>(gout + at, whole);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x.v[i] > 0 ? 0 : (double)x.v[i] * g.v[i];
    return sum;
  }
};

} // namespace

int dpt__cuda_prelu(dpt__context *context, const void *args) {
  const struct dpt__prelu_args *a = (const struct dpt__prelu_args *)args;
  if (a->out) return launch(context, a, a->in, a->out);
  if (a->gin) return launch(context, a, a->gout, a->gin);
  if (!a->N || !a->C || !a->S) return 0;
  dpt__cut k = a->shared ? dpt__cut_of(1, 1, a->N * a->C * a->S) : dpt__cut_of(a->N, a->C, a->S);
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    const T *in = (const T *)a->in, *gout = (const T *)a->gout;
    int whole = dpt__packs_at<T>(in) && dpt__packs_at<T>(gout);
    slope_gradient<T, 1> elements = {in, gout, whole};
    slope_gradient<T, DPT__PACK> packs = {in, gout, whole};
    if (k.per == 1) return dpt__plane_sum_launch(context, k, elements, (P *)a->gw, a->scale);
    return dpt__plane_sum_launch(context, k, packs, (P *)a->gw, a->scale);
  });
}
