/* walk.h: turns operands of equal element count into rows.
 *
 * What must stay true: dpt__walk_start merges dimensions wherever every operand allows it, orders
 * the rest so that the innermost row is the best one for the result, and gives every operand the
 * same row lengths; a walk over contiguous operands is one row. Operands may have different shapes
 * with equal counts (Torch7's pointwise rule): they are walked in row-major order of their own.
 * A walk is plain data and travels inside a kernel's args.
 */
#ifndef DPT_TENSOR_WALK_H
#define DPT_TENSOR_WALK_H
#include "tensor/tensor.h"

enum { DPT__OPERANDS = 4 };

typedef struct dpt__walk {
  int32_t noperand, ndim;                  /* ndim >= 1; the last dimension is the row */
  int64_t size[DPT_MAXDIM];                /* common sizes after merging and splitting */
  int64_t step[DPT__OPERANDS][DPT_MAXDIM]; /* in elements of each operand */
  char *data[DPT__OPERANDS];               /* first element */
  int32_t dtype[DPT__OPERANDS];
} dpt__walk;

#endif
