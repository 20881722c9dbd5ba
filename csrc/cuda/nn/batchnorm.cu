/* batchnorm.cu: batch normalization of (N, C, S).
 *
 * Invariant: sums are double and in a fixed order (cuda/nn/planes.h). The mean of a chunk is
 * subtracted before its squares are summed, and chunks are joined with their means, so nothing
 * cancels. Elementwise arithmetic is in the type that kernels compute in. T: the type of in, out
 * and their gradients; P: of all with C elements.
 */
#include "cuda/nn/planes.h"

namespace {

/* Computes the mean of a chunk and the sum of squared deviations from it. */
/* Computes *to = term + keep * *to. */
template <typename P> __device__ __forceinline__ void follow(P *to, double term, double keep) {
  *to = dpt__store_wide<P>(term + keep * dpt__load(*to));
}

template <typename T, int n>
__device__ void measure(const T *in, const dpt__cut &k, int whole, double *shared, double *mean,
                        double *squares) {
  double sum = 0;
  dpt__cut_each(k, [&](int64_t at) {
    auto x = dpt__unit_load<n>(in + at, whole);
    for (int i = 0; i < n; i++) sum += x.v[i];
  });
  double m = dpt__cut_sum(k, sum, shared) / dpt__cut_count(k, blockIdx.y);
  sum = 0;
  dpt__cut_each(k, [&](int64_t at) {
    auto x = dpt__unit_load<n>(in + at, whole);
    for (int i = 0; i < n; i++) sum += (x.v[i] - m) * (x.v[i] - m);
  });
  *mean = m;
  *squares = dpt__cut_sum(k, sum, shared);
}

/* Computes the mean and the sum of squared deviations of a plane from those of its chunks. */
__device__ void join(const dpt__cut &k, double *sums, double *shared, double *mean,
                     double *squares) {
  unsigned end = dpt__cut_plane(k) < k.C ? k.chunks : 0;
  double sum = 0;
  for (unsigned i = dpt__cut_self(k); i < end; i += k.deep)
    sum += *dpt__cut_sums(k, sums, i) * dpt__cut_count(k, i);
  double m = dpt__cut_sum(k, sum, shared) / (double)(k.n * k.per);
  sum = 0;
  for (unsigned i = dpt__cut_self(k); i < end; i += k.deep) {
    const double *s = dpt__cut_sums(k, sums, i);
    sum += s[1] + dpt__cut_count(k, i) * (s[0] - m) * (s[0] - m);
  }
  *mean = m;
  *squares = dpt__cut_sum(k, sum, shared);
}

template <typename T, typename P, int n>
__global__ void forward(dpt__batchnorm_args a, dpt__cut k, int whole, int phase, double *sums) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  const T *in = (const T *)a.in;
  T *out = (T *)a.out;
  P *running_mean = (P *)a.running_mean, *running_var = (P *)a.running_var;
  int64_t c = dpt__cut_plane(k);
  double mean = 0, squares = 0;
  if (phase & DPT__MEASURE)
    measure<T, n>(in, k, whole, shared, &mean, &squares);
  else if (a.train)
    join(k, sums, shared, &mean, &squares);
  if (c >= k.C) return;
  bool first = dpt__cut_self(k) == 0;
  if (!(phase & DPT__APPLY)) {
    if (!first) return;
    double *s = dpt__cut_sums(k, sums, blockIdx.y);
    s[0] = mean;
    s[1] = squares;
    return;
  }
  double factor, count = (double)(k.n * k.per);
  if (a.train) {
    double var = squares / count, unbiased = squares / (count > 1 ? count - 1 : 1);
    factor = var == 0 && a.eps == 0 ? 0 : 1 / sqrt(var + a.eps);
    if (first && blockIdx.y == 0) {
      double keep = 1 - a.momentum;
      ((P *)a.save_mean)[c] = dpt__store_wide<P>(mean);
      ((P *)a.save_std)[c] = dpt__store_wide<P>(factor);
      if (running_mean) follow(running_mean + c, a.momentum * mean, keep);
      if (running_var) follow(running_var + c, a.momentum * unbiased, keep);
    }
  } else {
    mean = dpt__load(running_mean[c]);
    factor = 1 / sqrt(dpt__load(running_var[c]) + a.eps);
  }
  if (a.weight) factor *= dpt__load(((const P *)a.weight)[c]);
  const V m = (V)mean, f = (V)factor, b = a.bias ? (V)dpt__load(((const P *)a.bias)[c]) : V(0);
  dpt__cut_each(k, [&](int64_t at) {
    auto x = dpt__unit_load<n>(in + at, whole);
    for (int i = 0; i < n; i++) x.v[i] = (x.v[i] - m) * f + b;
    dpt__unit_store<n>(out + at, x, whole);
  });
}

