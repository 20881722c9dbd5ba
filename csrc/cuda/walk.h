/* walk.h: a thread's elements of a walk (tensor/walk.h).
 *
 * What must stay true: element i of a walk is at place(k, i) of operand k. A walk whose operands
 * are all contiguous is read in vectors of 16 bytes where their addresses allow it.
 */
#ifndef DPT_CUDA_WALK_H
#define DPT_CUDA_WALK_H
#include "cuda/cuda.h"
extern "C" {
#include "tensor/walk.h"
}

enum { DPT__BLOCK = 256 };

/* The offset in elements of element i, for `operands` operands. Index is as wide as the number of
 * elements needs. */
template <typename Index, int operands>
__device__ __forceinline__ void dpt__places(const dpt__walk &walk, Index i, int64_t *place) {
  for (int k = 0; k < operands; k++) place[k] = 0;
  for (int d = walk.ndim - 1; d >= 0; d--) {
    Index size = (Index)walk.size[d], quotient = d ? i / size : 0, at = i - quotient * size;
    for (int k = 0; k < operands; k++) place[k] += (int64_t)at * walk.step[k][d];
    i = quotient;
  }
}

static inline bool dpt__walk_is_dense(const dpt__walk *walk) {
  if (walk->ndim != 1) return false;
  for (int k = 0; k < walk->noperand; k++)
    if (walk->step[k][0] != 1) return false;
  return true;
}

/* Blocks for count threads' work. */
static inline unsigned dpt__blocks(int64_t count) {
  int64_t blocks = (count + DPT__BLOCK - 1) / DPT__BLOCK;
  return (unsigned)(blocks < 1 << 30 ? blocks : 1 << 30);
}

#endif
