/* lapack.h: LAPACK's names, and matrices as it wants them.
 *
 * What must stay true: a column is a fresh host matrix in column-major order; the caller of
 * dpt__columns_* frees it. Device operands are copied to the host, results back.
 */
#ifndef DPT_OPS_LAPACK_H
#define DPT_OPS_LAPACK_H
#include "tensor/tensor.h"

/* rows x cols numbers, column-major without gaps. */
typedef struct dpt__columns {
  int rows, cols;
  dpt_tensor t; /* cols x rows, contiguous, float or double */
} dpt__columns;

/* A copy of a (a vector is one column), with zeros below where rows is more than it has. */
int dpt__columns_of(dpt__columns *out, const char *fn, const char *name, const dpt_tensor *a,
                    int rows);
int dpt__columns_new(dpt__columns *out, int dtype, int rows, int cols);
void dpt__columns_free(dpt__columns *c);
/* r = the first rows x cols of c, on `like`'s device. */
int dpt__columns_give(dpt_tensor *r, const dpt__columns *c, int rows, int cols,
                      const dpt_tensor *like);
static inline void *dpt__columns_data(const dpt__columns *c) { return dpt__at(&c->t); }

/* An option letter out of `letters`; 0 after a sentence. */
char dpt__option(const char *fn, const char *name, const char *text, const char *letters);

#endif
