/* pool.cu: max and average pooling, with a thread for each output element.
 *
 * Invariant: a window never extends beyond its plane and is never empty. The thread of an input
 * element sums its gradient in the order of windows, as the host does, so nothing is zeroed first
 * and nothing is atomic.
 */
#include "cuda/nn/nn.h"

namespace {

template <typename Index> struct reads {
#include "nn/reads.inc.h"
};
template <typename Index> using range = typename reads<Index>::range;

/* Returns the range of windows along dimension d that contain element e: first .. end-1. */
template <typename Index>
__device__ __forceinline__ range<Index> windows_of(const dpt__slide &s, int d, Index e,
                                                   int adaptive) {
  Index n = (Index)s.in[d], out = (Index)s.out[d];
  range<Index> r = {0, 1, 0};
  if (n == 1 && out == 1) return r; /* the usual case: planes without depth */
  if (adaptive) {
    r.first = e * out / n;
    r.end = ((e + 1) * out + n - 1) / n;
    return r;
  }
  Index stride = (Index)s.stride[d], last = e + (Index)s.pad[d];
  Index before = last - (Index)s.kernel[d]; /* windows that begin at or before it end before e */
  r.first = before < 0 ? 0 : before / stride + 1;
  r.end = last / stride + 1 < out ? last / stride + 1 : out;
  return r;
}

/* Returns a fractional window, placed as in Torch7: in the arithmetic of the type that kernels
 * compute in. */
template <typename T, typename Index>
__device__ __forceinline__ range<Index> fractional(const dpt__maxpool_args &a, int d, Index plane,
                                                   Index o) {
  Index n = (Index)a.slide.out[d], slack = (Index)(a.slide.in[d] - a.slide.kernel[d]);
  typedef typename dpt__wide<T>::type V;
  V u = 0;
  if (2 - d < a.fractional)
    u = dpt__load(((const T *)a.samples)[plane * (Index)a.fractional + (Index)(2 - d)]);
  V step = n > 1 ? (V)slack / (V)(n - 1) : V(0);
  int64_t at =
      o == n - 1 ? slack
                 : dpt__long_number(trunc((double)(((V)o + u) * step)) - trunc((double)(u * step)));
  range<Index> r;
  r.first = (Index)(at < 0 ? 0 : at > slack ? (int64_t)slack : at);
  r.end = r.first + (Index)a.slide.kernel[d];
  r.count = 0;
  return r;
}

/* Calls f(position in its plane, element) for the elements of a window in order. If the lanes of a
 * warp share a window, each gets every 32nd element. */
template <int lanes, typename T, typename Index, typename F>
__device__ __forceinline__ void each(const T *in, const dpt__slide &s, const range<Index> *r, F f) {
  Index height = (Index)s.in[1], width = (Index)s.in[2];
  Index step[3] = {(Index)s.dilation[0], (Index)s.dilation[1], (Index)s.dilation[2]};
  if constexpr (lanes == 1) {
    for (Index i = r[0].first; i < r[0].end; i += step[0])
      for (Index j = r[1].first; j < r[1].end; j += step[1]) {
        Index row = (i * height + j) * width;
        for (Index k = r[2].first; k < r[2].end; k += step[2]) f(row + k, dpt__load(in[row + k]));
      }
  } else {
    Index n[3];
    for (int d = 0; d < 3; d++) n[d] = (r[d].end - r[d].first + step[d] - 1) / step[d];
    for (Index e = (Index)threadIdx.x % lanes; e < n[0] * n[1] * n[2]; e += lanes) {
      Index row = e / n[2], i = row / n[1], j = row - i * n[1], k = e - row * n[2];
      row = (r[0].first + i * step[0]) * height + r[1].first + j * step[1];
      Index at = row * width + r[2].first + k * step[2];
      f(at, dpt__load(in[at]));
    }
  }
}

/* Returns true if b is a better maximum than a: of equal elements the first is better, and NaN is
 * the largest. */
template <typename T, typename Index> __device__ bool better(T a, Index at, T b, Index bt) {
  if (a != a || b != b) return b != b && (a == a || bt < at);
  return b > a || (b == a && bt < at);
}

template <typename T, typename Index, int lanes>
__global__ void maxpool(dpt__maxpool_args a, Index count) {
  typedef typename dpt__wide<T>::type V;
  Index o = dpt__thread<Index>() / lanes;
  if (o >= count) return; /* whole warps */
  const dpt__slide &s = a.slide;
  dpt__plane_index<Index> index = dpt__plane_index_of(o, s.out);
  range<Index> r[3];
  for (int d = 0; d < 3; d++)
    r[d] = a.samples ? fractional<T, Index>(a, d, index.plane, index.at[d])
                     : reads<Index>::window_of(&s, d, index.at[d], a.adaptive, 0);
  Index height = (Index)s.in[1], width = (Index)s.in[2];
  const T *in = (const T *)a.in + index.plane * (Index)s.in[0] * height * width;
  Index best = (r[0].first * height + r[1].first) * width + r[2].first;
  V value = dpt__load(in[best]);
  each<lanes, T, Index>(in, s, r, [&](Index at, V v) {
    if (value == value && !(v <= value)) {
      value = v;
      best = at;
    }
  });
  for (int other = lanes / 2; other; other /= 2) {
    V v = __shfl_xor_sync(0xffffffffu, value, other);
    Index at = __shfl_xor_sync(0xffffffffu, best, other);
    if (better(value, best, v, at)) {
      value = v;
      best = at;
    }
  }
  if (lanes > 1 && threadIdx.x % lanes) return;
  ((T *)a.out)[o] = dpt__store<T>::from(value);
  a.idx[o] = (int64_t)best + 1;
}

template <typename T, typename Index, int lanes>
__global__ void average(dpt__avgpool_args a, Index count) {
  Index o = dpt__thread<Index>() / lanes;
  if (o >= count) return; /* whole warps */
  const dpt__slide &s = a.slide;
  dpt__plane_index<Index> index = dpt__plane_index_of(o, s.out);
  range<Index> r[3];
  for (int d = 0; d < 3; d++)
    r[d] = reads<Index>::window_of(&s, d, index.at[d], a.adaptive, a.count_pad);
  const T *in = (const T *)a.in + index.plane * (Index)s.in[0] * (Index)s.in[1] * (Index)s.in[2];
  double sum = 0;
  each<lanes, T, Index>(in, s, r, [&](Index, auto v) { sum += v; });
  for (int other = lanes / 2; other; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
  if (lanes > 1 && threadIdx.x % lanes) return;
  sum /= (double)r[0].count * (double)r[1].count * (double)r[2].count;
  ((T *)a.out)[o] = dpt__store_wide<T>(sum);
}

/* Returns x / n for an integer n, rounded once. Dividing doubles and rounding to float also rounds
 * once: a double has more than twice a float's digits. */
__device__ __forceinline__ double share(double x, double n) { return x / n; }
__device__ __forceinline__ float share(float x, double n) {
  const double most = 1 << 24; /* floats represent all integers up to here */
  return n <= most ? x / (float)n : (float)(x / n);
}

template <typename T, typename Index>
__global__ void average_backward(dpt__avgpool_args a, Index count) {
  Index e = dpt__thread<Index>();
  if (e >= count) return;
  const dpt__slide &s = a.slide;
  dpt__plane_index<Index> index = dpt__plane_index_of(e, s.in);
  range<Index> r[3];
  for (int d = 0; d < 3; d++) r[d] = windows_of<Index>(s, d, index.at[d], a.adaptive);
  Index height = (Index)s.out[1], width = (Index)s.out[2];
  const T *gout = (const T *)a.out + index.plane * (Index)s.out[0] * height * width;
  typename dpt__wide<T>::type sum = 0;
  for (Index i = r[0].first; i < r[0].end; i++) {
    double deep = (double)reads<Index>::window_of(&s, 0, i, a.adaptive, a.count_pad).count;
    for (Index j = r[1].first; j < r[1].end; j++) {
      double area = deep * (double)reads<Index>::window_of(&s, 1, j, a.adaptive, a.count_pad).count;
      const T *row = gout + (i * height + j) * width;
      for (Index k = r[2].first; k < r[2].end; k++) {
        Index own = reads<Index>::window_of(&s, 2, k, a.adaptive, a.count_pad).count;
        sum += share(dpt__load(row[k]), area * (double)own);
      }
    }
  }
  ((T *)a.in)[e] = dpt__store<T>::from(sum);
}

/* Windows with little overlap are large if the plane has many elements per window; a warp reads
 * such a window together. The choice depends on the planes' sizes alone, so that a plane does not
 * depend on the others. */
enum { WARP = 32 };
bool shared_by_warps(const dpt__slide &s) { return dpt__volume(s.in) >= WARP * dpt__volume(s.out); }

/* Returns an upper bound of all numbers that a window is computed with. */
int64_t largest(const dpt__slide &s, int64_t planes) {
  int64_t in = dpt__volume(s.in), out = dpt__volume(s.out), n = planes * (in > out ? in : out);
  for (int d = 0; d < 3; d++) {
    int64_t adaptive = (s.in[d] + 1) * (s.out[d] + 1);
    int64_t reach = s.in[d] + s.out[d] * s.stride[d] + s.pad[d] + s.dilation[d] * s.kernel[d];
    if (adaptive > n) n = adaptive;
    if (reach > n) n = reach;
  }
  return n;
}

} // namespace

int dpt__cuda_maxpool(dpt__context *context, const void *args) {
  const struct dpt__maxpool_args *a = (const struct dpt__maxpool_args *)args;
  int64_t count = a->planes * dpt__volume(a->slide.out);
  if (!count) return 0;
  int64_t most = largest(a->slide, a->planes);
  return dpt__of_stored_real_index(a->type, most, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    auto threads = maxpool<T, Index, 1>;
    auto warps = maxpool<T, Index, WARP>;
    if (!shared_by_warps(a->slide))
      return DPT_LAUNCH(threads, dpt__blocks(count), DPT__BLOCK, 0, context, *a, (Index)count);
    return DPT_LAUNCH_COOPERATIVE(warps, dpt__blocks(count * WARP), DPT__BLOCK, 0, context, *a,
                                  (Index)count);
  });
}

int dpt__cuda_avgpool(dpt__context *context, const void *args) {
  const struct dpt__avgpool_args *a = (const struct dpt__avgpool_args *)args;
  int64_t count = a->planes * dpt__volume(a->backward ? a->slide.in : a->slide.out);
  if (!count) return 0;
  int64_t most = largest(a->slide, a->planes);
  return dpt__of_stored_real_index(a->type, most, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    auto threads = average<T, Index, 1>;
    auto warps = average<T, Index, WARP>;
    auto backward = average_backward<T, Index>;
    auto kernel = a->backward ? backward : threads;
    if (a->backward || !shared_by_warps(a->slide))
      return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *a, (Index)count);
    return DPT_LAUNCH_COOPERATIVE(warps, dpt__blocks(count * WARP), DPT__BLOCK, 0, context, *a,
                                  (Index)count);
  });
}
