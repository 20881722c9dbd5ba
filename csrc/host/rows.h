/* rows.h: kernels for one dense row, in tables by operation and element type. Cheap operations have
 * separate functions for rows of strided elements.
 *
 * Invariant: a row function reads n elements of each operand and writes n results. Each result is a
 * pure function of its element alone: neither its position in a row nor the length of the row
 * changes its bits (except which NaN it is). r may be one of the operands; otherwise they do not
 * overlap. No alignment is guaranteed. There is one table for each instruction set; all give the
 * same bits, except that functions (exp, tanh, SLEEF's) differ in the last places. NULL: the type
 * has no such operation.
 */
#ifndef DPT_HOST_ROWS_H
#define DPT_HOST_ROWS_H
#include "ops/map.h"

typedef void dpt__row_fn(int64_t n, void *r, const void *a, const void *b, const void *c, double p,
                         double q);

/* stride: of r, a, b and c, in elements. */
typedef void dpt__strided_fn(int64_t n, void *r, const void *a, const void *b, const void *c,
                             const int64_t *stride, double p, double q);

enum { DPT__ROW_SUMS = 32 }; /* partial sums of dot */

typedef struct dpt__rows {
  const char *name; /* "avx2" and so on */
  dpt__row_fn *map[DPT__NMAP][DPT_NDTYPE];
  dpt__row_fn *compare[DPT__NMAP][DPT_NDTYPE]; /* comparisons with a result in bytes */
  dpt__row_fn *const *convert[DPT_NDTYPE];     /* [to][from] */
  dpt__row_fn *fill[DPT_NDTYPE];               /* r = p */
  /* Rows that write whole, aligned cache lines with non-temporal stores; the caller fences. NULL
   * for integers. */
  dpt__row_fn *past[DPT__NMAP][DPT_NDTYPE];
  void (*copy_past)(void *to, const void *from, size_t bytes);
  /* NULL except for reduced types. dot returns the sum of x[i] * y[i]; add_rows computes r[i] +=
   * x[j * row_stride + i] * y[j] in the order of j, where r has room for a multiple of
   * DPT__ROW_SUMS. */
  float (*dot[DPT_NDTYPE])(const void *x, const float *y, int64_t n);
  void (*add_rows[DPT_NDTYPE])(float *r, const void *x, int64_t rows, int64_t row_stride,
                               const float *y, int64_t n);
} dpt__rows;

extern const dpt__rows dpt__rows_base, dpt__rows_avx2, dpt__rows_avx512;

/* Rows of strided elements, with the bits of `map` in every table. NULL for integers, and for
 * operations that call functions. */
extern dpt__strided_fn *const dpt__rows_strided[DPT__NMAP][DPT_NDTYPE];

/* Returns the table for this machine. */
const dpt__rows *dpt__rows_pick(void);

#endif
