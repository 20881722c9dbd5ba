/* index.h: the arguments of the indexing kernels.
 *
 * Invariant: indices count from 1. All are checked before anything is written; an index out of
 * range fails. Writes to one element happen in the order of the indices. Operands share no memory.
 */
#ifndef DPT_OPS_INDEX_H
#define DPT_OPS_INDEX_H
#include "ops/slices.h"
#include "tensor/walk.h"

enum dpt__indexing { DPT__INDEX_read, DPT__INDEX_write, DPT__INDEX_add, DPT__INDEX_fill };

/* Pairs big[i][idx[i][j]] with small[i][j], where i is a slice. idx has n indices for each slice,
 * or one vector of n indices for all slices. */
typedef struct dpt__index_args {
  int32_t mode, dtype, dim;                     /* dim: counts from 1, for the message */
  int32_t shared;                               /* all slices use the same indices */
  int64_t n, limit;                             /* limit: the size of big's dimension */
  int64_t big_stride, small_stride, idx_stride; /* along the dimension */
  dpt__slices slices;                           /* strides of idx (0 if it is shared), big, small */
  double value;                                 /* fill */
  void *big, *small;
  const int64_t *idx;
} dpt__index_args;

/* Elements where a mask is not 0, in row-major order. read copies them to list; write copies list
 * to them; fill sets them to value. */
typedef struct dpt__masked_args {
  int32_t mode;
  int64_t capacity; /* length of list */
  double value;
  void *list;     /* contiguous */
  dpt__walk walk; /* tensor, mask */
} dpt__masked_args;

/* The positions (from 1) of nonzero elements. out has `capacity` rows of ndim numbers. */
typedef struct dpt__nonzero_args {
  int32_t ndim;
  int64_t capacity;
  int64_t size[DPT_MAXDIM]; /* the tensor's size, before the walk merged dimensions */
  int64_t *out;
  dpt__walk walk;
} dpt__nonzero_args;

#endif
