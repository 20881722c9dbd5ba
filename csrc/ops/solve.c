/* solve.c: systems of equations and factors of symmetric matrices, by LAPACK. */
#include "ops/lapack.h"

#define LIST(...) ((const dpt_tensor *const[]){__VA_ARGS__})

static int check_rows(const char *fn, const dpt_tensor *a, const dpt_tensor *b) {
  char text[2][DPT__TEXT];
  if (a->ndim_ == 2 && b->ndim_ >= 1 && a->size_[0] == b->size_[0]) return 0;
  return dpt__fail("%s: a %s and a %s do not have as many rows", fn, dpt__describe(text[0], a),
                   dpt__describe(text[1], b));
}

static int *pivots(dpt_tensor *t, int64_t n) {
  return dpt_tensor_new(t, DPT_I32, 1, &n) ? NULL : dpt__at(t);
}

int dpt_gesv(dpt_tensor *x, dpt_tensor *lu, const dpt_tensor *b, const dpt_tensor *a) {
  static const char fn[] = "gesv";
  dpt__columns ca = {0}, cb = {0};
  dpt_tensor tp = {0};
  int *p, info = 0;
  DPT__TRY(dpt__same_kinds(fn, 4, LIST(a, b, x, lu)) || dpt__check_square(fn, a) ||
           check_rows(fn, a, b));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || dpt__columns_of(&cb, fn, "b", b, 0) ||
               !(p = pivots(&tp, ca.rows));
  if (!failed) {
    DPT__LAPACK(ca.dtype, gesv)(&ca.rows, &cb.cols, ca.data, &ca.rows, p, cb.data, &cb.rows, &info);
    if (info)
      failed = DPT__INFO(fn, info, "%s: the matrix is singular: pivot %d is 0", fn, info);
    else
      failed = dpt__columns_give(x, &cb, cb.rows, cb.cols, a) ||
               dpt__columns_give(lu, &ca, ca.rows, ca.cols, a);
  }
  dpt__columns_free(&ca);
  dpt__columns_free(&cb);
  dpt_tensor_free(&tp);
  return failed;
}

int dpt_trtrs(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a,
              const char *uplo, const char *trans, const char *diag) {
  static const char fn[] = "trtrs";
  dpt__columns ca = {0}, cb = {0};
  char u, t, d;
  int info = 0;
  DPT__TRY(dpt__same_kinds(fn, 4, LIST(a, b, x, ra)) || dpt__check_square(fn, a) ||
           check_rows(fn, a, b) || dpt__option(fn, "the triangle", uplo, "UL", &u) ||
           dpt__option(fn, "transposition", trans, "NT", &t) ||
           dpt__option(fn, "the diagonal", diag, "NU", &d));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || dpt__columns_of(&cb, fn, "b", b, 0);
  if (!failed) {
    DPT__LAPACK(ca.dtype, trtrs)
    (&u, &t, &d, &ca.rows, &cb.cols, ca.data, &ca.rows, cb.data, &cb.rows, &info);
    if (info)
      failed = DPT__INFO(fn, info, "%s: the matrix is singular: number %d of its diagonal is 0", fn,
                         info);
    else
      failed = dpt__columns_give(x, &cb, cb.rows, cb.cols, a) ||
               dpt__columns_give(ra, &ca, ca.rows, ca.cols, a);
  }
  dpt__columns_free(&ca);
  dpt__columns_free(&cb);
  return failed;
}

int dpt_gels(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a) {
  static const char fn[] = "gels";
  dpt__columns ca = {0}, cb = {0}, work = {0};
  double asked = 0;
  int info = 0, n = -1;
  DPT__TRY(dpt__same_kinds(fn, 4, LIST(a, b, x, ra)) || check_rows(fn, a, b));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || dpt__columns_of(&cb, fn, "b", b, ca.cols);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(ca.dtype, gels)
    ("N", &ca.rows, &ca.cols, &cb.cols, ca.data, &ca.rows, cb.data, &cb.rows,
     query ? &asked : work.data, &n, &info);
    if (info) failed = DPT__INFO(fn, info, "%s: the matrix has not full rank", fn);
    if (query) failed = failed || dpt__work_new(&work, ca.dtype, &asked, &n);
  }
  failed = failed || dpt__columns_give(x, &cb, ca.cols, cb.cols, a) ||
           dpt__columns_give(ra, &ca, ca.rows, ca.cols, a);
  dpt__columns_free(&ca);
  dpt__columns_free(&cb);
  dpt__columns_free(&work);
  return failed;
}

