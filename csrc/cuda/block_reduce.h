/* block_reduce.h: reductions of one value per thread across the threads of a block.
 *
 * Invariant: all threads of the block call the function. The order of operations depends on the
 * block's size alone. `shared` holds one value per warp (along x) or per thread (along y), and the
 * next call may reuse it.
 */
#ifndef DPT_CUDA_BLOCK_REDUCE_H
#define DPT_CUDA_BLOCK_REDUCE_H
#include "cuda/cuda.h"

struct dpt__plus {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct dpt__larger {
  template <typename T> __device__ T operator()(T a, T b) const { return b > a ? b : a; }
};

/* Reduces over the threads along x; each of them gets the result. Their number is a power of 2; if
 * it exceeds a warp, these threads must be the whole block. */
template <typename V, typename F>
__device__ __forceinline__ V dpt__block_reduce_x(V v, F f, V *shared) {
  enum { WARP = 32 };
  int threads = (int)blockDim.x, width = threads < WARP ? threads : WARP;
  for (int other = width / 2; other; other /= 2)
    v = f(v, __shfl_xor_sync(0xffffffffu, v, other, width));
  if (threads <= WARP) return v;
  __syncthreads(); /* earlier values have been read */
  if (threadIdx.x % WARP == 0) shared[threadIdx.x / WARP] = v;
  __syncthreads();
  v = shared[0];
  for (int w = 1; w < threads / WARP; w++) v = f(v, shared[w]);
  return v;
}

/* Reduces over the threads along y; each of them gets the result. */
template <typename V, typename F>
__device__ __forceinline__ V dpt__block_reduce_y(V v, F f, V *shared) {
  int side = (int)blockDim.x, deep = (int)blockDim.y, x = (int)threadIdx.x;
  if (deep == 1) return v;
  __syncthreads();
  shared[(int)threadIdx.y * side + x] = v;
  __syncthreads();
  v = shared[x];
  for (int y = 1; y < deep; y++) v = f(v, shared[y * side + x]);
  return v;
}

#endif
