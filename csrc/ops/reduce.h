/* reduce.h: the arguments of the reduction kernels.
 *
 * Invariant: values accumulate in wide types (integers modulo 2^64, reals in double), in blocks
 * whose size depends only on sizes and strides. The blocks are combined in order.
 */
#ifndef DPT_OPS_REDUCE_H
#define DPT_OPS_REDUCE_H
#include "base/element.h"
#include "ops/slices.h"
#include "tensor/walk.h"

enum dpt__reduction {
#define X(name, types) DPT__REDUCE_##name,
#include "ops/reduce.def"
#undef X
  DPT__NREDUCE
};

/* A reduction of numbers that are 1 where two operands differ: 1 if they differ nowhere. */
enum { DPT__REDUCE_none = DPT__NREDUCE };

/* The quantities that reductions accumulate: sums of dpt__term_*, products, mean and squared
 * deviations, extremes. Integers have sums of elements, counts of nonzero elements, products and
 * extremes. */
#define DPT__WHOLE_SUMS(X) X(DPT__SUM) X(DPT__COUNT)
#define DPT__REAL_SUMS(X) DPT__WHOLE_SUMS(X) X(DPT__ABS) X(DPT__SQUARE) X(DPT__POWER)
#define DPT__ACCUMULATIONS(X, SUMS) SUMS(X) X(DPT__PRODUCT) X(DPT__MAX) X(DPT__MIN)
#define DPT__WHOLE_ACCUMULATIONS(X) DPT__ACCUMULATIONS(X, DPT__WHOLE_SUMS)
#define DPT__REAL_ACCUMULATIONS(X) DPT__ACCUMULATIONS(X, DPT__REAL_SUMS) X(DPT__VARIANCE)
enum dpt__accumulation {
#define X(kind) kind,
  DPT__REAL_ACCUMULATIONS(X)
#undef X
};
static inline int dpt__accumulation(int op, double p) {
  switch (op) {
  case DPT__REDUCE_prod:
    return DPT__PRODUCT;
  case DPT__REDUCE_var:
  case DPT__REDUCE_std:
    return DPT__VARIANCE;
  case DPT__REDUCE_norm:
    return p == 0 ? DPT__COUNT : p == 1 ? DPT__ABS : p == 2 ? DPT__SQUARE : DPT__POWER;
  case DPT__REDUCE_max:
    return DPT__MAX;
  case DPT__REDUCE_min:
    return DPT__MIN;
  case DPT__REDUCE_all:
  case DPT__REDUCE_any:
    return DPT__COUNT;
  default:
    return DPT__SUM;
  }
}

/* Returns the term that one element adds to a sum. */
static DPT__EVERYWHERE DPT__INLINE double dpt__term_real(int kind, double x, double p) {
  switch (kind) {
  case DPT__COUNT:
    return x != 0;
  case DPT__ABS:
    return fabs(x);
  case DPT__SQUARE:
    return x * x;
  case DPT__POWER:
    return pow(fabs(x), p);
  default:
    return x;
  }
}
static DPT__EVERYWHERE DPT__INLINE uint64_t dpt__term_whole(int kind, uint64_t x) {
  return kind == DPT__COUNT ? x != 0 : x;
}

/* Merges the mean and the squared deviations of `more` elements into those of n elements. */
static DPT__EVERYWHERE DPT__INLINE void dpt__join_variance(double *mean, double *m2, double n,
                                                           double from_mean, double from_m2,
                                                           double more) {
  double d = from_mean - *mean, total = n + more;
  *mean += d * (more / total);
  *m2 += from_m2 + d * d * (n * more / total);
}

/* Converts the accumulated value of n elements (m2: squared deviations, for variances) to the
 * result. */
static DPT__EVERYWHERE inline double dpt__finish_real(int op, double p, double x, double m2,
                                                      double n) {
  switch (op) {
  case DPT__REDUCE_mean:
    return x / n;
  case DPT__REDUCE_var:
    return m2 / (p != 0 ? n : n - 1);
  case DPT__REDUCE_std:
    return sqrt(m2 / (p != 0 ? n : n - 1));
  case DPT__REDUCE_norm:
    return p == 2 ? sqrt(x) : p != 0 && p != 1 ? pow(x, 1 / p) : x;
  case DPT__REDUCE_none:
    return x == 0;
  default:
    return x;
  }
}
static DPT__EVERYWHERE inline int64_t dpt__finish_whole(int op, int64_t x, int64_t n) {
  switch (op) {
  case DPT__REDUCE_all:
    return x == n;
  case DPT__REDUCE_any:
    return x != 0;
  case DPT__REDUCE_none:
    return x == 0;
  default:
    return x;
  }
}

/* A reduction over slices of n elements, one for each position of the other dimensions. */
typedef struct dpt__reduce_args {
  int32_t op, dtype; /* dtype: the type of a and r */
  double p;
  int64_t n, stride;
  dpt__slices slices; /* strides of a, r, idx */
  const void *a;
  void *r;
  int64_t *idx; /* NULL, or for max and min positions from 1 */
} dpt__reduce_args;

/* A reduction of all elements, in any order, to one number. */
typedef struct dpt__reduce_all_args {
  int32_t op;
  double p;
  double *out;
  dpt__walk walk; /* one operand */
} dpt__reduce_all_args;

/* Reductions of two operands of one type, by a number for each pair of elements. dist: the p-norm
 * of the differences, of reals; equal: 1 or 0. DPT__PAIR_first reads only the first operand. */
enum dpt__pairing { DPT__PAIR_dot, DPT__PAIR_dist, DPT__PAIR_equal, DPT__PAIR_first };
static DPT__EVERYWHERE DPT__INLINE double dpt__pair_real(int pairing, double x, double y) {
  return pairing == DPT__PAIR_dot ? x * y : pairing == DPT__PAIR_dist ? x - y : x != y;
}
static DPT__EVERYWHERE DPT__INLINE uint64_t dpt__pair_whole(int pairing, uint64_t x, uint64_t y) {
  return pairing == DPT__PAIR_dot ? x * y : x != y;
}
static inline int dpt__pair_reduction(int pairing) {
  return pairing == DPT__PAIR_dot    ? (int)DPT__REDUCE_sum
         : pairing == DPT__PAIR_dist ? (int)DPT__REDUCE_norm
                                     : (int)DPT__REDUCE_none;
}
typedef struct dpt__pair_args {
  int32_t op; /* dpt__pairing */
  double p;
  double *out;
  dpt__walk walk; /* two operands */
} dpt__pair_args;

/* Counts the nonzero elements. Waits if the tensor is on a device. */
int dpt__count_nonzero(const char *fn, const dpt_tensor *a, int64_t *n);

#endif
