/* softmax.cu: SoftMax and LogSoftMax over C classes of N images with S positions.
 *
 * Invariant: the threads of a row and the order of its sums depend on C alone, so a row does not
 * depend on the others. Sums are double; the largest class is subtracted first, so nothing
 * overflows.
 */
#include "cuda/nn/row.h"

namespace {

enum { SIDE = 32, DEEP = 8 };

/* ---- rows: S is 1 ---- */

template <typename T> __global__ void forward_rows(dpt__softmax_args a, bool packs) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  typedef dpt__pack<V> pack;
  const dpt__row<T> r(a.N, a.C, packs);
  const V none = V(-INFINITY); /* adds 0 to a sum, which is NaN if all classes are -INFINITY */
  V max = none;
  r.each(a.in, NULL, none, [&](const pack &x, const pack &, int, int64_t) {
    for (int i = 0; i < DPT__PACK; i++) max = dpt__larger()(max, x.v[i]);
  });
  max = dpt__block_reduce_x(max, dpt__larger(), (V *)shared);
  double sum = 0;
  r.each(a.in, NULL, none, [&](const pack &x, const pack &, int, int64_t) {
    for (int i = 0; i < DPT__PACK; i++) sum += exp(x.v[i] - max);
  });
  sum = dpt__block_reduce_x(sum, dpt__plus(), shared);
  V shift = (V)(a.log ? max + log(sum) : 1 / sum);
  r.each(a.in, NULL, none, [&](const pack &x, const pack &, int n, int64_t at) {
    pack y;
    for (int i = 0; i < DPT__PACK; i++) y.v[i] = a.log ? x.v[i] - shift : exp(x.v[i] - max) * shift;
    r.store(a.out, at, n, y);
  });
}

template <typename T> __global__ void backward_rows(dpt__softmax_args a, bool packs) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  typedef dpt__pack<V> pack;
  const dpt__row<T> r(a.N, a.C, packs);
  double sum = 0;
  r.each(a.gout, a.log ? NULL : a.out, V(0), [&](const pack &g, const pack &y, int, int64_t) {
    for (int i = 0; i < DPT__PACK; i++) sum += a.log ? (double)g.v[i] : (double)g.v[i] * y.v[i];
  });
  V total = (V)dpt__block_reduce_x(sum, dpt__plus(), shared);
  r.each(a.gout, a.out, V(0), [&](const pack &g, const pack &y, int n, int64_t at) {
    pack x;
    for (int i = 0; i < DPT__PACK; i++)
      x.v[i] = a.log ? g.v[i] - exp(y.v[i]) * total : y.v[i] * (g.v[i] - total);
    r.store(a.gin, at, n, x);
  });
}

/* ---- columns: adjacent positions; blockDim.y threads have one ---- */

/* The classes of one position: the running thread processes first, first + blockDim.y ... */
struct classes {
  int64_t from, first; /* of class 0, in elements */
  __device__ explicit classes(const dpt__softmax_args &a) {
    int64_t position = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = position / a.S;
    from = n * a.C * a.S + (position - n * a.S);
    first = n < a.N ? threadIdx.y : a.C; /* a position past the end only takes part in reductions */
  }
};

template <typename T> __global__ void forward_columns(dpt__softmax_args a) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  classes k(a);
  const T *in = (const T *)a.in + k.from;
  T *out = (T *)a.out + k.from;
  V max = V(-INFINITY);
  for (int64_t c = k.first; c < a.C; c += blockDim.y)
    max = dpt__larger()(max, dpt__load(in[c * a.S]));
  max = dpt__block_reduce_y(max, dpt__larger(), (V *)shared);
  double sum = 0;
  for (int64_t c = k.first; c < a.C; c += blockDim.y) sum += exp(dpt__load(in[c * a.S]) - max);
  sum = dpt__block_reduce_y(sum, dpt__plus(), shared);
  V shift = (V)(a.log ? max + log(sum) : 1 / sum);
  for (int64_t c = k.first; c < a.C; c += blockDim.y) {
    V x = dpt__load(in[c * a.S]);
    out[c * a.S] = dpt__store<T>::from(a.log ? x - shift : exp(x - max) * shift);
  }
}

template <typename T> __global__ void backward_columns(dpt__softmax_args a) {
  typedef typename dpt__wide<T>::type V;
  DPT_SHARED(double, shared);
  classes k(a);
  const T *gout = (const T *)a.gout + k.from, *out = (const T *)a.out + k.from;
  T *gin = (T *)a.gin + k.from;
  double sum = 0;
  for (int64_t c = k.first; c < a.C; c += blockDim.y) {
    double g = dpt__load(gout[c * a.S]);
    sum += a.log ? g : g * dpt__load(out[c * a.S]);
  }
  V total = (V)dpt__block_reduce_y(sum, dpt__plus(), shared);
  for (int64_t c = k.first; c < a.C; c += blockDim.y) {
    V g = dpt__load(gout[c * a.S]), y = dpt__load(out[c * a.S]);
    gin[c * a.S] = dpt__store<T>::from(a.log ? g - exp(y) * total : y * (g - total));
  }
}

/* Returns a block's threads per position, and its positions. */
dim3 block_of(int64_t C, int64_t S) {
  if (S > 1) return C < 4 * DEEP ? dim3(SIDE * DEEP, 1) : dim3(SIDE, DEEP);
  return dpt__row_block(C);
}

template <typename T> int softmax(dpt__context *context, const dpt__softmax_args *a) {
  dim3 block = block_of(a->C, a->S);
  int64_t positions = a->N * a->S, side = a->S > 1 ? block.x : block.y;
  unsigned blocks = (unsigned)((positions + side - 1) / side);
  const size_t shared = DPT__BLOCK * sizeof(double);
  if (!a->C || !blocks) return 0;
  if (a->S > 1) {
    auto by_columns = a->gin ? backward_columns<T> : forward_columns<T>;
    return DPT_LAUNCH_COOPERATIVE(by_columns, blocks, block, shared, context, *a);
  }
  bool packs = a->C % DPT__PACK == 0 && dpt__packs_at<T>(a->in) && dpt__packs_at<T>(a->out) &&
               dpt__packs_at<T>(a->gout) && dpt__packs_at<T>(a->gin);
  auto by_rows = a->gin ? backward_rows<T> : forward_rows<T>;
  return DPT_LAUNCH_COOPERATIVE(by_rows, blocks, block, shared, context, *a, packs);
}

} // namespace

int dpt__cuda_softmax(dpt__context *context, const void *args) {
  const struct dpt__softmax_args *a = (const struct dpt__softmax_args *)args;
  return dpt__of_stored_real(a->type,
                             [&](auto zero) { return softmax<decltype(zero)>(context, a); });
}
