/* slices.h: the positions in all dimensions but one, for work along that dimension.
 *
 * Invariant: a slice is one position of the other dimensions; strides count elements of each
 * operand. Dimensions are sorted by decreasing stride of operand 0 (of operand 1 if that is NULL),
 * and merged where all operands allow it. A dpt__slices is plain data, copied with a kernel's
 * arguments.
 */
#ifndef DPT_OPS_SLICES_H
#define DPT_OPS_SLICES_H
#include "base/dtype.h"

enum { DPT__SLICE_OPERANDS = 3 };

typedef struct dpt__slices {
  int32_t ndim;
  int64_t count; /* number of slices */
  int64_t size[DPT_MAXDIM];
  int64_t stride[DPT__SLICE_OPERANDS][DPT_MAXDIM];
} dpt__slices;

/* Fills `slices` with the sizes of `shape` without dimension dim (-1: with all); NULL operands have
 * strides 0. */
void dpt__slices_start(dpt__slices *slices, const dpt_tensor *shape, int dim, int n,
                       const dpt_tensor *const *operands);

/* Fails unless idx is a Long tensor on the same side as `a`: the host or a device. */
int dpt__check_indices(const char *fn, const dpt_tensor *idx, const dpt_tensor *a);

/* Computes the offset of slice i in each operand. */
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
