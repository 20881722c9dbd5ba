/* reduce.h: the arguments of the reduction kernels.
 *
 * What must stay true: values accumulate wide (integers modulo 2^64, reals in double) in blocks
 * whose size depends on sizes and steps alone, and the blocks are combined in their order.
 */
#ifndef DPT_OPS_REDUCE_H
#define DPT_OPS_REDUCE_H
#include "ops/lanes.h"
#include "tensor/walk.h"

enum dpt__reduction {
#define X(name, types) DPT__REDUCE_##name,
#include "ops/reduce.def"
#undef X
  DPT__NREDUCE
};

/* What a reduction accumulates; DPT__SPREADOUT: mean and squared deviations. */
enum dpt__accumulation {
  DPT__SUM,
  DPT__COUNT,
  DPT__MAGNITUDE,
  DPT__SQUARE,
  DPT__POWER,
  DPT__PRODUCT,
  DPT__SPREADOUT,
  DPT__MOST,
  DPT__LEAST,
  DPT__NACCUMULATION
};
static inline int dpt__accumulation(int op, double p) {
  switch (op) {
  case DPT__REDUCE_prod:
    return DPT__PRODUCT;
  case DPT__REDUCE_var:
  case DPT__REDUCE_std:
    return DPT__SPREADOUT;
  case DPT__REDUCE_norm:
    return p == 0 ? DPT__COUNT : p == 1 ? DPT__MAGNITUDE : p == 2 ? DPT__SQUARE : DPT__POWER;
  case DPT__REDUCE_max:
    return DPT__MOST;
  case DPT__REDUCE_min:
    return DPT__LEAST;
  case DPT__REDUCE_all:
  case DPT__REDUCE_any:
    return DPT__COUNT;
  default:
    return DPT__SUM;
  }
}

/* Lanes of n elements, one for each place of the other dimensions. */
typedef struct dpt__reduce_args {
  int32_t op, dtype; /* of a and r */
  double p;
  int64_t n, step;
  dpt__lanes lanes; /* of a, r, idx */
  const void *a;
  void *r;
  int64_t *idx; /* NULL, or for max and min places from 1 */
} dpt__reduce_args;

/* Everything, in any order; the result is one element of out_dtype. */
typedef struct dpt__reduce_all_args {
  int32_t op, out_dtype;
  double p;
  void *out;
  dpt__walk walk; /* one operand */
} dpt__reduce_all_args;

/* Two operands of one type. dist: the p-norm of the difference; equal: 1 or 0. */
enum dpt__pairing { DPT__PAIR_dot, DPT__PAIR_dist, DPT__PAIR_equal };
typedef struct dpt__pair_args {
  int32_t op, out_dtype; /* dpt__pairing */
  double p;
  void *out;
  dpt__walk walk; /* two operands */
} dpt__pair_args;

/* How many elements are not 0; on a device it waits. */
int dpt__count_nonzero(const dpt_tensor *a, int64_t *n);

#endif
