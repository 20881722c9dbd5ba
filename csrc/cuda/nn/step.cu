/* step.cu: optimizer steps over flat vectors, in one pass over memory.
 *
 * Invariant: each element undergoes optim's operations in optim's order, in the arithmetic of T
 * (compiled with -fmad=false), so the bits are those of the host and of separate operations on
 * tensors. S: the type of x and g, which is only read if it is a reduced type; T: the type that
 * kernels compute in, and that of the state and the factors.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
extern "C" {
#include "nn/scaler.h"
}

namespace {

/* A step without a copy and a scaler, and a step with either. */
struct plain_step {
  __device__ bool scales() const { return false; }
  __device__ bool skips() const { return false; }
  __device__ double factor() const { return 1; }
  template <typename Args> __device__ void set_numbers(Args *) const {}
  template <typename S> __device__ void store(dpt__pack_at, const dpt__pack<S> &) const {}
};
struct mixed_step {
  dpt__step_copy copy;
  dpt__step_scaler scaler;
  __device__ bool scales() const { return scaler.scaler; }
  __device__ bool skips() const { return scales() && scaler.scaler[DPT_SCALER_FINITE] == 0; }
  __device__ double factor() const { return scales() ? scaler.scaler[DPT_SCALER_FACTOR] : 1; }
  __device__ void set_numbers(dpt__sgd_args *a) const {
    if (scales()) dpt__sgd_numbers(a, scaler.count);
  }
  __device__ void set_numbers(dpt__adam_args *a) const {
    if (scales()) dpt__adam_numbers(a, scaler.count);
  }
  /* Writes new values of x to the copy; only floats have one. */
  template <typename S> __device__ void store(dpt__pack_at, const dpt__pack<S> &) const {}
  __device__ void store(dpt__pack_at at, const dpt__pack<float> &x) const {
    if (at.first >= copy.n) return;
    if (copy.n - at.first < at.n) at.n = (int)(copy.n - at.first), at.whole = false;
    if (copy.type == DPT_F16)
      at.store(copy.to, dpt__pack_narrow<dpt__half>(x));
    else
      at.store(copy.to, dpt__pack_narrow<dpt__bfloat16>(x));
  }
};

/* Returns true if the step is skipped, after writing the copy. */
template <typename S, typename More, typename Args>
__device__ bool skip(const Args &a, const More &more, bool packs) {
  if (!more.skips()) return false;
  dpt__each_pack(a.n, packs, [&](dpt__pack_at at) { more.store(at, at.load<S>(a.x)); });
  return true;
}

template <typename S, typename More>
__global__ void sgd_kernel(dpt__sgd_args a, More more, bool packs) {
  typedef typename dpt__wide<S>::type T;
  if (skip<S>(a, more, packs)) return;
  more.set_numbers(&a);
  const T factor = (T)more.factor();
  const T rate = (T)-a.rate, decay = (T)a.decay, momentum = (T)a.momentum, keep = (T)a.keep;
  dpt__each_pack(a.n, packs, [&](dpt__pack_at at) {
    dpt__pack<T> x = dpt__pack_widen(at.load<S>(a.x)), g = dpt__pack_widen(at.load<S>(a.g));
    dpt__pack<T> v = {}, r = {};
    if (more.scales())
      for (int i = 0; i < DPT__PACK; i++) g.v[i] *= factor;
    if (a.decays) {
      dpt__pack<T> decays = at.load<T>(a.decays);
      for (int i = 0; i < DPT__PACK; i++) g.v[i] += decays.v[i] * x.v[i];
    } else if (a.decay != 0) {
      for (int i = 0; i < DPT__PACK; i++) g.v[i] += decay * x.v[i];
    }
    if (a.v) {
      if (a.first) {
        v = g;
      } else {
        v = at.load<T>(a.v);
        for (int i = 0; i < DPT__PACK; i++) v.v[i] = v.v[i] * momentum + keep * g.v[i];
      }
      at.store(a.v, v);
      if (a.nesterov)
        for (int i = 0; i < DPT__PACK; i++) g.v[i] += momentum * v.v[i];
    }
    if (sizeof(S) == sizeof(T) &&
        (more.scales() || a.decays || a.decay != 0 || (a.v && a.nesterov)))
      at.store(a.g, g);
    dpt__pack<T> d = a.v && !a.nesterov ? v : g;
    if (a.rates) {
      r = at.load<T>(a.rates);
      for (int i = 0; i < DPT__PACK; i++) d.v[i] = r.v[i] * d.v[i];
    }
    for (int i = 0; i < DPT__PACK; i++) x.v[i] += rate * d.v[i];
    dpt__pack<S> stored = dpt__pack_narrow<S>(x);
    at.store(a.x, stored);
    more.store(at, stored);
  });
}

