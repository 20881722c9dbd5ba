/* sums.h: sums over a whole operand, one or several at once.
 *
 * Invariant: sums accumulate in double. The elements that a thread adds, and the order in which
 * partial sums are joined, depend on the size of the work alone, so the same call has the same
 * bits. Work that fits one block needs one launch, other work two.
 *
 * A sum is a plain struct F with F::SUMS numbers:
 *   add(sum)     adds this thread's contribution; all threads of a block return together
 *   finish(sum)  writes the results, from one thread
 */
#ifndef DPT_CUDA_SUMS_H
#define DPT_CUDA_SUMS_H
#include "cuda/cuda.h"

constexpr unsigned DPT__SUM_THREADS = 256, DPT__SUM_BLOCKS = 1024;
constexpr int64_t DPT__SUM_ALONE = 4096; /* threads' work that one block does, by default */

/* Sums over a warp; lane 0 gets the result. */
__device__ __forceinline__ double dpt__warp_sum(double v) {
  for (int other = 16; other; other /= 2) v += __shfl_down_sync(0xffffffffu, v, other);
  return v;
}

/* Sums over a block of DPT__SUM_THREADS; thread 0 gets the results. */
template <int sums> __device__ __forceinline__ void dpt__block_sum(double *sum) {
  __shared__ double warps[sums][DPT__SUM_THREADS / 32];
  int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  for (int k = 0; k < sums; k++) {
    double v = dpt__warp_sum(sum[k]);
    if (lane == 0) warps[k][warp] = v;
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 0; k < sums; k++) {
    sum[k] = 0;
    for (int w = 0; w < DPT__SUM_THREADS / 32; w++) sum[k] += warps[k][w];
  }
}

template <typename F> __global__ void dpt__sum_parts(F f, double *parts) {
  double sum[F::SUMS] = {};
  f.add(sum);
  dpt__block_sum<F::SUMS>(sum);
  if (threadIdx.x) return;
  if (gridDim.x == 1) {
    f.finish(sum);
    return;
  }
  for (int k = 0; k < F::SUMS; k++) parts[blockIdx.x * F::SUMS + k] = sum[k];
}

template <typename F> __global__ void dpt__sum_end(F f, const double *parts, unsigned blocks) {
  double sum[F::SUMS] = {};
  for (unsigned b = threadIdx.x; b < blocks; b += DPT__SUM_THREADS)
    for (int k = 0; k < F::SUMS; k++) sum[k] += parts[b * F::SUMS + k];
  dpt__block_sum<F::SUMS>(sum);
  if (threadIdx.x == 0) f.finish(sum);
}

/* Returns the number of blocks for `work` threads' work; one block does up to `alone`. */
static inline unsigned dpt__sum_blocks(int64_t work, int64_t alone = DPT__SUM_ALONE) {
  if (work <= alone) return 1;
  int64_t blocks = (work + DPT__SUM_THREADS - 1) / DPT__SUM_THREADS;
  return (unsigned)(blocks < DPT__SUM_BLOCKS ? blocks : DPT__SUM_BLOCKS);
}

template <typename F> int dpt__sum(dpt__context *context, const F &f, unsigned blocks) {
  double *parts = NULL;
  if (blocks > 1) {
    size_t bytes = (size_t)blocks * F::SUMS * sizeof *parts;
    parts = (double *)dpt__scratch(context, bytes);
  }
  auto first = dpt__sum_parts<F>;
  auto end = dpt__sum_end<F>;
  if (DPT_LAUNCH_COOPERATIVE(first, blocks, DPT__SUM_THREADS, 0, context, f, parts)) return 1;
  if (blocks == 1) return 0;
  return DPT_LAUNCH_COOPERATIVE(end, 1, DPT__SUM_THREADS, 0, context, f, parts, blocks);
}

#endif
