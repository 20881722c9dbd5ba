/* solve.c: linear systems and factors of symmetric matrices, by LAPACK. */
#include "ops/lapack.h"

#include "base/element.h"

#include <math.h>

/* Returns b, which must have as many rows as a, padded with zeros if a has more columns. */
static dpt__columns *solve_right_side(dpt__lapack_call *l, const dpt_tensor *b, const dpt_tensor *a,
                                      int rows) {
  if (!l->status && (a->ndim_ != 2 || b->ndim_ < 1 || a->size_[0] != b->size_[0]))
    l->status = dpt__fail("%s: got a %s and a %s, wanted matrices with the same number of rows",
                          l->fn, dpt__describe(a), dpt__describe(b));
  return dpt__lapack_in(l, "b", b, rows);
}

int dpt_gesv(dpt_tensor *x, dpt_tensor *lu, const dpt_tensor *b, const dpt_tensor *a) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "gesv", a, b, x, lu);
  dpt__columns *ca = dpt__lapack_in_square(&l, "a", a), *cb = solve_right_side(&l, b, a, 0);
  dpt__columns *p = dpt__lapack_new_ints(&l, ca->rows);
  if (!l.status) DPT__LAPACK(&l, gesv)
  (&ca->rows, &cb->cols, ca->data, &ca->rows, p->data, cb->data, &cb->rows, &l.info);
  dpt__lapack_check(&l, "the matrix is singular: pivot %d is 0", l.info);
  dpt__lapack_out(&l, x, cb, cb->rows, cb->cols);
  dpt__lapack_out(&l, lu, ca, ca->rows, ca->cols);
  return dpt__lapack_end(&l);
}

int dpt_trtrs(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a,
              const char *uplo, const char *trans, const char *diag) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "trtrs", a, b, x, ra);
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  char t = dpt__lapack_letter(&l, "trans", trans, "NT");
  char d = dpt__lapack_letter(&l, "diag", diag, "NU");
  dpt__columns *ca = dpt__lapack_in_square(&l, "a", a), *cb = solve_right_side(&l, b, a, 0);
  if (!l.status) DPT__LAPACK(&l, trtrs)
  (&u, &t, &d, &ca->rows, &cb->cols, ca->data, &ca->rows, cb->data, &cb->rows, &l.info);
  dpt__lapack_check(&l, "the matrix is singular: diagonal element %d is 0", l.info);
  dpt__lapack_out(&l, x, cb, cb->rows, cb->cols);
  dpt__lapack_out(&l, ra, ca, ca->rows, ca->cols);
  return dpt__lapack_end(&l);
}

int dpt_gels(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a) {
  dpt__lapack_call l;
  dpt__work work = {0};
  DPT__LAPACK_BEGIN(&l, "gels", a, b, x, ra);
  dpt__columns *ca = dpt__lapack_in(&l, "a", a, 0), *cb = solve_right_side(&l, b, a, ca->cols);
  while (dpt__lapack_work(&l, &work)) DPT__LAPACK(&l, gels)
  ("N", &ca->rows, &ca->cols, &cb->cols, ca->data, &ca->rows, cb->data, &cb->rows, work.data,
   &work.n, &l.info);
  dpt__lapack_check(&l, "the matrix does not have full rank");
  dpt__lapack_out(&l, x, cb, ca->cols, cb->cols);
  dpt__lapack_out(&l, ra, ca, ca->rows, ca->cols);
  return dpt__lapack_end(&l);
}

int dpt_inverse(dpt_tensor *r, const dpt_tensor *a) {
  dpt__lapack_call l;
  dpt__work work = {0};
  DPT__LAPACK_BEGIN(&l, "inverse", a, r);
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a), *p = dpt__lapack_new_ints(&l, c->rows);
  if (!l.status) DPT__LAPACK(&l, getrf)(&c->rows, &c->rows, c->data, &c->rows, p->data, &l.info);
  while (dpt__lapack_work(&l, &work))
    DPT__LAPACK(&l, getri)(&c->rows, c->data, &c->rows, p->data, work.data, &work.n, &l.info);
  dpt__lapack_check(&l, "the matrix is singular: pivot %d is 0", l.info);
  dpt__lapack_out(&l, r, c, c->rows, c->cols);
  return dpt__lapack_end(&l);
}

