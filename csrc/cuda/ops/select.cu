/* select.cu: the first few items of long slices, sorted (topk). A block finds the last item's key
 * byte by byte, from the highest, selects the items up to it, and sorts them.
 *
 * Invariant: positions break ties between equal keys, so the selected items and their order do not
 * depend on the order of threads; the results are radix.cu's.
 */
#include "cuda/ops/network.h"
#include "cuda/ops/sort.h"

namespace {

enum { THREADS = 256, DIGITS = 256, MOST = 1024, BATCH = 8 };
static_assert(THREADS == DIGITS, "a thread for each digit");

/* The selected items of a slice: those with key >> shift below `prefix` and, of those with key >>
 * shift equal to `prefix`, those with position >> at_shift at most `place`. */
template <typename Key> struct bound {
  Key prefix;
  uint64_t place;
  int shift, at_shift;
  __device__ bool takes(Key k, uint64_t i) const {
    k >>= shift;
    return k < prefix || (k == prefix && i >> at_shift <= place);
  }
};

/* Calls f(key, position) for the thread's items of a slice. */
template <typename T, typename F>
__device__ __forceinline__ void each(const dpt__sort_args &g, const T *a, F f) {
  typedef dpt__keys<T> K;
  const typename K::key flip = g.descending ? K::ALL : 0;
  int64_t i = threadIdx.x;
  for (; i + (BATCH - 1) * THREADS < g.n; i += BATCH * THREADS) {
    T x[BATCH];
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++) x[b] = a[(i + b * THREADS) * g.a_stride];
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++) f(K::of(x[b]) ^ flip, (uint64_t)(i + b * THREADS));
  }
  for (; i < g.n; i += THREADS) f(K::of(a[i * g.a_stride]) ^ flip, (uint64_t)i);
}

/* Selects *wanted items, lowest digit first, among items with digits 0 to 255 (-1: none), and
 * returns the digit of the last one. Sets *wanted to the number selected with that digit, and *all
 * to true if these are all items with that digit. */
template <typename T, typename F>
__device__ uint32_t last_digit(const dpt__sort_args &g, const T *a, uint32_t *wanted, bool *all,
                               F digit_of) {
  __shared__ uint32_t counts[DIGITS], digit, left, count;
  counts[threadIdx.x] = 0;
  __syncthreads();
  each<T>(g, a, [&](typename dpt__keys<T>::key k, uint64_t i) {
    int own = digit_of(k, i);
    if (own >= 0) atomicAdd(&counts[own], 1u);
  });
  __syncthreads();
  uint32_t own = counts[threadIdx.x], before = dpt__sum_before<THREADS>(own);
  if (before < *wanted && *wanted - before <= own) { /* true for one thread */
    digit = threadIdx.x;
    left = *wanted - before;
    count = own;
  }
  __syncthreads();
  *wanted = left;
  *all = left == count;
  return digit;
}

template <typename T>
__device__ bound<typename dpt__keys<T>::key> bound_of(const dpt__sort_args &g, const T *a) {
  typedef typename dpt__keys<T>::key key;
  uint32_t wanted = (uint32_t)g.k;
  bool all = false;
  bound<key> b = {0, 0, 8 * sizeof(T), 32};
  while (b.shift && !all) {
    b.shift -= 8;
    uint32_t digit = last_digit<T>(g, a, &wanted, &all, [&](key k, uint64_t) {
      k >>= b.shift;
      return k >> 8 == b.prefix ? (int)(k & 255) : -1;
    });
    b.prefix = b.prefix << 8 | digit;
  }
  while (b.at_shift && !all) {
    b.at_shift -= 8;
    uint32_t digit = last_digit<T>(g, a, &wanted, &all, [&](key k, uint64_t i) {
      i >>= b.at_shift;
      return k == b.prefix && i >> 8 == b.place ? (int)(i & 255) : -1;
    });
    b.place = b.place << 8 | digit;
  }
  return b;
}

/* Selects from one slice per block; shared memory holds `count` items, at least k. */
template <typename T>
__global__ void __launch_bounds__(THREADS) select_block(dpt__sort_args g, int count) {
  typedef typename dpt__keys<T>::key key;
  DPT_SHARED(unsigned char, memory);
  __shared__ unsigned taken;
  dpt__items<key> x(memory, count);
  int64_t at[3];
  dpt__offsets<uint64_t, 3>(g.slices, (uint64_t)blockIdx.x, at);
  const T *a = (const T *)g.a + at[0];
  const bound<key> b = bound_of<T>(g, a);
  for (int t = (int)(g.k + threadIdx.x); t < count; t += THREADS) x.put(t, x.filler());
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  each<T>(g, a, [&](key k, uint64_t i) {
    if (b.takes(k, i)) x.put((int)atomicAdd(&taken, 1u), dpt__item<key>::of(k, (uint32_t)i));
  });
  dpt__sort_items<key>(x, count, count);
  for (int t = (int)threadIdx.x; t < (int)g.k; t += THREADS) {
    int64_t position = x.at(t);
    ((T *)g.r)[at[1] + t * g.r_stride] = a[position * g.a_stride];
    g.idx[at[2] + t * g.idx_stride] = position + 1;
  }
}

} // namespace

bool dpt__selects(const dpt__sort_args *g) {
  enum { FEW = 16, LONG = 32768 }; /* a few long slices would not fill the device */
  return g->mode == DPT__SORT_some && g->k > 0 && g->k <= MOST && g->slices.count <= INT32_MAX &&
         (g->slices.count >= FEW || g->n <= LONG);
}

int dpt__select(dpt__context *context, const dpt__sort_args *g) {
  return dpt__of_type(g->dtype, [&](auto zero) {
    typedef decltype(zero) T;
    typedef dpt__items<typename dpt__keys<T>::key> items;
    int count = items::LEAST;
    while (count < g->k) count *= 2;
    auto kernel = select_block<T>;
    return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)g->slices.count, THREADS, items::bytes(count),
                                  context, *g, count);
  });
}