int dpt_inverse(dpt_tensor *r, const dpt_tensor *a) {
  static const char fn[] = "inverse";
  dpt__columns ca = {0}, work = {0};
  dpt_tensor tp = {0};
  double asked = 0;
  int *p, info = 0, n = -1;
  DPT__TRY(dpt__same_kinds(fn, 2, LIST(a, r)) || dpt__check_square(fn, a));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || !(p = pivots(&tp, ca.rows));
  if (!failed) DPT__LAPACK(ca.dtype, getrf)(&ca.rows, &ca.rows, ca.data, &ca.rows, p, &info);
  for (int query = 1; query >= 0 && !failed; query--) {
    if (!info) DPT__LAPACK(ca.dtype, getri)
    (&ca.rows, ca.data, &ca.rows, p, query ? &asked : work.data, &n, &info);
    if (info) failed = DPT__INFO(fn, info, "%s: the matrix is singular: pivot %d is 0", fn, info);
    if (query) failed = failed || dpt__work_new(&work, ca.dtype, &asked, &n);
  }
  failed = failed || dpt__columns_give(r, &ca, ca.rows, ca.cols, a);
  dpt__columns_free(&ca);
  dpt__columns_free(&work);
  dpt_tensor_free(&tp);
  return failed;
}

int dpt_potrf(dpt_tensor *r, const dpt_tensor *a, const char *uplo) {
  static const char fn[] = "potrf";
  dpt__columns c = {0};
  char u;
  int info = 0;
  DPT__TRY(dpt__same_kinds(fn, 2, LIST(a, r)) || dpt__check_square(fn, a) ||
           dpt__option(fn, "the triangle", uplo, "UL", &u));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0);
  if (!failed) DPT__LAPACK(c.dtype, potrf)(&u, &c.rows, c.data, &c.rows, &info);
  if (!failed && info)
    failed = DPT__INFO(fn, info, "%s: the matrix is not positive definite (minor %d)", fn, info);
  if (!failed) dpt__columns_triangle(&c, u, 0);
  failed = failed || dpt__columns_give(r, &c, c.rows, c.cols, a);
  dpt__columns_free(&c);
  return failed;
}

int dpt_potri(dpt_tensor *r, const dpt_tensor *a, const char *uplo) {
  static const char fn[] = "potri";
  dpt__columns c = {0};
  char u;
  int info = 0;
  DPT__TRY(dpt__same_kinds(fn, 2, LIST(a, r)) || dpt__check_square(fn, a) ||
           dpt__option(fn, "the triangle", uplo, "UL", &u));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0);
  if (!failed) DPT__LAPACK(c.dtype, potri)(&u, &c.rows, c.data, &c.rows, &info);
  if (!failed && info)
    failed =
        DPT__INFO(fn, info, "%s: the matrix is singular: number %d of its diagonal is 0", fn, info);
  if (!failed) dpt__columns_triangle(&c, u, 1);
  failed = failed || dpt__columns_give(r, &c, c.rows, c.cols, a);
  dpt__columns_free(&c);
  return failed;
}

int dpt_potrs(dpt_tensor *x, const dpt_tensor *b, const dpt_tensor *a, const char *uplo) {
  static const char fn[] = "potrs";
  dpt__columns ca = {0}, cb = {0};
  char u;
  int info = 0;
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, b, x)) || dpt__check_square(fn, a) ||
           check_rows(fn, a, b) || dpt__option(fn, "the triangle", uplo, "UL", &u));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || dpt__columns_of(&cb, fn, "b", b, 0);
  if (!failed) DPT__LAPACK(ca.dtype, potrs)
  (&u, &ca.rows, &cb.cols, ca.data, &ca.rows, cb.data, &cb.rows, &info);
  failed = failed || dpt__columns_give(x, &cb, cb.rows, cb.cols, a);
  dpt__columns_free(&ca);
  dpt__columns_free(&cb);
  return failed;
}

int dpt_pstrf(dpt_tensor *r, dpt_tensor *piv, const dpt_tensor *a, const char *uplo, double tol) {
  static const char fn[] = "pstrf";
  dpt__columns c = {0}, work = {0};
  dpt_tensor tp = {0};
  char u;
  int *p, info = 0, rank = 0;
  float single = (float)tol;
  DPT__TRY(dpt__same_kinds(fn, 2, LIST(a, r)) || dpt__check_square(fn, a) ||
           dpt__option(fn, "the triangle", uplo, "UL", &u));
  if (dpt__type(piv) != DPT_I32)
    return dpt__fail("%s: the pivots are a %s, wanted an Int tensor", fn,
                     dpt__kind_name(piv->kind_));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || !(p = pivots(&tp, c.rows)) ||
               dpt__columns_new(&work, c.dtype, 2 * c.rows, 1);
  if (!failed) {
    DPT__LAPACK(c.dtype, pstrf)
    (&u, &c.rows, c.data, &c.rows, p, &rank, c.dtype == DPT_F32 ? (void *)&single : (void *)&tol,
     work.data, &info);
    if (info)
      failed = DPT__INFO(fn, info, "%s: the matrix has rank %d or is not positive", fn, rank);
    dpt__columns_triangle(&c, u, 0);
  }
  failed = failed || dpt__columns_give(r, &c, c.rows, c.cols, a) ||
           dpt__result(piv, 1, tp.size_, dpt_tensor_device(a)) || dpt_copy(piv, &tp);
  dpt__columns_free(&c);
  dpt__columns_free(&work);
  dpt_tensor_free(&tp);
  return failed;
}
