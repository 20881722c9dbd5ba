/* walk.h: addresses of a thread's elements of a walk (tensor/walk.h) or of its slice
 * (ops/slices.h).
 *
 * Invariant: element i of a walk is at its offset in operand k. cells.h and pack.h access several
 * elements at once, with up to 16 bytes. Aliased outputs are written in order, by one thread.
 */
#ifndef DPT_CUDA_WALK_H
#define DPT_CUDA_WALK_H
#include "cuda/cuda.h"
extern "C" {
#include "tensor/walk.h"
}

enum { DPT__BLOCK = 256 };

/* Computes the offset, in elements, of element i of a walk or of slice i, for `operands` operands.
 * Index is wide enough for the number of elements. */
template <typename Index, int operands, typename Shape>
__device__ __forceinline__ void dpt__offsets(const Shape &shape, Index i, int64_t *offset) {
  for (int k = 0; k < operands; k++) offset[k] = 0;
  for (int d = shape.ndim - 1; d >= 0; d--) {
    Index size = (Index)shape.size[d], quotient = d ? i / size : 0, at = i - quotient * size;
    for (int k = 0; k < operands; k++) offset[k] += (int64_t)at * shape.stride[k][d];
    i = quotient;
  }
}

static inline bool dpt__walk_is_dense(const dpt__walk *walk) {
  if (walk->ndim != 1) return false;
  for (int k = 0; k < walk->noperand; k++)
    if (walk->stride[k][0] != 1) return false;
  return true;
}

/* Returns the number of blocks for `count` threads. */
static inline unsigned dpt__blocks(int64_t count) {
  int64_t blocks = (count + DPT__BLOCK - 1) / DPT__BLOCK;
  return (unsigned)(blocks < 1 << 30 ? blocks : 1 << 30);
}

/* Return the running thread's index in a launch of dpt__blocks(count) blocks, and the number of
 * threads in the grid. */
template <typename Index> __device__ __forceinline__ Index dpt__thread() {
  return (Index)blockIdx.x * (Index)blockDim.x + (Index)threadIdx.x;
}
template <typename Index> __device__ __forceinline__ Index dpt__grid_threads() {
  return (Index)gridDim.x * (Index)blockDim.x;
}

/* Return the blocks and threads of a walk with one thread per element. */
static inline unsigned dpt__walk_blocks(const dpt__walk *walk, int64_t count) {
  return walk->serial ? 1 : dpt__blocks(count);
}
static inline unsigned dpt__walk_threads(const dpt__walk *walk) {
  return walk->serial ? 1 : DPT__BLOCK;
}

/* Copies a strided tensor of ndim dimensions to another one of the same sizes (convert.cu). */
int dpt__cuda_copy(dpt__context *context, int ndim, const int64_t *size, int to_type, void *to,
                   const int64_t *to_stride, int from_type, const void *from,
                   const int64_t *from_stride);

#endif
