/* rows.h: kernels for one dense row, in tables by operation and element type.
 * Rows whose elements stand apart have functions of their own where computing is quick.
 *
 * Invariant: a row function reads n elements of each operand and writes n results, each result a
 * pure function of its element alone: the same bits wherever it stands in a row, however long the
 * row is (but which NaN it is). r may be one of the operands; otherwise they do not overlap. No
 * alignment is promised. There is one table for each instruction set; all have the same bits, but
 * functions (exp, tanh, SLEEF's) differ in the last places. NULL: no such operation on that type.
 */
#ifndef DPT_HOST_ROWS_H
#define DPT_HOST_ROWS_H
#include "ops/map.h"

typedef void dpt__row_fn(int64_t n, void *r, const void *a, const void *b, const void *c, double p,
                         double q);

/* stride: of r, a, b and c, in elements. */
typedef void dpt__strided_fn(int64_t n, void *r, const void *a, const void *b, const void *c,
                             const int64_t *stride, double p, double q);

typedef struct dpt__rows {
  const char *name; /* "avx2" and so on */
  dpt__row_fn *map[DPT__NMAP][DPT_NDTYPE];
  dpt__row_fn *compare[DPT__NMAP][DPT_NDTYPE];  /* comparisons again, with a result in bytes */
  dpt__row_fn *convert[DPT_NDTYPE][DPT_NDTYPE]; /* [to][from] */
  dpt__row_fn *fill[DPT_NDTYPE];                /* r = p */
  /* Results of whole cache lines, on their boundaries, that are written past the cache; the caller
   * fences. NULL: integers. */
  dpt__row_fn *past[DPT__NMAP][DPT_NDTYPE];
  void (*copy_past)(void *to, const void *from, size_t bytes);
} dpt__rows;

extern const dpt__rows dpt__rows_base, dpt__rows_avx2, dpt__rows_avx512;

/* With the bits of `map` in every table. NULL: integers, and what calls functions. */
extern dpt__strided_fn *const dpt__rows_strided[DPT__NMAP][DPT_NDTYPE];

/* The table for this machine. */
const dpt__rows *dpt__rows_pick(void);

#endif
