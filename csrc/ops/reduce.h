/* reduce.h: the arguments of the reduction kernels.
 *
 * What must stay true: values accumulate wide (integers modulo 2^64, reals in double) in blocks
 * whose size depends on sizes and steps alone, and the blocks are combined in their order.
 */
#ifndef DPT_OPS_REDUCE_H
#define DPT_OPS_REDUCE_H
#include "device/backend.h"

enum dpt__reduction {
#define X(name, types) DPT__REDUCE_##name,
#include "ops/reduce.def"
#undef X
  DPT__NREDUCE
};

/* Lanes of n elements, one for each place of the other dimensions. */
typedef struct dpt__reduce_args {
  int32_t op, dtype, ndim; /* dtype of a and r; ndim: of the other dimensions */
  double p;
  int64_t n, step, lanes;
  int64_t size[DPT_MAXDIM], a_step[DPT_MAXDIM], r_step[DPT_MAXDIM], idx_step[DPT_MAXDIM];
  const void *a;
  void *r;
  int64_t *idx; /* NULL, or for max and min places from 1 */
} dpt__reduce_args;

/* Everything, in any order of dimensions; the result is one element of out_dtype. */
typedef struct dpt__reduce_all_args {
  int32_t op, dtype, out_dtype, ndim; /* ndim >= 1; the last dimension is the run */
  double p;
  int64_t size[DPT_MAXDIM], step[DPT_MAXDIM];
  const void *a;
  void *out;
} dpt__reduce_all_args;

/* Two operands of one type and equal counts. equal: 1 or 0; dist: the p-norm of the difference. */
enum dpt__pairing { DPT__PAIR_dot, DPT__PAIR_dist, DPT__PAIR_equal };

#endif
