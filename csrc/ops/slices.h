/* slices.h: the positions of all dimensions but one, for work along that one.
 *
 * Invariant: a slice is one position of the other dimensions; strides count elements of each
 * operand. Dimensions are ordered by the strides of operand 0 (if that is NULL, of 1), farthest
 * first, and merged where all operands allow it. Plain data that travels in a kernel's args.
 */
#ifndef DPT_OPS_SLICES_H
#define DPT_OPS_SLICES_H
#include "base/dtype.h"

enum { DPT__SLICE_OPERANDS = 3 };

typedef struct dpt__slices {
  int32_t ndim;
  int64_t count; /* slices */
  int64_t size[DPT_MAXDIM];
  int64_t stride[DPT__SLICE_OPERANDS][DPT_MAXDIM];
} dpt__slices;

/* Sizes are those of `shape` without dimension dim (-1: with all); NULL operands have strides 0. */
void dpt__slices_start(dpt__slices *slices, const dpt_tensor *shape, int dim, int n,
                       const dpt_tensor *const *operands);

/* An index tensor is Long and on the side of `a`. */
int dpt__check_indices(const char *fn, const dpt_tensor *idx, const dpt_tensor *a);

/* Where slice i begins in each operand. */
static inline void dpt__slice_at(const dpt__slices *slices, int64_t i,
                                 int64_t at[DPT__SLICE_OPERANDS]) {
  at[0] = at[1] = at[2] = 0;
  for (int d = slices->ndim - 1; d >= 0; d--) {
    int64_t index = d ? i % slices->size[d] : i;
    i = d ? i / slices->size[d] : 0;
    for (int k = 0; k < DPT__SLICE_OPERANDS; k++) at[k] += index * slices->stride[k][d];
  }
}

#endif