/* Computes the sums of g and of (x - mean) * g over a plane, and the gradients. */
template <typename T, typename P, int n>
__global__ void backward(dpt__batchnorm_backward_args a, dpt__cut k, int whole, int phase,
                         double *sums) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  const T *in = (const T *)a.in, *gout = (const T *)a.gout;
  T *gin = (T *)a.gin;
  P *gweight = (P *)a.gweight, *gbias = (P *)a.gbias;
  int64_t c = dpt__cut_plane(k);
  bool here = c < k.C, first = dpt__cut_self(k) == 0;
  double sum = 0, dot = 0, mean = here ? (double)dpt__load(((const P *)a.mean)[c]) : 0;
  if (phase & DPT__MEASURE)
    dpt__cut_each(k, [&](int64_t at) {
      auto x = dpt__unit_load<n>(in + at, whole), g = dpt__unit_load<n>(gout + at, whole);
      for (int i = 0; i < n; i++) {
        sum += g.v[i];
        dot += (x.v[i] - mean) * g.v[i];
      }
    });
  else
    for (unsigned i = dpt__cut_self(k); here && sums && i < k.chunks; i += k.deep) {
      sum += dpt__cut_sums(k, sums, i)[0];
      dot += dpt__cut_sums(k, sums, i)[1];
    }
  sum = dpt__cut_sum(k, sum, shared);
  dot = dpt__cut_sum(k, dot, shared);
  if (!here) return;
  if (!(phase & DPT__APPLY)) {
    if (!first) return;
    double *s = dpt__cut_sums(k, sums, blockIdx.y);
    s[0] = sum;
    s[1] = dot;
    return;
  }
  double d = dpt__load(((const P *)a.deviation)[c]), inverse = a.train ? d : 1 / sqrt(d + a.eps);
  double count = (double)(k.n * k.per);
  if (first && blockIdx.y == 0) {
    if (gweight) follow(gweight + c, a.scale * dot * inverse, 1);
    if (gbias) follow(gbias + c, a.scale * sum, 1);
  }
  if (!gin) return;
  const V m = (V)mean, s = a.train ? (V)(dot * inverse * inverse / count) : V(0);
  const V b = a.train ? (V)(sum / count) : V(0);
  const V f = (V)(inverse * (a.weight ? (double)dpt__load(((const P *)a.weight)[c]) : 1));
  dpt__cut_each(k, [&](int64_t at) {
    auto x = dpt__unit_load<n>(in + at, whole), g = dpt__unit_load<n>(gout + at, whole);
    for (int i = 0; i < n; i++) g.v[i] = (g.v[i] - b - (x.v[i] - m) * s) * f;
    dpt__unit_store<n>(gin + at, g, whole);
  });
}

template <typename Args, typename Kernel>
int launch(dpt__context *context, const Args *a, const dpt__cut &k, Kernel kernel, int whole,
           int phase, double *sums, unsigned chunks) {
  return DPT_LAUNCH_COOPERATIVE(kernel, dpt__cut_grid(k, chunks), dpt__cut_block(k),
                                DPT__CUT_SHARED, context, *a, k, whole, phase, sums);
}

} // namespace

int dpt__cuda_batchnorm(dpt__context *context, const void *args) {
  const struct dpt__batchnorm_args *a = (const struct dpt__batchnorm_args *)args;
  dpt__cut k = dpt__cut_of(a->N, a->C, a->S);
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    int whole = dpt__packs_at<T>(a->in) && dpt__packs_at<T>(a->out);
    auto packs = forward<T, P, DPT__PACK>;
    auto elements = forward<T, P, 1>;
    auto kernel = k.per == 1 ? elements : packs;
    if (!a->train) return launch(context, a, k, kernel, whole, DPT__APPLY, NULL, k.chunks);
    return dpt__cut_launch(context, k, true, [&](int phase, double *sums, unsigned chunks) {
      return launch(context, a, k, kernel, whole, phase, sums, chunks);
    });
  });
}

int dpt__cuda_batchnorm_backward(dpt__context *context, const void *args) {
  const struct dpt__batchnorm_backward_args *a = (const struct dpt__batchnorm_backward_args *)args;
  dpt__cut k = dpt__cut_of(a->N, a->C, a->S);
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    int whole = dpt__packs_at<T>(a->in) && dpt__packs_at<T>(a->gout) && dpt__packs_at<T>(a->gin);
    auto packs = backward<T, P, DPT__PACK>;
    auto elements = backward<T, P, 1>;
    auto kernel = k.per == 1 ? elements : packs;
    if (!a->train && !a->gweight && !a->gbias) /* the gradient of a plain product */
      return launch(context, a, k, kernel, whole, DPT__APPLY, NULL, k.chunks);
    return dpt__cut_launch(context, k, a->gin, [&](int phase, double *sums, unsigned chunks) {
      return launch(context, a, k, kernel, whole, phase, sums, chunks);
    });
  });
}
