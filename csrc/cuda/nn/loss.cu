/* loss.cu: pointwise losses: the formulas are nn/loss.def's.
 *
 * Invariant: formulas and sums are computed in double, with nothing fused, as on the host. A loss
 * is a number, chosen once for a thread's pack of elements.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/sums.h"
#include "cuda/walk.h"
extern "C" {
#include "nn/kernels.h"
}

namespace {

/* What a loss reads: in, target and weight; the last two may be NULL. */
template <typename T> struct operands {
  const T *in, *target, *weight;
  int64_t n;
  int loss;
  bool packs;
  double p;
  explicit operands(const dpt__loss_args &a) {
    in = (const T *)a.in;
    target = (const T *)a.target;
    weight = (const T *)a.weight;
    n = a.n;
    loss = a.loss;
    p = a.p;
    packs = dpt__packs_at<T>(in) && dpt__packs_at<T>(target) && dpt__packs_at<T>(weight);
  }
  __device__ static dpt__pack<T> load(const T *from, int64_t first, int m, bool whole) {
    dpt__pack<T> zero = {};
    return from ? dpt__pack_load(from + first, m, whole) : zero;
  }
};

template <typename T, typename F>
__device__ void each(const dpt__pack<T> &xs, const dpt__pack<T> &ts, double *v, F formula) {
  for (int i = 0; i < DPT__PACK; i++) v[i] = formula((double)xs.v[i], (double)ts.v[i]);
}

/* v[i] = the value, or the slope, at x[i] and t[i]. */
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return each(xs, ts, v, [=](double x, double t) { return slope ? (gradient) : (value); });
template <bool slope, typename T>
__device__ void formulas(int loss, double p, const dpt__pack<T> &xs, const dpt__pack<T> &ts,
                         double *v) {
  switch (loss) {
#include "nn/loss.def"
  }
}
#undef DPT_LOSS

template <typename T> struct loss_sum {
  enum { SUMS = 1 };
  operands<T> of;
  bool average;
  T *out;
  __device__ void add(double *sum) const {
    int64_t step = (int64_t)gridDim.x * blockDim.x * DPT__PACK;
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * DPT__PACK;
    for (; first < of.n; first += step) {
      int m = of.n - first < DPT__PACK ? (int)(of.n - first) : DPT__PACK;
      bool whole = of.packs && m == DPT__PACK;
      dpt__pack<T> w = of.load(of.weight, first, m, whole);
      double v[DPT__PACK];
      formulas<false>(of.loss, of.p, of.load(of.in, first, m, whole),
                      of.load(of.target, first, m, whole), v);
      for (int i = 0; i < DPT__PACK; i++)
        if (i < m) sum[0] += of.weight ? v[i] * (double)w.v[i] : v[i];
    }
  }
  __device__ void finish(const double *sum) const {
    *out = (T)(average && of.n ? sum[0] / (double)of.n : sum[0]);
  }
};

template <typename T> __global__ void loss_gradient(operands<T> of, double factor, T *gin) {
  int64_t step = (int64_t)gridDim.x * blockDim.x * DPT__PACK;
  int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * DPT__PACK;
  for (; first < of.n; first += step) {
    int m = of.n - first < DPT__PACK ? (int)(of.n - first) : DPT__PACK;
    bool whole = of.packs && m == DPT__PACK;
    dpt__pack<T> w = of.load(of.weight, first, m, whole), g;
    double v[DPT__PACK];
    formulas<true>(of.loss, of.p, of.load(of.in, first, m, whole),
                   of.load(of.target, first, m, whole), v);
    for (int i = 0; i < DPT__PACK; i++) {
      double slope = v[i] * factor;
      g.v[i] = (T)(of.weight ? slope * (double)w.v[i] : slope);
    }
    dpt__pack_store(gin + first, g, m, whole);
  }
}

int64_t packs_of(int64_t n) { return (n + DPT__PACK - 1) / DPT__PACK; }

} // namespace

int dpt__cuda_loss(dpt__context *context, const void *args) {
  const dpt__loss_args &a = *(const dpt__loss_args *)args;
  double factor = a.average && a.n ? 1 / (double)a.n : 1;
  return dpt__of_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    operands<T> of(a);
    loss_sum<T> f = {of, a.average != 0, (T *)a.out};
    if (!a.gin) return dpt__sum(context, f, dpt__sum_blocks(packs_of(a.n)));
    of.packs = of.packs && dpt__packs_at<T>(a.gin);
    auto kernel = loss_gradient<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(packs_of(a.n)), DPT__BLOCK, 0, context, of, factor,
                      (T *)a.gin);
  });
}