template <typename S, typename More>
__global__ void adam_kernel(dpt__adam_args a, More more, bool packs) {
  typedef typename dpt__wide<S>::type T;
  if (skip<S>(a, more, packs)) return;
  more.set_numbers(&a);
  const T factor = (T)more.factor();
  const T beta1 = (T)a.beta1, beta2 = (T)a.beta2;
  const T rest1 = (T)(1 - a.beta1), rest2 = (T)(1 - a.beta2);
  const T rate = (T)-a.rate, eps = (T)a.eps, decay = (T)a.decay, base = (T)a.base;
  const T keep = (T)(1 - a.base * a.decay);
  dpt__each_pack(a.n, packs, [&](dpt__pack_at at) {
    dpt__pack<T> x = dpt__pack_widen(at.load<S>(a.x)), g = dpt__pack_widen(at.load<S>(a.g));
    dpt__pack<T> m = at.load<T>(a.m), v = at.load<T>(a.v), vmax = {}, rates = {}, decays = {};
    if (a.vmax) vmax = at.load<T>(a.vmax);
    if (a.rates) rates = at.load<T>(a.rates);
    if (a.decays) decays = at.load<T>(a.decays);
    if (more.scales())
      for (int i = 0; i < DPT__PACK; i++) g.v[i] *= factor;
    if (a.decoupled && (a.rates || a.decays)) {
      for (int i = 0; i < DPT__PACK; i++)
        x.v[i] *= 1 - base * (a.rates ? rates.v[i] : 1) * (a.decays ? decays.v[i] : decay);
    } else if (a.decoupled) {
      for (int i = 0; i < DPT__PACK; i++) x.v[i] *= keep;
    } else if (a.decays || a.decay != 0) {
      for (int i = 0; i < DPT__PACK; i++) g.v[i] += (a.decays ? decays.v[i] : decay) * x.v[i];
      if (sizeof(S) == sizeof(T) && !more.scales()) at.store(a.g, g);
    }
    if (sizeof(S) == sizeof(T) && more.scales()) at.store(a.g, g);
    dpt__pack<T> step = {};
    for (int i = 0; i < DPT__PACK; i++) {
      m.v[i] = m.v[i] * beta1 + rest1 * g.v[i];
      v.v[i] = v.v[i] * beta2 + rest2 * g.v[i] * g.v[i];
      vmax.v[i] = a.vmax && vmax.v[i] >= v.v[i] ? vmax.v[i] : v.v[i]; // keeps a NaN
      step.v[i] = rate * m.v[i] / ((T)sqrt(vmax.v[i]) + eps);
    }
    if (a.rates)
      for (int i = 0; i < DPT__PACK; i++) step.v[i] = rates.v[i] * step.v[i];
    for (int i = 0; i < DPT__PACK; i++) x.v[i] += step.v[i];
    at.store(a.m, m);
    at.store(a.v, v);
    if (a.vmax) at.store(a.vmax, vmax);
    dpt__pack<S> stored = dpt__pack_narrow<S>(x);
    at.store(a.x, stored);
    more.store(at, stored);
  });
}

template <typename S, typename More>
int step_sgd(dpt__context *context, const dpt__sgd_args &a, More more, bool more_packs) {
  typedef typename dpt__wide<S>::type T;
  if (!a.n) return 0;
  bool packs = more_packs && dpt__packs_at<S>(a.x) && dpt__packs_at<S>(a.g) &&
               dpt__packs_at<T>(a.v) && dpt__packs_at<T>(a.rates) && dpt__packs_at<T>(a.decays);
  auto kernel = sgd_kernel<S, More>;
  return DPT_LAUNCH(kernel, dpt__blocks(dpt__packs_of(a.n)), DPT__BLOCK, 0, context, a, more,
                    packs);
}

template <typename S, typename More>
int step_adam(dpt__context *context, const dpt__adam_args &a, More more, bool more_packs) {
  typedef typename dpt__wide<S>::type T;
  if (!a.n) return 0;
  bool packs = more_packs && dpt__packs_at<S>(a.x) && dpt__packs_at<S>(a.g) &&
               dpt__packs_at<T>(a.m) && dpt__packs_at<T>(a.v) && dpt__packs_at<T>(a.vmax) &&
               dpt__packs_at<T>(a.rates) && dpt__packs_at<T>(a.decays);
  auto kernel = adam_kernel<S, More>;
  return DPT_LAUNCH(kernel, dpt__blocks(dpt__packs_of(a.n)), DPT__BLOCK, 0, context, a, more,
                    packs);
}

} // namespace

int dpt__cuda_sgd(dpt__context *context, const void *args) {
  const dpt__sgd_args &a = *(const dpt__sgd_args *)args;
  return dpt__of_stored_real(
      a.type, [&](auto zero) { return step_sgd<decltype(zero)>(context, a, plain_step(), true); });
}

int dpt__cuda_adam(dpt__context *context, const void *args) {
  const dpt__adam_args &a = *(const dpt__adam_args *)args;
  return dpt__of_stored_real(
      a.type, [&](auto zero) { return step_adam<decltype(zero)>(context, a, plain_step(), true); });
}

int dpt__cuda_sgd_mixed(dpt__context *context, const void *args) {
  const dpt__sgd_mixed_args &a = *(const dpt__sgd_mixed_args *)args;
  bool packs = dpt__packs_at<dpt__half>(a.copy.to);
  return dpt__of_stored_real(a.step.type, [&](auto zero) {
    return step_sgd<decltype(zero)>(context, a.step, mixed_step{a.copy, a.scaler}, packs);
  });
}

int dpt__cuda_adam_mixed(dpt__context *context, const void *args) {
  const dpt__adam_mixed_args &a = *(const dpt__adam_mixed_args *)args;
  bool packs = dpt__packs_at<dpt__half>(a.copy.to);
  return dpt__of_stored_real(a.step.type, [&](auto zero) {
    return step_adam<decltype(zero)>(context, a.step, mixed_step{a.copy, a.scaler}, packs);
  });
}
