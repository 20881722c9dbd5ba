/* resample.cu: upsampling and padding, with a thread for each output element or pack of adjacent
 * ones.
 *
 * Invariant: the thread of an input element sums its gradient in the order of the output elements,
 * with the host's bits (compiled with -fmad=false).
 */
#include "cuda/nn/nn.h"
#include "cuda/pack.h"

namespace {

template <typename Index> struct reads {
#include "nn/reads.inc.h"
};
template <typename Index> using tap = typename reads<Index>::tap;

/* ---- upsampling by interpolation ---- */

template <typename T, typename Index> __global__ void upsample(dpt__upsample_args a, Index count) {
  Index o = dpt__thread<Index>();
  if (o >= count) return;
  dpt__plane_index<Index> index = dpt__plane_index_of(o, a.outsize);
  tap<Index> t[3];
  for (int d = 0; d < 3; d++)
    t[d] = reads<Index>::tap_of((Index)a.insize[d], (Index)a.outsize[d], index.at[d], 1);
  Index height = (Index)a.insize[1], width = (Index)a.insize[2];
  const T *in = (const T *)a.in + index.plane * (Index)a.insize[0] * height * width;
  double sum = 0;
  for (int corner = 0; corner < 8; corner++) {
    int c0 = corner >> 2, c1 = corner >> 1 & 1, c2 = corner & 1;
    double w = t[0].weight[c0] * t[1].weight[c1] * t[2].weight[c2];
    if (w != 0) sum += w * in[(t[0].at[c0] * height + t[1].at[c1]) * width + t[2].at[c2]];
  }
  ((T *)a.out)[o] = (T)sum;
}

/* A range of elements of out, first .. end-1, that includes all that depend on element e of in. */
template <typename Index> struct span { Index first, end; };
template <typename Index> __device__ __forceinline__ span<Index> takers(Index n, Index m, Index e) {
  double step = reads<Index>::step_of(n, m), slack = 1 + 1e-6 * (double)(e + 1);
  if (step == 0) return {0, m};
  double first = floor(((double)e - slack) / step), end = ceil(((double)e + slack) / step) + 1;
  return {first < 0 ? 0 : (Index)first, end > (double)m ? m : (Index)end};
}

/* Returns the weight of element e of in in element o of out. */
template <typename Index>
__device__ __forceinline__ double share(Index n, Index m, Index o, Index e) {
  tap<Index> t = reads<Index>::tap_of(n, m, o, 1);
  return (t.at[0] == e ? t.weight[0] : 0) + (t.at[1] == e ? t.weight[1] : 0);
}

template <typename T, typename Index>
__global__ void upsample_backward(dpt__upsample_args a, Index count) {
  Index e = dpt__thread<Index>();
  if (e >= count) return;
  dpt__plane_index<Index> index = dpt__plane_index_of(e, a.insize);
  Index n[3], m[3];
  span<Index> s[3];
  for (int d = 0; d < 3; d++) {
    n[d] = (Index)a.insize[d];
    m[d] = (Index)a.outsize[d];
    s[d] = takers<Index>(n[d], m[d], index.at[d]);
  }
  const T *gout = (const T *)a.out + index.plane * m[0] * m[1] * m[2];
  T sum = 0;
  for (Index i = s[0].first; i < s[0].end; i++) {
    double deep = share<Index>(n[0], m[0], i, index.at[0]);
    if (deep == 0) continue;
    for (Index j = s[1].first; j < s[1].end; j++) {
      double area = deep * share<Index>(n[1], m[1], j, index.at[1]);
      if (area == 0) continue;
      const T *row = gout + (i * m[1] + j) * m[2];
      for (Index k = s[2].first; k < s[2].end; k++) {
        double w = area * share<Index>(n[2], m[2], k, index.at[2]);
        if (w != 0) sum += (T)w * row[k];
      }
    }
  }
  ((T *)a.in)[e] = sum;
}

/* ---- upsampling by repetition: out repeats each element of in a number of times along each
 * dimension. Sums begin with 0, so that -0 becomes the same as on the host. ---- */

template <typename Index>
__device__ __forceinline__ Index times(const dpt__upsample_args &a, int d) {
  return a.outsize[d] == a.insize[d] ? 1 : (Index)a.outsize[d] / (Index)a.insize[d];
}
/* Returns the element of in along dimension d that element o of out repeats. */
template <typename Index>
__device__ __forceinline__ Index repeated(const dpt__upsample_args &a, int d, Index o) {
  return a.outsize[d] == a.insize[d] ? o : o / times<Index>(a, d);
}

/* Writes a pack of a row of out per thread. */
template <typename T, typename Index> __global__ void repeat(dpt__upsample_args a, Index count) {
  const Index thread = dpt__thread<Index>();
  if (thread >= count) return;
  const Index deep = (Index)a.outsize[0], height = (Index)a.outsize[1], width = (Index)a.outsize[2];
  const Index packs = (width + DPT__PACK - 1) / DPT__PACK, along = times<Index>(a, 2);
  const Index row = thread / packs, k = (thread - row * packs) * DPT__PACK, slice = row / height;
  const Index plane = deep == 1 ? slice : slice / deep;
  Index in_row = plane * (Index)a.insize[0] + repeated<Index>(a, 0, slice - plane * deep);
  in_row = in_row * (Index)a.insize[1] + repeated<Index>(a, 1, row - slice * height);
  const T *in = (const T *)a.in + in_row * (Index)a.insize[2];
  T *out = (T *)a.out + row * width + k;
  const int n = width - k < DPT__PACK ? (int)(width - k) : DPT__PACK;
  Index from = k / along, left = (from + 1) * along - k; /* element, remaining repetitions */
  dpt__pack<T> y = {};
  for (int i = 0; i < DPT__PACK; i++) {
    if (i < n) y.v[i] = T(0) + in[from];
    if (--left) continue;
    left = along;
    from++;
  }
  dpt__pack_store(out, y, n, n == DPT__PACK && (uintptr_t)out % sizeof y == 0);
}

template <typename T, typename Index>
__global__ void repeat_backward(dpt__upsample_args a, Index count) {
  const Index e = dpt__thread<Index>();
  if (e >= count) return;
  dpt__plane_index<Index> index = dpt__plane_index_of(e, a.insize);
  const Index height = (Index)a.outsize[1], width = (Index)a.outsize[2];
  const Index deep = times<Index>(a, 0), high = times<Index>(a, 1), along = times<Index>(a, 2);
  Index slice = index.plane * (Index)a.outsize[0] + index.at[0] * deep;
  const T *gout = (const T *)a.out + (slice * height + index.at[1] * high) * width;
  gout += index.at[2] * along;
  T sum = 0;
  for (Index i = 0; i < deep; i++)
    for (Index j = 0; j < high; j++)
      for (Index k = 0; k < along; k++) sum += gout[(i * height + j) * width + k];
  ((T *)a.in)[e] = sum;
}

/* ---- padding ---- */

template <typename T, typename Index> __global__ void pad(dpt__pad_args a, Index count) {
  Index o = dpt__thread<Index>();
  if (o >= count) return;
  dpt__plane_index<Index> index = dpt__plane_index_of(o, a.outsize);
  Index position = index.plane;
  bool zero = false;
  for (int d = 0; d < 3; d++) {
    Index n = (Index)a.insize[d];
    Index at = reads<Index>::padded(a.mode, n, index.at[d] - (Index)a.below[d]);
    zero |= at < 0;
    position = position * n + (at < 0 ? 0 : at);
  }
  ((T *)a.out)[o] = zero ? T(0) : ((const T *)a.in)[position];
}

/* The elements of out that copy element e of in: one below, first .. end-1, one above. */
template <typename Index> struct copies { Index below, first, end, above; /* or -1 */ };
template <typename Index>
__device__ __forceinline__ copies<Index> copies_of(const dpt__pad_args &a, int d, Index e) {
  Index n = (Index)a.insize[d], m = (Index)a.outsize[d], below = (Index)a.below[d];
  copies<Index> c = {-1, e + below, e + below + 1, -1};
  if (a.mode == DPT_PAD_REFLECT) {
    Index above = 2 * (n - 1) - e + below;
    if (e > 0 && below - e < m) c.below = below - e; /* negative: none */
    if (e < n - 1 && above < m) c.above = above;
  } else if (a.mode == DPT_PAD_REPLICATE) {
    if (e == 0) c.first = 0;
    if (e == n - 1) c.end = m;
  }
  if (c.first < 0) c.first = 0;
  if (c.end > m) c.end = m;
  if (c.first >= c.end) c.first = c.end = 0; /* cropped away */
  return c;
}
/* Returns the copy after o, starting from -1; m at the end. */
template <typename Index>
__device__ __forceinline__ Index next(const copies<Index> &c, Index o, Index m) {
  if (o < c.below) return c.below;
  if (o < c.first && c.first < c.end) return c.first;
  if (o + 1 < c.end) return o + 1;
  return o < c.above ? c.above : m;
}

template <typename T, typename Index> __global__ void pad_backward(dpt__pad_args a, Index count) {
  Index e = dpt__thread<Index>();
  if (e >= count) return;
  dpt__plane_index<Index> index = dpt__plane_index_of(e, a.insize);
  copies<Index> t = copies_of<Index>(a, 0, index.at[0]), y = copies_of<Index>(a, 1, index.at[1]);
  copies<Index> x = copies_of<Index>(a, 2, index.at[2]);
  Index m0 = (Index)a.outsize[0], m1 = (Index)a.outsize[1], m2 = (Index)a.outsize[2];
  const T *gout = (const T *)a.out + index.plane * m0 * m1 * m2;
  T sum = 0;
  for (Index i = next<Index>(t, -1, m0); i < m0; i = next(t, i, m0))
    for (Index j = next<Index>(y, -1, m1); j < m1; j = next(y, j, m1))
      for (Index k = next<Index>(x, -1, m2); k < m2; k = next(x, k, m2))
        sum += gout[(i * m1 + j) * m2 + k];
  ((T *)a.in)[e] = sum;
}

/* Returns the number of output elements. */
template <typename Args> int64_t written(const Args *a) {
  return a->planes * dpt__volume(a->backward ? a->insize : a->outsize);
}

/* Launches the kernel that kernels(a real, an index) returns, with `count` threads. */
template <typename Args, typename F>
int launch(dpt__context *context, const Args *a, int64_t count, F kernels) {
  int64_t in = dpt__volume(a->insize), out = dpt__volume(a->outsize);
  int64_t most = a->planes * (in > out ? in : out); /* an upper bound of all positions */
  for (int d = 0; d < 3; d++)
    if (2 * (a->insize[d] + a->outsize[d]) > most) most = 2 * (a->insize[d] + a->outsize[d]);
  if (!count) return 0;
  return dpt__of_real_index(a->type, most, [&](auto zero, auto index) {
    typedef decltype(index) Index;
    auto kernel = kernels(zero, index);
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *a, (Index)count);
  });
}

} // namespace

int dpt__cuda_upsample(dpt__context *context, const void *args) {
  const struct dpt__upsample_args *a = (const struct dpt__upsample_args *)args;
  int64_t count = written(a), width = a->outsize[2];
  if (count && !a->linear && !a->backward) count = count / width * dpt__packs_of(width);
  return launch(context, a, count, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    auto interpolates = a->backward ? upsample_backward<T, Index> : upsample<T, Index>;
    auto repeats = a->backward ? repeat_backward<T, Index> : repeat<T, Index>;
    return a->linear ? interpolates : repeats;
  });
}

int dpt__cuda_pad(dpt__context *context, const void *args) {
  const struct dpt__pad_args *a = (const struct dpt__pad_args *)args;
  return launch(context, a, written(a), [&](auto zero, auto index) {
    auto forward = pad<decltype(zero), decltype(index)>;
    auto backward = pad_backward<decltype(zero), decltype(index)>;
    return a->backward ? backward : forward;
  });
}
