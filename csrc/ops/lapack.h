/* lapack.h: the state of one LAPACK operation, with its operands in LAPACK's format.
 *
 *   dpt__lapack_call l;
 *   DPT__LAPACK_BEGIN(&l, "potrf", a, r);
 *   dpt__columns *c = dpt__lapack_in(&l, "a", a, 0);
 *   if (!l.status) DPT__LAPACK(&l, potrf)("U", &c->rows, c->data, &c->rows, &l.info);
 *   dpt__lapack_check(&l, "the matrix is not positive definite (minor %d)", l.info);
 *   dpt__lapack_out(&l, r, c, c->rows, c->cols);
 *   return dpt__lapack_end(&l);
 *
 * Invariant: a dpt__columns is a new host matrix in column-major order that lives until the
 * operation ends. After the first failure every later step is a no-op, and columns are 0 x 0.
 * Operands on devices are copied to the host and results are copied back, so these operations wait
 * for the device.
 */
#ifndef DPT_OPS_LAPACK_H
#define DPT_OPS_LAPACK_H
#include "ops/blas_library.h"
#include "tensor/tensor.h"

/* A rows x cols matrix, column-major without gaps. */
typedef struct dpt__columns {
  int rows, cols;
  dpt_tensor t; /* cols x rows, contiguous */
  void *data;
} dpt__columns;

enum { DPT__LAPACK_COLUMNS = 6 };

typedef struct dpt__lapack_call {
  const char *fn;
  int status;
  int info;         /* the routine's info */
  int type, device; /* the operands'; type is DPT_F32 or DPT_F64 after the first dpt__lapack_in */
  int n;
  dpt__columns columns[DPT__LAPACK_COLUMNS];
} dpt__lapack_call;

/* Opens LAPACK. Fails unless the n tensors of `list`, of which the first is an operand, have one
 * kind. */
void dpt__lapack_begin(dpt__lapack_call *call, const char *fn, int n,
                       const dpt_tensor *const *list);
#define DPT__LAPACK_BEGIN(call, fn, ...)                                                           \
  dpt__lapack_begin((call), (fn), sizeof((const dpt_tensor *[]){__VA_ARGS__}) / sizeof(void *),    \
                    (const dpt_tensor *const[]){__VA_ARGS__})
/* Frees all columns and returns the status. */
int dpt__lapack_end(dpt__lapack_call *call);

/* Selects the routine for the operands' type: DPT__LAPACK(&call, gesv)(&n, ...). Not to be called
 * after a failure. */
#define DPT__LAPACK(call, name) (dpt__lapack[(call)->type != DPT_F32].name)

/* Returns a copy of argument `name` (a vector is one column), padded with zeros to at least `rows`
 * rows. */
dpt__columns *dpt__lapack_in(dpt__lapack_call *call, const char *name, const dpt_tensor *a,
                             int rows);
/* Returns a copy of argument `name`; fails unless it is a square matrix. */
dpt__columns *dpt__lapack_in_square(dpt__lapack_call *call, const char *name, const dpt_tensor *a);
/* Return a new matrix of zeros, and a new vector of n ints. */
dpt__columns *dpt__lapack_new(dpt__lapack_call *call, int rows, int cols);
dpt__columns *dpt__lapack_new_ints(dpt__lapack_call *call, int n);
/* Returns the letter in `text`, the value of argument `name`; fails unless it is one of
 * `letters`. */
char dpt__lapack_letter(dpt__lapack_call *call, const char *name, const char *text,
                        const char *letters);
/* Fails unless all numbers are finite (in the triangle U or L; A: everywhere). With other numbers,
 * iterative routines may never end or may exceed their memory. */
void dpt__lapack_finite(dpt__lapack_call *call, const dpt__columns *c, char triangle);

/* A workspace for routines that are called twice: to query its size, which they write to its first
 * number, and to compute:
 *
 *   dpt__work work = {0};
 *   while (dpt__lapack_work(&call, &work)) DPT__LAPACK(...)(..., work.data, &work.n, &call.info);
 */
typedef struct dpt__work {
  int calls, n;
  double queried_size;
  void *data;
} dpt__work;
int dpt__lapack_work(dpt__lapack_call *call, dpt__work *work);

/* Fails if info is not 0. A negative info means that LAPACK rejects its argument -info; for a
 * positive one, `format` gives the message. */
void dpt__lapack_check(dpt__lapack_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears elements above (uplo 'L') or below ('U') the diagonal, or mirrors the triangle there. */
void dpt__columns_triangle(dpt__lapack_call *call, dpt__columns *c, char uplo, int mirror);

/* Set r to the first rows x cols of c, to the first column of c as a vector, and to the transpose
 * of c. */
void dpt__lapack_out(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c, int rows,
                     int cols);
void dpt__lapack_out_vector(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c);
void dpt__lapack_out_transposed(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c);

#endif
