/* create.h: the arguments of the kernels that create and shape matrices.
 *
 * Invariant: see each struct; operands share no memory.
 */
#ifndef DPT_OPS_CREATE_H
#define DPT_OPS_CREATE_H
#include "ops/slices.h"
#include "tensor/walk.h"

/* Sets element i, in row-major order, to from + i * step, or to ten to that power. */
typedef struct dpt__ramp_args {
  int32_t power;
  double from, step;
  dpt__walk walk;
} dpt__ramp_args;

/* Clears elements (i, j) with j - i > k, or with `upper` those with j - i < k. */
typedef struct dpt__triangle_args {
  int32_t width, upper; /* bytes of an element; upper: keep j - i >= k, else j - i <= k */
  int64_t rows, cols, row_stride, col_stride, k;
  void *data;
} dpt__triangle_args;

/* Cumulative sums or products along a dimension; r may be a itself. */
typedef struct dpt__scan_args {
  int32_t product, dtype;
  int64_t n, a_stride, r_stride;
  dpt__slices slices; /* strides of a, r */
  const void *a;
  void *r;
} dpt__scan_args;

/* Cross products along a dimension of size 3; r may be one of the operands. */
typedef struct dpt__cross_args {
  int32_t dtype;
  int64_t a_stride, b_stride, r_stride;
  dpt__slices slices; /* strides of a, b, r */
  const void *a, *b;
  void *r;
} dpt__cross_args;

/* Histograms of the n contiguous numbers of each row, in bins of equal width; out: rows x bins,
 * contiguous. */
typedef struct dpt__histogram_args {
  int32_t dtype; /* float or double */
  int64_t rows, n, bins;
  double low, high; /* low < high; numbers outside are not counted */
  const void *a;
  void *out;
} dpt__histogram_args;

/* Scales each contiguous row of m numbers whose p-norm exceeds max_norm, so that its norm is
 * max_norm. */
typedef struct dpt__renorm_args {
  int32_t dtype;
  int64_t rows, m;
  double p, max_norm;
  void *data;
} dpt__renorm_args;

/* r (contiguous) = planes correlated with kernels, or convolved if flip is set. */
typedef struct dpt__planes_args {
  int32_t dtype, flip;
  int64_t outputs, inputs; /* numbers of planes; each output is a sum over the inputs */
  int64_t a_size[3], k_size[3], r_size[3];
  int64_t pad[3]; /* padding of a, on each side */
  int64_t a_stride[3], k_stride[3];
  int64_t a_output, a_input; /* strides to the planes of the next output or input */
  int64_t k_output, k_input;
  const void *a, *k;
  void *r;
} dpt__planes_args;

#endif
