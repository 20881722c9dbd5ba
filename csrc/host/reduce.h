/* reduce.h: what the reduction kernels share. */
#ifndef DPT_HOST_REDUCE_H
#define DPT_HOST_REDUCE_H
#include "base/element.h"
#include "host/kernels.h"

/* SPREAD: sums of a run side by side, but runs of FEW or less are summed in their order; TILE: sums
 * of columns at most; SIDE: runs that are read at once. */
enum {
  DPT__REDUCE_BLOCK = 16384,
  DPT__REDUCE_SPREAD = 32,
  DPT__REDUCE_FEW = 32,
  DPT__REDUCE_TILE = 1024,
  DPT__REDUCE_SIDE = 4
};

/* What a block of elements contributes: `whole` for integers, `real` for the others. */
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

/* Of floats next to each other (x86-64 with AVX2 and FMA alone). */
void dpt__sum_run(const float *x, int64_t n, part *out);
void dpt__sum_runs(const float *const x[DPT__REDUCE_SIDE], int64_t n, part *out);
void dpt__sum_columns(const float *x, int64_t rows, int64_t row_stride, int64_t cols, part *out);

#endif
