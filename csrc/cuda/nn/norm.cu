/* norm.cu: normalization of rows, each by its own mean and variance.
 *
 * Invariant: sums are double and in a fixed order. A row is (K, S); its plane k has the parameters
 * (groups, K)[row % groups][k]. T: the type of in, out and their gradients; P: of the parameters.
 */
#include "cuda/nn/planes.h"
#include "cuda/nn/row.h"

namespace {

/* Maps an element's offset in its row to its plane. */
struct plane_of {
  int64_t S;
  bool small; /* offsets and S fit 32 bits */
  __device__ int64_t operator()(int64_t at) const {
    if (S == 1) return at;
    return small ? (uint32_t)at / (uint32_t)S : at / S;
  }
};

/* Returns a row's first parameter, or NULL. */
template <typename P, typename Args>
__device__ const P *parameters_of(const void *from, const Args &a, int64_t row) {
  return from ? (const P *)from + row % a.groups * a.K : NULL;
}

template <typename T, typename P>
__global__ void forward(dpt__norm_args a, plane_of plane, bool packs) {
  typedef typename dpt__wide<T>::type V;
  typedef dpt__pack<V> pack;
  DPT_SHARED(double, shared);
  const dpt__row<T> r(a.rows, a.K * a.S, packs);
  const double count = (double)(a.K * a.S);
  double mean = 0, squares = 0;
  if (!a.rms) {
    r.each(a.in, NULL, V(0), [&](const pack &x, const pack &, int, int64_t) {
      for (int i = 0; i < DPT__PACK; i++) mean += x.v[i];
    });
    mean = dpt__block_reduce_x(mean, dpt__plus(), shared) / count;
  }
  r.each(a.in, NULL, V(0), [&](const pack &x, const pack &, int n, int64_t) {
    for (int i = 0; i < DPT__PACK; i++)
      if (i < n) squares += (x.v[i] - mean) * (x.v[i] - mean);
  });
  squares = dpt__block_reduce_x(squares, dpt__plus(), shared);
  if (!r.C) return;
  const V m = (V)mean, f = (V)(1 / sqrt(squares / count + a.eps));
  if (threadIdx.x == 0) {
    ((V *)a.save)[2 * r.number] = m;
    ((V *)a.save)[2 * r.number + 1] = f;
  }
  const P *weight = parameters_of<P>(a.weight, a, r.number);
  const P *bias = parameters_of<P>(a.bias, a, r.number);
  r.each(a.in, NULL, V(0), [&](const pack &x, const pack &, int n, int64_t at) {
    pack y;
    for (int i = 0; i < DPT__PACK; i++) {
      if (i >= n) break;
      int64_t k = plane(at - r.offset + i);
      y.v[i] = (x.v[i] - m) * f * (weight ? dpt__load(weight[k]) : V(1)) +
               (bias ? dpt__load(bias[k]) : V(0));
    }
    r.store(a.out, at, n, y);
  });
}

/* Computes gin. */
template <typename T, typename P>
__global__ void backward(dpt__norm_backward_args a, plane_of plane, bool packs) {
  typedef typename dpt__wide<T>::type V;
  typedef dpt__pack<V> pack;
  DPT_SHARED(double, shared);
  const dpt__row<T> r(a.rows, a.K * a.S, packs);
  const V *save = (const V *)a.save + 2 * r.number, m = r.C ? save[0] : V(0);
  const V f = r.C ? save[1] : V(0);
  const P *weight = parameters_of<P>(a.weight, a, r.number);
  auto weighted = [&](const pack &g, int i, int64_t at) {
    return weight ? g.v[i] * dpt__load(weight[plane(at - r.offset + i)]) : g.v[i];
  };
  double sum = 0, dot = 0;
  r.each(a.in, a.gout, V(0), [&](const pack &x, const pack &g, int n, int64_t at) {
    for (int i = 0; i < DPT__PACK; i++) {
      if (i >= n) break;
      double h = weighted(g, i, at);
      sum += h;
      dot += (x.v[i] - (double)m) * f * h;
    }
  });
  sum = dpt__block_reduce_x(sum, dpt__plus(), shared);
  dot = dpt__block_reduce_x(dot, dpt__plus(), shared);
  const double count = (double)(a.K * a.S);
  const V b = a.rms ? V(0) : (V)(sum / count), by = (V)(dot / count * f);
  r.each(a.in, a.gout, V(0), [&](const pack &x, const pack &g, int n, int64_t at) {
    pack y;
    for (int i = 0; i < DPT__PACK; i++) {
      if (i >= n) break;
      y.v[i] = (weighted(g, i, at) - b - (x.v[i] - m) * by) * f;
    }
    r.store(a.gin, at, n, y);
  });
}

/* Computes gweight and gbias: sums over (rows / groups, groups * K, S). */
template <typename T, typename P, int n>
__global__ void gradients(dpt__norm_backward_args a, dpt__cut k, int whole, int phase,
                          double *sums) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  const T *in = (const T *)a.in, *gout = (const T *)a.gout;
  const int64_t c = dpt__cut_plane(k), D = a.K * a.S;
  const bool here = c < k.C, first = dpt__cut_self(k) == 0;
  double sum = 0, dot = 0;
  if (phase & DPT__MEASURE)
    dpt__cut_each(k, [&](int64_t at) {
      const V *save = (const V *)a.save + at / D * 2;
      const double m = save[0], f = save[1];
      auto x = dpt__unit_load<n>(in + at, whole), g = dpt__unit_load<n>(gout + at, whole);
      for (int i = 0; i < n; i++) {
        sum += g.v[i];
        dot += (x.v[i] - m) * f * g.v[i];
      }
    });
  else
    for (unsigned i = dpt__cut_self(k); here && i < k.chunks; i += k.deep) {
      sum += dpt__cut_sums(k, sums, i)[0];
      dot += dpt__cut_sums(k, sums, i)[1];
    }
  sum = dpt__cut_sum(k, sum, shared);
  dot = dpt__cut_sum(k, dot, shared);
  if (!here || !first) return;
  if (!(phase & DPT__APPLY)) {
    double *s = dpt__cut_sums(k, sums, blockIdx.y);
    s[0] = sum;
    s[1] = dot;
    return;
  }
  P *gweight = (P *)a.gweight, *gbias = (P *)a.gbias;
  if (gweight) gweight[c] = dpt__store_wide<P>(a.scale * dot + dpt__load(gweight[c]));
  if (gbias) gbias[c] = dpt__store_wide<P>(a.scale * sum + dpt__load(gbias[c]));
}