/* Returns the position (from 1) of the first NaN on the diagonal, or 0 if there is none. */
static int solve_first_nan(const dpt__lapack_call *call, const dpt__columns *c) {
  size_t stride = ((size_t)c->rows + 1) * dpt__dtype_size(call->type);
  for (int i = 0; i < c->rows; i++)
    if (isnan(dpt__get_element(call->type, (const char *)c->data + (size_t)i * stride)))
      return i + 1;
  return 0;
}

int dpt_potrf(dpt_tensor *r, const dpt_tensor *a, const char *uplo) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "potrf", a, r);
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a);
  if (!l.status) DPT__LAPACK(&l, potrf)(&u, &c->rows, c->data, &c->rows, &l.info);
  if (!l.status && !l.info) l.info = solve_first_nan(&l, c); /* not every library checks for NaN */
  dpt__lapack_check(&l, "the matrix is not positive definite (minor %d)", l.info);
  dpt__columns_triangle(&l, c, u, 0);
  dpt__lapack_out(&l, r, c, c->rows, c->cols);
  return dpt__lapack_end(&l);
}

int dpt_potri(dpt_tensor *r, const dpt_tensor *a, const char *uplo) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "potri", a, r);
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a);
  if (!l.status) DPT__LAPACK(&l, potri)(&u, &c->rows, c->data, &c->rows, &l.info);
  dpt__lapack_check(&l, "the matrix is singular: diagonal element %d is 0", l.info);
  dpt__columns_triangle(&l, c, u, 1);
  dpt__lapack_out(&l, r, c, c->rows, c->cols);
  return dpt__lapack_end(&l);
}

int dpt_potrs(dpt_tensor *x, const dpt_tensor *b, const dpt_tensor *a, const char *uplo) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "potrs", a, b, x);
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  dpt__columns *ca = dpt__lapack_in_square(&l, "a", a), *cb = solve_right_side(&l, b, a, 0);
  if (!l.status) DPT__LAPACK(&l, potrs)
  (&u, &ca->rows, &cb->cols, ca->data, &ca->rows, cb->data, &cb->rows, &l.info);
  dpt__lapack_check(&l, "potrs failed: %d", l.info);
  dpt__lapack_out(&l, x, cb, cb->rows, cb->cols);
  return dpt__lapack_end(&l);
}

int dpt_pstrf(dpt_tensor *r, dpt_tensor *piv, const dpt_tensor *a, const char *uplo, double tol) {
  dpt__lapack_call l;
  int rank = 0;
  double limit = 0;
  DPT__LAPACK_BEGIN(&l, "pstrf", a, r);
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  if (!l.status && dpt__type(piv) != DPT_I32)
    l.status = dpt__fail("pstrf: the pivots are a %s, wanted a torch.IntTensor",
                         dpt__kind_name(piv->kind_));
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a), *p = dpt__lapack_new_ints(&l, c->rows);
  dpt__columns *work = dpt__lapack_new(&l, 2 * c->rows, 1);
  dpt__put_element(l.type, &limit, tol);
  if (!l.status) DPT__LAPACK(&l, pstrf)
  (&u, &c->rows, c->data, &c->rows, p->data, &rank, &limit, work->data, &l.info);
  dpt__lapack_check(&l, "the matrix has rank %d or is not positive semidefinite", rank);
  dpt__columns_triangle(&l, c, u, 0);
  dpt__lapack_out(&l, r, c, c->rows, c->cols);
  dpt__lapack_out_vector(&l, piv, p);
  return dpt__lapack_end(&l);
}
