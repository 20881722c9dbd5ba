/* lrn.cu: local response normalization across planes.
 *
 * Invariant: sums over adjacent planes are computed in double, in ascending order of planes.
 */
#include "cuda/nn/nn.h"

namespace {

enum { EACH = 4 }; /* planes per thread, which share loads of their neighbours */

/* Sets sum[r] to the sum of value(k) over the `size` planes k around first + r. */
template <typename Index, typename F>
__device__ __forceinline__ void around(Index first, Index C, Index size, double *sum, F value) {
  Index half = size / 2, from = first - half, end = first + EACH + half;
  for (int r = 0; r < EACH; r++) sum[r] = 0;
  if (end > C) end = C;
  for (Index k = from < 0 ? 0 : from; k < end; k++) {
    double v = value(k);
    for (int r = 0; r < EACH; r++) {
      Index apart = k - first - r;
      if (apart >= -half && apart <= half) sum[r] += v;
    }
  }
}

/* The first of a thread's EACH planes, and the offset of its element there; images, groups of
 * planes and positions are numbered row-major. */
template <typename Index> struct group {
  Index plane, at;
  bool here;
};
template <typename Index> __device__ group<Index> mine(Index N, Index C, Index S) {
  Index groups = (C + EACH - 1) / EACH, i = dpt__thread<Index>();
  Index row = i / S, image = row / groups, plane = (row - image * groups) * EACH;
  return {plane, (image * C + plane) * S + (i - row * S), image < N};
}

template <typename T, typename Index> __global__ void forward(dpt__lrn_args a) {
  Index C = (Index)a.C, S = (Index)a.S;
  group<Index> g = mine<Index>((Index)a.N, C, S);
  if (!g.here) return;
  const T *in = (const T *)a.in;
  double sum[EACH], factor = a.alpha / (double)a.size;
  around<Index>(g.plane, C, (Index)a.size, sum, [&](Index k) {
    double x = in[g.at + (k - g.plane) * S];
    return x * x;
  });
  for (int r = 0; r < EACH && g.plane + r < C; r++) {
    Index at = g.at + r * S;
    T d = (T)(a.k + factor * sum[r]);
    ((T *)a.denom)[at] = d;
    ((T *)a.out)[at] = in[at] * pow(d, (T)-a.beta);
  }
}

template <typename T, typename Index> __global__ void backward(dpt__lrn_args a) {
  Index C = (Index)a.C, S = (Index)a.S;
  group<Index> g = mine<Index>((Index)a.N, C, S);
  if (!g.here) return;
  const T *in = (const T *)a.in, *out = (const T *)a.out;
  const T *gout = (const T *)a.gout, *denom = (const T *)a.denom;
  double sum[EACH], factor = 2 * a.alpha * a.beta / (double)a.size;
  around<Index>(g.plane, C, (Index)a.size, sum, [&](Index k) {
    Index at = g.at + (k - g.plane) * S;
    return (double)(gout[at] * out[at] / denom[at]);
  });
  for (int r = 0; r < EACH && g.plane + r < C; r++) {
    Index at = g.at + r * S;
    T own = gout[at] * pow(denom[at], (T)-a.beta);
    ((T *)a.gin)[at] = (T)(own - factor * in[at] * sum[r]);
  }
}

} // namespace

int dpt__cuda_lrn(dpt__context *context, const void *args) {
  const struct dpt__lrn_args *a = (const struct dpt__lrn_args *)args;
  int64_t threads = a->N * ((a->C + EACH - 1) / EACH) * a->S;
  int64_t most = EACH * threads + a->size;
  if (!threads) return 0;
  return dpt__of_real_index(a->type, most, [&](auto zero, auto index) {
    auto kernel = forward<decltype(zero), decltype(index)>;
    if (a->gin) kernel = backward<decltype(zero), decltype(index)>;
    return DPT_LAUNCH(kernel, dpt__blocks(threads), DPT__BLOCK, 0, context, *a);
  });
}