template <typename Args> plane_of plane_of_row(const Args *a) {
  return {a->S, a->K * a->S <= UINT32_MAX};
}

template <typename Args> unsigned blocks_of(const Args *a, dim3 block) {
  return (unsigned)((a->rows + block.y - 1) / block.y);
}

} // namespace

int dpt__cuda_norm(dpt__context *context, const void *args) {
  const struct dpt__norm_args *a = (const struct dpt__norm_args *)args;
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    dim3 block = dpt__row_block(a->K * a->S);
    bool packs =
        a->K * a->S % DPT__PACK == 0 && dpt__packs_at<T>(a->in) && dpt__packs_at<T>(a->out);
    auto kernel = forward<T, P>;
    return DPT_LAUNCH_COOPERATIVE(kernel, blocks_of(a, block), block, DPT__CUT_SHARED, context, *a,
                                  plane_of_row(a), packs);
  });
}

int dpt__cuda_norm_backward(dpt__context *context, const void *args) {
  const struct dpt__norm_backward_args *a = (const struct dpt__norm_backward_args *)args;
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    if (a->gin) {
      dim3 block = dpt__row_block(a->K * a->S);
      bool packs = a->K * a->S % DPT__PACK == 0 && dpt__packs_at<T>(a->in) &&
                   dpt__packs_at<T>(a->gout) && dpt__packs_at<T>(a->gin);
      auto kernel = backward<T, P>;
      if (DPT_LAUNCH_COOPERATIVE(kernel, blocks_of(a, block), block, DPT__CUT_SHARED, context, *a,
                                 plane_of_row(a), packs))
        return 1;
    }
    if (!a->gweight && !a->gbias) return 0;
    dpt__cut k = dpt__cut_of(a->rows / a->groups, a->groups * a->K, a->S);
    int whole = dpt__packs_at<T>(a->in) && dpt__packs_at<T>(a->gout);
    auto packs = gradients<T, P, DPT__PACK>;
    auto elements = gradients<T, P, 1>;
    auto kernel = k.per == 1 ? elements : packs;
    return dpt__cut_launch(context, k, false, [&](int phase, double *sums, unsigned chunks) {
      return DPT_LAUNCH_COOPERATIVE(kernel, dpt__cut_grid(k, chunks), dpt__cut_block(k),
                                    DPT__CUT_SHARED, context, *a, k, whole, phase, sums);
    });
  });
}
