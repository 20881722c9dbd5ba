/* panels.h: products of rows with a matrix that is packed in panels, and transposed copies.
 * Matrices of a reduced type are packed and transposed as floats.
 *
 * Invariant: a matrix is packed once (`pack`) and then read by every step of every sequence of a
 * recurrent network. A row of the result depends neither on the other rows nor on their number.
 * There is one table for each element type and instruction set. (OpenBLAS would pack the matrix in
 * each step, and it does not choose kernels for CPUs newer than itself.)
 */
#ifndef DPT_HOST_PANELS_H
#define DPT_HOST_PANELS_H
#include "base/dtype.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dpt__panels {
  int64_t panel; /* columns per panel */
  /* to (columns, rows) = scale * the transpose of from (rows, columns) */
  void (*turn)(void *to, int64_t to_row, const void *from, int64_t from_row, int64_t rows,
               int64_t columns, double scale);
  /* Packs b (k, n), element b[l * b_row + j * b_col], where one of the two strides is 1, in panels:
   * dpt__panels_size elements. */
  void (*pack)(void *to, const void *b, int64_t k, int64_t n, int64_t b_row, int64_t b_col);
  /* c (rows, n) = a (rows, k) * b, or += with add; rows are c_row and a_row elements apart */
  void (*run)(void *c, int64_t c_row, const void *a, int64_t a_row, const void *packed,
              int64_t rows, int64_t k, int64_t n, int add);
} dpt__panels;

extern const dpt__panels dpt__panels_base[DPT_NDTYPE], dpt__panels_avx2[DPT_NDTYPE],
    dpt__panels_avx512[DPT_NDTYPE];

/* Returns this machine's table for matrices of a real or a reduced element type. */
const dpt__panels *dpt__panels_for(int type);

static inline int64_t dpt__panels_size(const dpt__panels *p, int64_t k, int64_t n) {
  return (n + p->panel - 1) / p->panel * p->panel * k;
}

#endif
