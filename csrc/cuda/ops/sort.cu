/* sort.cu: sort, topk, kthvalue and mode along a dimension (ops/sort.h).
 *
 * Invariant: no two items of a slice are equal, since each has its place in the slice behind its
 * key: so a sorting network makes the one stable order. Short slices are sorted in shared memory,
 * several to a block, in one launch; long ones by radix.cu.
 */
#include "cuda/ops/sort.h"

namespace {

enum { MOST_BYTES = 32768, MOST_THREADS = 1024, LITTLE = 512 };

/* Items in shared memory; those that fill a slice up are greater than all others. */
template <typename Key> struct items;
template <> struct items<uint32_t> { /* the key above the position */
  enum { BYTES = 8 };
  uint64_t *x;
  __device__ items(void *memory, int) : x((uint64_t *)memory) {}
  __device__ void put(int i, uint32_t key, uint32_t at) { x[i] = (uint64_t)key << 32 | at; }
  __device__ uint32_t key(int i) const { return (uint32_t)(x[i] >> 32); }
  __device__ uint32_t at(int i) const { return (uint32_t)x[i]; }
  __device__ void order(int i, int j, bool upwards) {
    uint64_t a = x[i], b = x[j];
    if ((a > b) != upwards) return;
    x[i] = b;
    x[j] = a;
  }
};
template <> struct items<uint64_t> {
  enum { BYTES = 12 };
  uint64_t *keys;
  uint32_t *positions;
  __device__ items(void *memory, int n)
      : keys((uint64_t *)memory), positions((uint32_t *)(keys + n)) {}
  __device__ void put(int i, uint64_t key, uint32_t at) {
    keys[i] = key;
    positions[i] = at;
  }
  __device__ uint64_t key(int i) const { return keys[i]; }
  __device__ uint32_t at(int i) const { return positions[i]; }
  __device__ void order(int i, int j, bool upwards) {
    uint64_t a = keys[i], b = keys[j];
    uint32_t p = positions[i], q = positions[j];
    if ((a > b || (a == b && p > q)) != upwards) return;
    put(i, b, q);
    put(j, a, p);
  }
};

/* Sorts runs of `slice` items, both powers of two. A warp's pairs whose positions differ by at most
 * 32 are in 64 items that no other warp touches. */
template <typename Key> __device__ void sort_items(items<Key> x, int count, int slice) {
  int before = count;
  for (int run = 2; run <= slice; run *= 2)
    for (int apart = run / 2; apart; apart /= 2) {
      if (apart > 32 || before > 32)
        __syncthreads();
      else
        __syncwarp();
      before = apart;
      for (int t = (int)threadIdx.x; t < count / 2; t += (int)blockDim.x) {
        int i = 2 * t - (t & (apart - 1));
        x.order(i, i + apart, (i & (slice - 1) & run) == 0);
      }
    }
  __syncthreads();
}

/* The position in a slice's order that a run of most equals ends at, of each slice: best[slice]. */
template <typename Key>
__device__ void most_frequent(items<Key> x, int count, int slice, int n, unsigned long long *best) {
  for (int i = (int)threadIdx.x; i < count / slice; i += (int)blockDim.x) best[i] = 0;
  __syncthreads();
  for (int t = (int)threadIdx.x; t < count; t += (int)blockDim.x) {
    int j = t & (slice - 1), first = t - j;
    if (j >= n || (j + 1 < n && x.key(t + 1) == x.key(t))) continue;
    int low = first, high = t; /* the run begins there */
    while (low < high) {
      int middle = (low + high) / 2;
      if (x.key(middle) < x.key(t))
        low = middle + 1;
      else
        high = middle;
    }
    atomicMax(&best[t / slice], dpt__run_score(t - low + 1, j));
  }
  __syncthreads();
}

/* A block has count / slice slices. across: neighbouring threads read and write neighbouring
 * slices, not elements. first, many: which of a slice's order are the result. */
template <typename T>
__global__ void __launch_bounds__(MOST_THREADS)
    sort_block(dpt__sort_args g, int count, int slice, int across, int first, int many) {
  typedef dpt__keys<T> K;
  typedef typename K::key key;
  DPT_SHARED(unsigned char, memory);
  items<key> x(memory, count);
  unsigned long long *best = (unsigned long long *)(memory + count * items<key>::BYTES);
  const key flip = g.descending ? K::ALL : 0;
  const int slices = count / slice, n = (int)g.n;
  const int64_t first_slice = (int64_t)blockIdx.x * slices;
  for (int t = (int)threadIdx.x; t < count; t += (int)blockDim.x) {
    int l = across ? t % slices : t / slice, j = across ? t / slices : t % slice;
    int64_t at[1];
    key k = (key)-1;
    bool real = first_slice + l < g.slices.count && j < n;
    if (real) {
      dpt__offsets<uint64_t, 1>(g.slices, (uint64_t)(first_slice + l), at);
      k = K::of(((const T *)g.a)[at[0] + j * g.a_stride]) ^ flip;
    }
    x.put(l * slice + j, k, real ? (uint32_t)j : UINT32_MAX);
  }
  sort_items<key>(x, count, slice);
  if (g.mode == DPT__SORT_mode) most_frequent<key>(x, count, slice, n, best);
  for (int t = (int)threadIdx.x; t < slices * many; t += (int)blockDim.x) {
    int l = across ? t % slices : t / many, j = across ? t / slices : t % many;
    if (first_slice + l >= g.slices.count) continue;
    int64_t at[3], from = g.mode == DPT__SORT_mode ? dpt__run_end(best[l]) : first + j;
    dpt__offsets<uint64_t, 3>(g.slices, (uint64_t)(first_slice + l), at);
    int64_t position = x.at(l * slice + (int)from);
    ((T *)g.r)[at[1] + j * g.r_stride] = ((const T *)g.a)[at[0] + position * g.a_stride];
    g.idx[at[2] + j * g.idx_stride] = position + 1;
  }
}

/* The smallest power of two that is at least n and at least `least`. */
int64_t power_of_two(int64_t n, int64_t least) {
  while (least < n) least *= 2;
  return least;
}

template <typename T>
int sort_short(dpt__context *context, const dpt__sort_args *g, int slice, int item_bytes) {
  int64_t slices = power_of_two(g->slices.count, 1), most = LITTLE / slice;
  if (slices > most) slices = most ? most : 1;
  int count = (int)power_of_two(slices * slice, 64), threads = count / 2;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  slices = count / slice;
  int64_t blocks = (g->slices.count + slices - 1) / slices;
  if (blocks > INT32_MAX)
    return dpt__cuda_fail("%lld slices are too many", (long long)g->slices.count);
  int last = g->slices.ndim - 1, across = last >= 0 && g->slices.stride[0][last] < g->a_stride;
  size_t shared = (size_t)count * (size_t)item_bytes;
  if (g->mode == DPT__SORT_mode) shared += (size_t)slices * sizeof(unsigned long long);
  auto kernel = sort_block<T>;
  return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)blocks, (unsigned)threads, shared, context, *g,
                                count, slice, across, (int)dpt__sort_first(g),
                                (int)dpt__sort_many(g));
}

} // namespace

int dpt__sort_slices(dpt__context *context, const dpt__sort_args *g, int bits) {
  if (g->n >= UINT32_MAX)
    return dpt__cuda_fail("a dimension of %lld elements is too long to sort, wanted less than "
                          "2^32 - 1",
                          (long long)g->n);
  return dpt__of_type(g->dtype, [&](auto zero) {
    typedef decltype(zero) T;
    const int bytes = items<typename dpt__keys<T>::key>::BYTES;
    int64_t slice = power_of_two(g->n, 2);
    if (slice * bytes <= MOST_BYTES) return sort_short<T>(context, g, (int)slice, bytes);
    return dpt__radix_sort(context, g, bits);
  });
}

int dpt__cuda_sort(dpt__context *context, const void *args) {
  const dpt__sort_args *g = (const dpt__sort_args *)args;
  return dpt__sort_slices(context, g, 64);
}
