/* loss.cu: pointwise losses with the formulas of nn/loss.def.
 *
 * Invariant: formulas and sums are computed in double, without fused operations, as on the host.
 * The loss is an argument of the kernel, chosen once per pack of elements.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/sums.h"
extern "C" {
#include "nn/kernels.h"
}

namespace {

/* The operands of a loss: in, target and weight; the last two may be NULL. */
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
  __device__ static dpt__pack<T> load(const T *from, dpt__pack_at at) {
    return from ? at.load<T>(from) : dpt__pack<T>();
  }
};

template <typename T, typename F>
__device__ void each(const dpt__pack<T> &xs, const dpt__pack<T> &ts, double *v, F formula) {
  for (int i = 0; i < DPT__PACK; i++) v[i] = formula((double)xs.v[i], (double)ts.v[i]);
}

/* Sets v[i] to the value, or the slope, at x[i] and t[i]. */
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
    dpt__each_pack(of.n, of.packs, [&](dpt__pack_at at) {
      dpt__pack<T> w = of.load(of.weight, at);
      double v[DPT__PACK];
      formulas<false>(of.loss, of.p, of.load(of.in, at), of.load(of.target, at), v);
      for (int i = 0; i < DPT__PACK; i++)
        if (i < at.n) sum[0] += of.weight ? v[i] * (double)w.v[i] : v[i];
    });
  }
  __device__ void finish(const double *sum) const {
    *out = (T)(average && of.n ? sum[0] / (double)of.n : sum[0]);
  }
};

template <typename T> __global__ void loss_gradient(operands<T> of, double factor, T *gin) {
  dpt__each_pack(of.n, of.packs, [&](dpt__pack_at at) {
    dpt__pack<T> w = of.load(of.weight, at), g;
    double v[DPT__PACK];
    formulas<true>(of.loss, of.p, of.load(of.in, at), of.load(of.target, at), v);
    for (int i = 0; i < DPT__PACK; i++) {
      double slope = v[i] * factor;
      g.v[i] = (T)(of.weight ? slope * (double)w.v[i] : slope);
    }
    at.store(gin, g);
  });
}

} // namespace

int dpt__cuda_loss(dpt__context *context, const void *args) {
  const dpt__loss_args &a = *(const dpt__loss_args *)args;
  double factor = a.average && a.n ? 1 / (double)a.n : 1;
  return dpt__of_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    operands<T> of(a);
    loss_sum<T> f = {of, a.average != 0, (T *)a.out};
    if (!a.gin) return dpt__sum(context, f, dpt__sum_blocks(dpt__packs_of(a.n)));
    of.packs = of.packs && dpt__packs_at<T>(a.gin);
    auto kernel = loss_gradient<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(dpt__packs_of(a.n)), DPT__BLOCK, 0, context, of, factor,
                      (T *)a.gin);
  });
}
