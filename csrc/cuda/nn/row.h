/* row.h: rows of contiguous elements, each computed by the threads of a block along x, or by the
 * whole block if that takes several warps.
 *
 * Invariant: the threads of a row and the order of its sums depend on its length alone. Second
 * reads of a row hit the cache.
 */
#ifndef DPT_CUDA_NN_ROW_H
#define DPT_CUDA_NN_ROW_H
#include "cuda/block_reduce.h"
#include "cuda/nn/nn.h"
#include "cuda/pack.h"

/* The running thread's row, of N rows of C elements. Its packs are blockDim.x apart; it loads BATCH
 * of them before it uses any. */
template <typename T> struct dpt__row {
  typedef typename dpt__wide<T>::type V;
  enum { BATCH = 2 };
  int64_t number, offset, C;
  bool packs;
  __device__ dpt__row(int64_t N, int64_t length, bool packs) : packs(packs) {
    number = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    C = number < N ? length : 0; /* a row past the end only takes part in reductions */
    offset = number * length;
  }
  /* Calls f(a pack of `from`, of `also` unless that is NULL, the number of its elements that are in
   * the row, its offset) in order; the other elements are `fill`. */
  template <typename F>
  __device__ __forceinline__ void each(const void *from, const void *also, V fill, F f) const {
    const int step = (int)blockDim.x * DPT__PACK;
    for (int64_t c = threadIdx.x * DPT__PACK; c < C; c += BATCH * step) {
      const int rest = C - c < BATCH * step ? (int)(C - c) : BATCH * step;
      dpt__pack<V> x[BATCH], y[BATCH] = {};
      DPT_UNROLL
      for (int k = 0; k < BATCH; k++) {
        x[k] = load(from, offset + c + k * step, rest - k * step, fill);
        if (also) y[k] = load(also, offset + c + k * step, rest - k * step, fill);
      }
      DPT_UNROLL
      for (int k = 0; k < BATCH; k++) f(x[k], y[k], rest - k * step, offset + c + k * step);
    }
  }
  __device__ dpt__pack<V> load(const void *from, int64_t at, int n, V fill) const {
    bool whole = packs && n >= DPT__PACK;
    return dpt__pack_widen(
        dpt__pack_load((const T *)from + at, n, whole, dpt__store<T>::from(fill)));
  }
  __device__ void store(void *to, int64_t at, int n, const dpt__pack<V> &y) const {
    dpt__pack_store((T *)to + at, dpt__pack_narrow<T>(y), n, packs && n >= DPT__PACK);
  }
};

/* Returns a block's threads per row of C elements, and its rows. */
static inline dim3 dpt__row_block(int64_t C) {
  enum { WARP = 32, LONG = 16384 };
  unsigned threads = 1, most = C < LONG ? DPT__BLOCK : 2 * DPT__BLOCK;
  while (threads < most && threads * DPT__PACK * (threads < WARP ? 1 : 2) < C) threads *= 2;
  return dim3(threads, threads <= WARP ? DPT__BLOCK / threads : 1);
}

#endif
