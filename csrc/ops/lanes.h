/* lanes.h: the places of all dimensions but one, for work along that one.
 *
 * Invariant: a lane is one place of the other dimensions; steps count elements of each operand.
 * Dimensions are ordered by the steps of operand 0, farthest first, and merged where all operands
 * allow it. Plain data that travels in a kernel's args.
 */
#ifndef DPT_OPS_LANES_H
#define DPT_OPS_LANES_H
#include "base/dtype.h"

enum { DPT__LANE_OPERANDS = 3 };

typedef struct dpt__lanes {
  int32_t ndim;
  int64_t count; /* lanes */
  int64_t size[DPT_MAXDIM];
  int64_t step[DPT__LANE_OPERANDS][DPT_MAXDIM];
} dpt__lanes;

/* Sizes are those of `shape` without dimension dim (-1: with all); NULL operands have steps 0. */
void dpt__lanes_start(dpt__lanes *lanes, const dpt_tensor *shape, int dim, int n,
                      const dpt_tensor *const *operands);

/* Fails with a sentence that counts dimensions from 1. */
int dpt__check_dim(const char *fn, const dpt_tensor *t, int dim);
/* An index tensor is Long and on the side of `a`. */
int dpt__check_places(const char *fn, const dpt_tensor *idx, const dpt_tensor *a);

/* Where lane i begins in each operand. */
static inline void dpt__lane_at(const dpt__lanes *lanes, int64_t i,
                                int64_t at[DPT__LANE_OPERANDS]) {
  at[0] = at[1] = at[2] = 0;
  for (int d = lanes->ndim - 1; d >= 0; d--) {
    int64_t place = d ? i % lanes->size[d] : i;
    i = d ? i / lanes->size[d] : 0;
    for (int k = 0; k < DPT__LANE_OPERANDS; k++) at[k] += place * lanes->step[k][d];
  }
}

#endif
