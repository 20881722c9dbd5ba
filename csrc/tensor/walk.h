/* walk.h: splits operands of equal element count into rows.
 *
 * Invariant: a walk visits element i (in row-major order of each operand's own shape) of all
 * operands together, each element once; a walk over contiguous operands is one row. Operands may
 * have different shapes with equal counts (Torch7's pointwise rule) if their dimensions can be
 * split into common ones. If they cannot (2x3 and 3x2, both transposed), dpt__walk_start returns 1
 * and the caller uses a contiguous copy, which can always be split. A walk is plain data, passed in
 * a kernel's args; only the first ndim entries are set.
 */
#ifndef DPT_TENSOR_WALK_H
#define DPT_TENSOR_WALK_H
#include "base/dtype.h"

enum { DPT__OPERANDS = 4 };

typedef struct dpt__walk {
  int32_t noperand, ndim;                    /* ndim >= 1; the last dimension is the row */
  int64_t size[DPT_MAXDIM];                  /* common sizes after merging and splitting */
  int64_t stride[DPT__OPERANDS][DPT_MAXDIM]; /* in elements of each operand */
  char *data[DPT__OPERANDS];                 /* first element */
  int32_t dtype[DPT__OPERANDS];
  int32_t serial; /* operand 0 has several elements at one address: keep the order */
} dpt__walk;

/* Fills walk for operands of equal count, 1 to DPT__OPERANDS of them, in row-major order.
 * Returns 0, or 1 (without a message) if the shapes have no common split. No elements: one row
 * of length 0. */
int dpt__walk_start(dpt__walk *walk, int n, const dpt_tensor *const *operands);

/* Reorders dimensions so that rows run along the smallest stride of operand 0, for work that may
 * visit elements in any order. If operand 0 has several elements at one address, only sets
 * `serial`. */
void dpt__walk_sort(dpt__walk *walk);
/* Only sets `serial` if operand 0 has several elements at one address; for work whose order
 * matters. */
void dpt__walk_check_serial(dpt__walk *walk);

static inline int64_t dpt__walk_count(const dpt__walk *walk) {
  int64_t n = 1;
  for (int d = 0; d < walk->ndim; d++) n *= walk->size[d];
  return n;
}

/* A cursor over rows, from any element on:
 *
 *   dpt__cursor c;
 *   dpt__walk_at(walk, &c, first, count);
 *   while (dpt__walk_row(walk, &c)) row(c.n, c.data[0], walk->stride[0][walk->ndim - 1], ...);
 *
 * Two threads may walk two parts of one walk. c.n is at most the row length. */
typedef struct dpt__cursor {
  int64_t n, left;
  int64_t at[DPT_MAXDIM];
  char *data[DPT__OPERANDS];
} dpt__cursor;
void dpt__walk_at(const dpt__walk *walk, dpt__cursor *cursor, int64_t first, int64_t count);
int dpt__walk_row(const dpt__walk *walk, dpt__cursor *cursor);

/* Returns nonzero if writing r while reading a could read a written element: they share memory and
 * are not identical element by element. May return nonzero for operands that only interleave. */
int dpt__overlap(const dpt_tensor *r, const dpt_tensor *a);

#endif
