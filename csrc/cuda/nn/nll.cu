/* nll.cu: ClassNLL: the negative log-likelihood of the target class.
 *
 * Invariant: sums are in double. A class out of range is reported as a fault that names it, and is
 * excluded from the sums and the gradient.
 */
#include "cuda/nn/classes.h"
#include "cuda/nn/nn.h"
#include "cuda/pack.h"
#include "cuda/sums.h"

namespace {

/* Targets per block: each costs a thread two dependent loads. */
constexpr int64_t ALONE = 4 * DPT__SUM_THREADS;

template <typename T> struct nll_sum {
  enum { SUMS = 2 }; /* of the losses, of the weights */
  dpt__nll_args a;
  dpt__class_fault fault;
  __device__ void add(double *sum) const {
    const T *in = (const T *)a.in, *weight = (const T *)a.weight;
    int64_t count = a.N * a.S, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
      int64_t wanted = dpt__index_at(a.target, a.target_type, i);
      if (wanted == a.ignore || fault.rejects(wanted, i)) continue;
      int64_t n = i / a.S, s = i - n * a.S;
      double w = weight ? (double)dpt__load(weight[wanted - 1]) : 1;
      sum[0] -= w * (double)dpt__load(in[(n * a.C + wanted - 1) * a.S + s]);
      sum[1] += w;
    }
  }
  __device__ void finish(const double *sum) const {
    *(T *)a.total = dpt__store_wide<T>(sum[1]);
    *(T *)a.out = dpt__store_wide<T>(a.average && sum[1] != 0 ? sum[0] / sum[1] : sum[0]);
  }
};

/* Writes every element of gin, most of them as 0. */
template <typename T, typename Index>
__global__ void nll_gradient(dpt__nll_args a, dpt__class_fault fault, bool packs, Index count) {
  const Index first = dpt__thread<Index>() * DPT__PACK, C = (Index)a.C, S = (Index)a.S;
  if (first >= count) return;
  const T *weight = (const T *)a.weight;
  const double total = (double)dpt__load(*(const T *)a.total);
  const bool divides = a.average && total != 0;
  const int own = count - first < DPT__PACK ? (int)(count - first) : DPT__PACK;
  Index plane = S == 1 ? first : first / S, s = first - plane * S, n = plane / C;
  Index c = plane - n * C;
  int64_t wanted = 0;
  dpt__pack<T> g = {};
  for (int i = 0; i < DPT__PACK; i++) {
    if (i >= own) break;
    const int64_t at = (int64_t)n * S + s;
    if (i == 0 || c == 0 || S > 1) wanted = dpt__index_at(a.target, a.target_type, at);
    if (c == 0 && wanted != a.ignore) (void)fault.rejects(wanted, at);
    if (wanted == c + 1 && wanted != a.ignore) {
      double w = weight ? (double)dpt__load(weight[c]) : 1;
      g.v[i] = dpt__store_wide<T>(divides ? -w / total : -w);
    }
    if (++s < S) continue;
    s = 0;
    if (++c < C) continue;
    c = 0;
    n++;
  }
  dpt__pack_store((T *)a.gin + first, g, own, packs && own == DPT__PACK);
}

} // namespace

int dpt__cuda_nll(dpt__context *context, const void *args) {
  const dpt__nll_args &a = *(const dpt__nll_args *)args;
  dpt__class_fault fault = dpt__class_fault_of(context, a);
  const int64_t count = a.N * a.C * a.S;
  return dpt__of_stored_real_index(a.type, count, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    nll_sum<T> loss = {a, fault};
    if (!a.gin) return dpt__sum(context, loss, dpt__sum_blocks(a.N * a.S, ALONE));
    auto gradient = nll_gradient<T, Index>;
    return DPT_LAUNCH(gradient, dpt__blocks(dpt__packs_of(count)), DPT__BLOCK, 0, context, a, fault,
                      dpt__packs_at<T>(a.gin), (Index)count);
  });
}
