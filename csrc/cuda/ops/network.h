/* network.h: sorts slices of items in shared memory, a block at a time, by a bitonic network.
 *
 * Invariant: no two items of a slice are equal, since an item is its key followed by its position
 * in the slice; so the network's order is the one stable order. A thread has EACH adjacent items in
 * registers. It compares them with its own items, with those of a lane of its warp, or through
 * shared memory.
 */
#ifndef DPT_CUDA_OPS_NETWORK_H
#define DPT_CUDA_OPS_NETWORK_H
#include "cuda/cuda.h"

template <typename Key> struct dpt__item;
template <> struct dpt__item<uint32_t> { /* the key in the upper bits, the position in the lower */
  uint64_t x;
  static __device__ dpt__item of(uint32_t key, uint32_t at) { return {(uint64_t)key << 32 | at}; }
  __device__ uint32_t key() const { return (uint32_t)(x >> 32); }
  __device__ uint32_t at() const { return (uint32_t)x; }
  __device__ bool operator<(const dpt__item &b) const { return x < b.x; }
  __device__ dpt__item of_lane(int other) const {
    return {(uint64_t)__shfl_xor_sync(0xffffffffu, (unsigned long long)x, other)};
  }
};
template <> struct dpt__item<uint64_t> {
  uint64_t k;
  uint32_t p;
  static __device__ dpt__item of(uint64_t key, uint32_t at) { return {key, at}; }
  __device__ uint64_t key() const { return k; }
  __device__ uint32_t at() const { return p; }
  __device__ bool operator<(const dpt__item &b) const { return k < b.k || (k == b.k && p < b.p); }
  __device__ dpt__item of_lane(int other) const {
    return {(uint64_t)__shfl_xor_sync(0xffffffffu, (unsigned long long)k, other),
            __shfl_xor_sync(0xffffffffu, p, other)};
  }
};

/* Items in shared memory, padded by one after each EACH, so that threads that read their own items
 * have no bank conflicts. Filler items are not less than any other. */
template <typename Key> struct dpt__items {
  enum { EACH = 8, LEAST = 32 * EACH, BYTES = sizeof(Key) + sizeof(uint32_t) };
  typedef dpt__item<Key> item;
  Key *keys;
  uint32_t *positions;
  __device__ dpt__items(void *memory, int count)
      : keys((Key *)memory), positions((uint32_t *)(keys + gapped(count))) {}
  static constexpr __host__ __device__ int gapped(int i) { return i + i / EACH; }
  /* Returns the bytes of shared memory for `count` items. */
  static __host__ __device__ size_t bytes(int count) { return (size_t)gapped(count) * BYTES; }
  static __device__ item filler() { return item::of((Key)-1, UINT32_MAX); }
  __device__ Key key(int i) const { return keys[gapped(i)]; }
  __device__ uint32_t at(int i) const { return positions[gapped(i)]; }
  __device__ item get(int i) const { return item::of(key(i), at(i)); }
  __device__ void put(int i, item x) {
    keys[gapped(i)] = x.key();
    positions[gapped(i)] = x.at();
  }
};

/* Sorts runs of `slice` items. `slice` and `count` are powers of two; `count` is at least LEAST and
 * at most EACH times the number of threads. All threads of the block call it. */
template <typename Key> __device__ void dpt__sort_items(dpt__items<Key> x, int count, int slice) {
  enum { EACH = dpt__items<Key>::EACH };
  typedef dpt__item<Key> item;
  const int first = (int)threadIdx.x * EACH;
  const bool here = first < count; /* whole warps */
  item own[EACH];
  __syncthreads();
  DPT_UNROLL
  for (int r = 0; r < EACH; r++) own[r] = here ? x.get(first + r) : x.filler();
  for (int run = 2; run <= slice; run *= 2) {
    for (int apart = run / 2; apart >= EACH; apart /= 2) {
      const bool far = apart >= 32 * EACH;
      if (far) {
        __syncthreads(); /* earlier items have been read */
        DPT_UNROLL
        for (int r = 0; r < EACH; r++)
          if (here) x.put(first + r, own[r]);
        __syncthreads();
      }
      const bool upwards = (first & (slice - 1) & run) == 0, least = !(first & apart) == upwards;
      DPT_UNROLL
      for (int r = 0; r < EACH; r++) {
        item other = own[r];
        if (!far)
          other = own[r].of_lane(apart / EACH);
        else if (here)
          other = x.get((first + r) ^ apart);
        if ((other < own[r]) == least) own[r] = other;
      }
    }
    DPT_UNROLL
    for (int apart = EACH / 2; apart; apart /= 2) {
      if (apart >= run) continue;
      DPT_UNROLL
      for (int r = 0; r < EACH; r++) {
        if (r & apart) continue;
        const bool upwards = ((first + r) & (slice - 1) & run) == 0;
        const item a = own[r], b = own[r + apart];
        if ((b < a) != upwards) continue;
        own[r] = b;
        own[r + apart] = a;
      }
    }
  }
  __syncthreads();
  DPT_UNROLL
  for (int r = 0; r < EACH; r++)
    if (here) x.put(first + r, own[r]);
  __syncthreads();
}

#endif
