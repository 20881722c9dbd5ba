/* reduce.h: definitions that the reduction kernels share. */
#ifndef DPT_HOST_REDUCE_H
#define DPT_HOST_REDUCE_H
#include "base/element.h"
#include "host/kernels.h"

/* SPREAD: accumulators of a run; runs of at most FEW elements are summed in order. TILE: columns
 * summed at once, at most. SIDE: runs read at once. */
enum {
  DPT__REDUCE_BLOCK = 16384,
  DPT__REDUCE_SPREAD = 32,
  DPT__REDUCE_FEW = 32,
  DPT__REDUCE_TILE = 1024,
  DPT__REDUCE_SIDE = 4
};

/* The contribution of a block of elements: `whole` for integers, `real` for the others. */
typedef struct part {
  union {
    double real;
    int64_t whole;
  };
  union {
    double m2;  /* var, std: the sum of squared deviations; real is the mean */
    int64_t at; /* max, min: the position of the value */
  };
} part;

/* Sums (DPT__SUM, DPT__ABS, DPT__SQUARE) of contiguous floats or reduced types: of up to
 * DPT__REDUCE_SIDE runs, and of columns (only on x86-64 with AVX2 and FMA). */
void dpt__sum_runs(int dtype, int kind, const void *const *x, int runs, int64_t n, part *out);
void dpt__sum_columns(int dtype, int kind, const void *x, int64_t rows, int64_t row_stride,
                      int64_t cols, part *out);

#endif
