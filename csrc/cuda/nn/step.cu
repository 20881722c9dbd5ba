/* step.cu: optimizer steps over flat vectors, in one pass over memory.
 *
 * Invariant: each element goes through optim's operations in optim's order, in the element type's
 * arithmetic (compiled with -fmad=false), so the bits are those of the host and of separate
 * operations on tensors.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/walk.h"
extern "C" {
#include "nn/kernels.h"
}

namespace {

/* A thread's pack of elements from `first` on. */
struct pack_at {
  int64_t first;
  int n;
  bool whole;
  __device__ pack_at(int64_t offset_, int64_t count, bool packs) {
    first = offset_;
    n = count - first < DPT__PACK ? (int)(count - first) : DPT__PACK;
    whole = packs && n == DPT__PACK;
  }
  template <typename T> __device__ dpt__pack<T> load(const void *from) const {
    return dpt__pack_load((const T *)from + first, n, whole);
  }
  template <typename T> __device__ void store(void *to, const dpt__pack<T> &pack) const {
    dpt__pack_store((T *)to + first, pack, n, whole);
  }
};

template <typename T> __global__ void sgd_kernel(dpt__sgd_args a, bool packs) {
  const T rate = (T)-a.rate, decay = (T)a.decay, momentum = (T)a.momentum, keep = (T)a.keep;
  int64_t step = (int64_t)gridDim.x * blockDim.x * DPT__PACK;
  int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * DPT__PACK;
  for (; first < a.n; first += step) {
    pack_at at(first, a.n, packs);
    dpt__pack<T> x = at.load<T>(a.x), g = at.load<T>(a.g), v = {}, r = {};
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
    if (a.decays || a.decay != 0 || (a.v && a.nesterov)) at.store(a.g, g);
    dpt__pack<T> d = a.v && !a.nesterov ? v : g;
    if (a.rates) {
      r = at.load<T>(a.rates);
      for (int i = 0; i < DPT__PACK; i++) d.v[i] = r.v[i] * d.v[i];
    }
    for (int i = 0; i < DPT__PACK; i++) x.v[i] += rate * d.v[i];
    at.store(a.x, x);
  }
}

template <typename T> __global__ void adam_kernel(dpt__adam_args a, bool packs) {
  const T beta1 = (T)a.beta1, beta2 = (T)a.beta2;
  const T rest1 = (T)(1 - a.beta1), rest2 = (T)(1 - a.beta2);
  const T rate = (T)-a.rate, eps = (T)a.eps, decay = (T)a.decay;
  int64_t step = (int64_t)gridDim.x * blockDim.x * DPT__PACK;
  int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * DPT__PACK;
  for (; first < a.n; first += step) {
    pack_at at(first, a.n, packs);
    dpt__pack<T> x = at.load<T>(a.x), g = at.load<T>(a.g), m = at.load<T>(a.m), v = at.load<T>(a.v);
    if (a.decay != 0) {
      for (int i = 0; i < DPT__PACK; i++) g.v[i] += decay * x.v[i];
      at.store(a.g, g);
    }
    for (int i = 0; i < DPT__PACK; i++) {
      m.v[i] = m.v[i] * beta1 + rest1 * g.v[i];
      v.v[i] = v.v[i] * beta2 + rest2 * g.v[i] * g.v[i];
      x.v[i] += rate * m.v[i] / ((T)sqrt(v.v[i]) + eps);
    }
    at.store(a.m, m);
    at.store(a.v, v);
    at.store(a.x, x);
  }
}

unsigned blocks_of(int64_t n) { return dpt__blocks((n + DPT__PACK - 1) / DPT__PACK); }

} // namespace

int dpt__cuda_sgd(dpt__context *context, const void *args) {
  const dpt__sgd_args &a = *(const dpt__sgd_args *)args;
  if (!a.n) return 0;
  return dpt__of_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    bool packs = dpt__packs_at<T>(a.x) && dpt__packs_at<T>(a.g) && dpt__packs_at<T>(a.v) &&
                 dpt__packs_at<T>(a.rates) && dpt__packs_at<T>(a.decays);
    auto kernel = sgd_kernel<T>;
    return DPT_LAUNCH(kernel, blocks_of(a.n), DPT__BLOCK, 0, context, a, packs);
  });
}

int dpt__cuda_adam(dpt__context *context, const void *args) {
  const dpt__adam_args &a = *(const dpt__adam_args *)args;
  if (!a.n) return 0;
  return dpt__of_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    bool packs = dpt__packs_at<T>(a.x) && dpt__packs_at<T>(a.g) && dpt__packs_at<T>(a.m) &&
                 dpt__packs_at<T>(a.v);
    auto kernel = adam_kernel<T>;
    return DPT_LAUNCH(kernel, blocks_of(a.n), DPT__BLOCK, 0, context, a, packs);
  });
}
