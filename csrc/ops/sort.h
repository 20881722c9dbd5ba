/* sort.h: the arguments of the sorting kernel.
 *
 * Invariant: the order is stable (equal elements keep their order), NaN is greater than every
 * number, and -0 equals 0. Positions in idx count from 1. r shares no memory with a.
 */
#ifndef DPT_OPS_SORT_H
#define DPT_OPS_SORT_H
#include "ops/slices.h"

enum dpt__sorting {
  DPT__SORT_all,  /* all n elements */
  DPT__SORT_some, /* the first k of that order, in order */
  DPT__SORT_kth,  /* the k-th (from 1) of that order */
  DPT__SORT_mode  /* the most frequent element, or the least of several; its last position */
};

typedef struct dpt__sort_args {
  int32_t mode, dtype, descending;
  int64_t n, k;
  int64_t a_stride, r_stride, idx_stride; /* along the dimension */
  dpt__slices slices;                     /* strides of a, r, idx */
  const void *a;
  void *r;
  int64_t *idx;
} dpt__sort_args;

#endif
