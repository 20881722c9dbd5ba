/* sort.cu: sort, topk, kthvalue and mode along a dimension (ops/sort.h).
 *
 * Invariant: short slices are sorted in shared memory, several per block, in one launch. For long
 * ones the first few are selected (select.cu), or all are sorted (radix.cu), with the same results.
 */
#include "cuda/ops/network.h"
#include "cuda/ops/sort.h"

namespace {

enum { MOST_BYTES = 32768, MOST_THREADS = 512, LITTLE = 512 };

/* Sets best[slice] to the score of each slice's longest run of equal keys (dpt__run_score). */
template <typename Key>
__device__ void most_frequent(dpt__items<Key> x, int count, int slice, int n,
                              unsigned long long *best) {
  for (int i = (int)threadIdx.x; i < count / slice; i += (int)blockDim.x) best[i] = 0;
  __syncthreads();
  for (int t = (int)threadIdx.x; t < count; t += (int)blockDim.x) {
    int j = t & (slice - 1), first = t - j;
    if (j >= n || (j + 1 < n && x.key(t + 1) == x.key(t))) continue;
    int low = first, high = t; /* the run's start is between them */
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

/* Sorts count / slice slices of 2^bits items per block. across: adjacent threads access adjacent
 * slices, not elements. first, many: the range of a slice's order that is the result. */
template <typename T>
__global__ void __launch_bounds__(MOST_THREADS)
    sort_block(dpt__sort_args g, int count, int bits, int across, int first, int many) {
  typedef dpt__keys<T> K;
  typedef typename K::key key;
  DPT_SHARED(unsigned char, memory);
  typedef dpt__items<key> items;
  items x(memory, count);
  unsigned long long *best = (unsigned long long *)(memory + items::bytes(count));
  const key flip = g.descending ? K::ALL : 0;
  const int slice = 1 << bits, slices = count >> bits, n = (int)g.n;
  const int64_t first_slice = (int64_t)blockIdx.x * slices;
  for (int t = (int)threadIdx.x; t < count; t += (int)blockDim.x) {
    int l = across ? t % slices : t >> bits, j = across ? t / slices : t & (slice - 1);
    int64_t at[1];
    dpt__item<key> item = items::filler();
    if (first_slice + l < g.slices.count && j < n) {
      dpt__offsets<uint64_t, 1>(g.slices, (uint64_t)(first_slice + l), at);
      item = item.of(K::of(((const T *)g.a)[at[0] + j * g.a_stride]) ^ flip, (uint32_t)j);
    }
    x.put(l * slice + j, item);
  }
  dpt__sort_items<key>(x, count, slice);
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

/* Returns the smallest power-of-two multiple of `least` that is at least n. */
int64_t power_of_two(int64_t n, int64_t least) {
  while (least < n) least *= 2;
  return least;
}

template <typename T> int sort_short(dpt__context *context, const dpt__sort_args *g, int slice) {
  typedef dpt__items<typename dpt__keys<T>::key> items;
  int64_t slices = power_of_two(g->slices.count, 1), most = LITTLE / slice;
  if (slices > most) slices = most ? most : 1;
  int count = (int)power_of_two(slices * slice, items::LEAST), threads = count / items::EACH;
  int bits = 0;
  while (1 << bits < slice) bits++;
  slices = count / slice;
  int64_t blocks = (g->slices.count + slices - 1) / slices;
  if (blocks > INT32_MAX)
    return dpt__cuda_fail("%lld slices are too many", (long long)g->slices.count);
  int last = g->slices.ndim - 1, across = last >= 0 && g->slices.stride[0][last] < g->a_stride;
  size_t shared = items::bytes(count);
  if (g->mode == DPT__SORT_mode) shared += (size_t)slices * sizeof(unsigned long long);
  auto kernel = sort_block<T>;
  return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)blocks, (unsigned)threads, shared, context, *g,
                                count, bits, across, (int)dpt__sort_first(g),
                                (int)dpt__sort_many(g));
}

} // namespace

int dpt__sort_slices(dpt__context *context, const dpt__sort_args *g, int bits) {
  if (g->n >= UINT32_MAX)
    return dpt__cuda_fail("a dimension of %lld elements is too long to sort, wanted fewer than "
                          "2^32 - 1",
                          (long long)g->n);
  return dpt__of_type(g->dtype, [&](auto zero) {
    typedef decltype(zero) T;
    int64_t slice = power_of_two(g->n, 2);
    if (slice * dpt__items<typename dpt__keys<T>::key>::BYTES <= MOST_BYTES)
      return sort_short<T>(context, g, (int)slice);
    if (dpt__selects(g)) return dpt__select(context, g);
    return dpt__radix_sort(context, g, bits);
  });
}

int dpt__cuda_sort(dpt__context *context, const void *args) {
  const dpt__sort_args *g = (const dpt__sort_args *)args;
  return dpt__sort_slices(context, g, 64);
}
