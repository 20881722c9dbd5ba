/* sort.h: shared by the sorting kernels: keys of elements, and entry points.
 *
 * Invariant: a key is an unsigned integer with as many significant bits as its element, in the
 * order of ops/sort.h: NaN's is the greatest, -0 has that of 0. Positions in a slice are 32 bits
 * wide.
 */
#ifndef DPT_CUDA_OPS_SORT_H
#define DPT_CUDA_OPS_SORT_H
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/sort.h"
}

template <int bytes> struct dpt__bits_of;
template <> struct dpt__bits_of<1> { typedef uint8_t type; };
template <> struct dpt__bits_of<2> { typedef uint16_t type; };
template <> struct dpt__bits_of<4> { typedef uint32_t type; };
template <> struct dpt__bits_of<8> { typedef uint64_t type; };

template <typename T> struct dpt__keys {
  typedef typename dpt__bits_of<sizeof(T)>::type bits;
  typedef typename dpt__bits_of<sizeof(T) == 8 ? 8 : 4>::type key;
  static constexpr bool real = !std::is_integral<T>::value;
  static constexpr key SIGN = (key)1 << (8 * sizeof(T) - 1), ALL = SIGN | (SIGN - 1);

  static __device__ __forceinline__ key of(T x) {
    bits b;
    memcpy(&b, &x, sizeof b);
    if constexpr (real) {
      auto v = dpt__load(x);
      if (v == 0) return SIGN;
      if (v != v) return ALL;
      return b & SIGN ? ~(key)b & ALL : b | SIGN;
    } else {
      return std::is_signed<T>::value ? b ^ SIGN : b;
    }
  }
  /* Returns true if several elements have this key. */
  static __device__ __forceinline__ bool shared(key k) { return real && (k == SIGN || k == ALL); }
  /* Returns the element of a key that is not shared. */
  static __device__ __forceinline__ T element(key k) {
    bits b = (bits)(real && !(k & SIGN) ? ~k : real || std::is_signed<T>::value ? k ^ SIGN : k);
    T x;
    memcpy(&x, &b, sizeof x);
    return x;
  }
};

/* Return the position in a slice's order of the result's first element, and their number. */
static inline int64_t dpt__sort_first(const dpt__sort_args *g) {
  return g->mode == DPT__SORT_kth ? g->k - 1 : 0;
}
static inline int64_t dpt__sort_many(const dpt__sort_args *g) {
  return g->mode == DPT__SORT_all ? g->n : g->mode == DPT__SORT_some ? g->k : 1;
}

/* Returns the score of a run of equal keys in a sorted slice: longer runs score higher, then
 * earlier ones. end: the position of the run's last key. */
static __device__ __forceinline__ unsigned long long dpt__run_score(int64_t length, int64_t end) {
  return (unsigned long long)length << 32 | (0xffffffffu - (uint32_t)end);
}
static __device__ __forceinline__ int64_t dpt__run_end(unsigned long long score) {
  return 0xffffffffu - (uint32_t)score;
}

/* Returns the number of keys below k among the first n of a sorted slice. */
template <typename Key>
__device__ __forceinline__ int64_t dpt__keys_below(const Key *keys, int64_t n, Key k) {
  int64_t low = 0;
  while (n > 0) {
    int64_t half = n / 2;
    bool below = keys[low + half] < k;
    low = below ? low + half + 1 : low;
    n = below ? n - half - 1 : half;
  }
  return low;
}

/* Returns the sum of the values of the block's threads before this one; a block has THREADS. */
template <int THREADS> __device__ __forceinline__ uint32_t dpt__sum_before(uint32_t value) {
  __shared__ uint32_t warps[THREADS / 32];
  const int warp = (int)threadIdx.x / 32, self = (int)threadIdx.x % 32;
  uint32_t sum = value;
  for (int apart = 1; apart < 32; apart *= 2) {
    uint32_t other = __shfl_up_sync(0xffffffffu, sum, apart);
    if (self >= apart) sum += other;
  }
  if (self == 31) warps[warp] = sum;
  __syncthreads();
  uint32_t before = sum - value;
  for (int w = 0; w < warp; w++) before += warps[w];
  __syncthreads();
  return before;
}

/* Selects the first few items of long slices, with a block each (select.cu); dpt__selects returns
 * true if that is the fastest way. */
int dpt__select(dpt__context *context, const dpt__sort_args *g);
bool dpt__selects(const dpt__sort_args *g);

/* Sorts slices of any length by the lowest `bits` of the keys (radix.cu). */
int dpt__radix_sort(dpt__context *context, const dpt__sort_args *g, int bits);

/* Sorts. bits: the lowest bits in which keys of integers may differ, if known. */
int dpt__sort_slices(dpt__context *context, const dpt__sort_args *g, int bits);

#endif
