/* scaler.cu: the numbers of a loss scaler, and products with one of them. */
#include "cuda/element.h"
#include "cuda/pack.h"
extern "C" {
#include "nn/scaler.h"
}

namespace {

__global__ void scaler_kernel(dpt__scaler_step_args a) { dpt__scaler_step(&a); }

__global__ void count_kernel(dpt__step_count_args a) { dpt__step_count(&a); }

template <typename S> __global__ void scale_kernel(dpt__scale_by_args a, bool packs) {
  typedef typename dpt__wide<S>::type T;
  const T factor = (T)*a.factor;
  dpt__each_pack(a.n, packs, [&](dpt__pack_at at) {
    dpt__pack<T> x = dpt__pack_widen(at.load<S>(a.x));
    for (int i = 0; i < DPT__PACK; i++) x.v[i] *= factor;
    at.store(a.r, dpt__pack_narrow<S>(x));
  });
}

} // namespace

int dpt__cuda_scaler_step(dpt__context *context, const void *args) {
  return DPT_LAUNCH(scaler_kernel, 1, 1, 0, context, *(const dpt__scaler_step_args *)args);
}

int dpt__cuda_step_count(dpt__context *context, const void *args) {
  return DPT_LAUNCH(count_kernel, 1, 1, 0, context, *(const dpt__step_count_args *)args);
}

int dpt__cuda_scale_by(dpt__context *context, const void *args) {
  dpt__scale_by_args a = *(const dpt__scale_by_args *)args;
  if (!a.x) a.x = a.r;
  return dpt__of_stored_real(a.type, [&](auto zero) {
    typedef decltype(zero) S;
    bool packs = dpt__packs_at<S>(a.x) && dpt__packs_at<S>(a.r);
    auto kernel = scale_kernel<S>;
    return DPT_LAUNCH(kernel, dpt__blocks(dpt__packs_of(a.n)), DPT__BLOCK, 0, context, a, packs);
  });
}
