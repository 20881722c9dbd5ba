/* lapack.h: LAPACK's routines, and matrices as they want them.
 *
 * Invariant: a dpt__columns is a fresh host matrix in column-major order; whoever made it frees it.
 * Operands on devices are copied to the host, results back: these operations wait.
 */
#ifndef DPT_OPS_LAPACK_H
#define DPT_OPS_LAPACK_H
#include "ops/blas_library.h"
#include "tensor/tensor.h"

/* The routine for an element type: DPT__LAPACK(dtype, gesv)(&n, ...); after dpt__lapack_open. */
#define DPT__LAPACK(dtype, name) (dpt__lapack[(dtype) != DPT_F32].name)

/* rows x cols numbers, column-major without gaps. */
typedef struct dpt__columns {
  int rows, cols, dtype;
  dpt_tensor t; /* cols x rows, contiguous */
  void *data;
} dpt__columns;

/* All zero. */
int dpt__columns_new(dpt__columns *out, int dtype, int rows, int cols);
/* A copy of argument `name` (a vector is one column), with zeros below where it has fewer rows. */
int dpt__columns_of(dpt__columns *out, const char *fn, const char *name, const dpt_tensor *a,
                    int rows);
void dpt__columns_free(dpt__columns *c);
/* r = the first rows x cols of c (or its first column as a vector), beside the operand `like`. */
int dpt__columns_give(dpt_tensor *r, const dpt__columns *c, int rows, int cols,
                      const dpt_tensor *like);
int dpt__columns_give_vector(dpt_tensor *r, const dpt__columns *c, const dpt_tensor *like);
/* Clears what lies above (upper 'L') or below ('U') the diagonal, or mirrors the triangle there. */
void dpt__columns_triangle(dpt__columns *c, char uplo, int mirror);

/* A workspace of the size that a query left in *asked, as a column; *n: its numbers. */
int dpt__work_new(dpt__columns *work, int dtype, const void *asked, int *n);

/* Fails unless all operands and results are of one kind. */
int dpt__same_kinds(const char *fn, int n, const dpt_tensor *const *list);
int dpt__check_square(const char *fn, const dpt_tensor *a);

/* Fails unless all numbers are finite (of the triangle U or L; A: all): what iterates on others
 * ends nowhere, or beyond its memory. */
int dpt__check_finite(const char *fn, const dpt__columns *c, char triangle);

/* LAPACK's info, which is not 0: below, it rejects argument -info; above, what the message says. */
int dpt__lapack_rejects(const char *fn, int info);
#define DPT__INFO(fn, info, ...)                                                                   \
  ((info) < 0 ? dpt__lapack_rejects(fn, info) : dpt__fail(__VA_ARGS__))

/* One letter out of `letters` in *out. */
int dpt__option(const char *fn, const char *name, const char *text, const char *letters, char *out);

#endif
