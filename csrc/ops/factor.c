/* factor.c: eigenvalues, singular values and orthogonal factors, by LAPACK. */
#include "ops/lapack.h"

#define LIST(...) ((const dpt_tensor *const[]){__VA_ARGS__})

static int least(int a, int b) { return a < b ? a : b; }

int dpt_symeig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job,
               const char *uplo) {
  static const char fn[] = "symeig";
  dpt__columns c = {0}, w = {0}, work = {0};
  double asked = 0;
  char j, u;
  int info = 0, n = -1;
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, e, v)) || dpt__check_square(fn, a) ||
           dpt__option(fn, "the job", job, "NV", &j) ||
           dpt__option(fn, "the triangle", uplo, "UL", &u));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || dpt__check_finite(fn, &c, u) ||
               dpt__columns_new(&w, c.dtype, c.rows, 1);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(c.dtype, syev)
    (&j, &u, &c.rows, c.data, &c.rows, w.data, query ? &asked : work.data, &n, &info);
    if (info) failed = DPT__INFO(fn, info, "%s: %d eigenvalues did not converge", fn, info);
    if (query) failed = failed || dpt__work_new(&work, c.dtype, &asked, &n);
  }
  failed =
      failed || dpt__columns_give_vector(e, &w, a) || dpt__columns_give(v, &c, c.rows, c.cols, a);
  dpt__columns_free(&c);
  dpt__columns_free(&w);
  dpt__columns_free(&work);
  return failed;
}

int dpt_eig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job) {
  static const char fn[] = "eig";
  dpt__columns c = {0}, w = {0}, right = {0}, work = {0};
  double asked = 0;
  char j;
  int info = 0, n = -1, one = 1;
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, e, v)) || dpt__check_square(fn, a) ||
           dpt__option(fn, "the job", job, "NV", &j));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || dpt__check_finite(fn, &c, 'A') ||
               dpt__columns_new(&w, c.dtype, c.rows, 2) ||
               dpt__columns_new(&right, c.dtype, c.rows, c.rows);
  for (int query = 1; query >= 0 && !failed; query--) {
    char *im = (char *)w.data + (size_t)c.rows * dpt__dtype_size(c.dtype);
    DPT__LAPACK(c.dtype, geev)
    ("N", &j, &c.rows, c.data, &c.rows, w.data, im, NULL, &one, right.data, &c.rows,
     query ? &asked : work.data, &n, &info);
    if (info) failed = DPT__INFO(fn, info, "%s: %d eigenvalues did not converge", fn, info);
    if (query) failed = failed || dpt__work_new(&work, c.dtype, &asked, &n);
  }
  failed = failed || dpt__columns_give(e, &w, c.rows, 2, a);
  if (j == 'V') failed = failed || dpt__columns_give(v, &right, c.rows, c.rows, a);
  dpt__columns_free(&c);
  dpt__columns_free(&w);
  dpt__columns_free(&right);
  dpt__columns_free(&work);
  return failed;
}

int dpt_svd(dpt_tensor *u, dpt_tensor *s, dpt_tensor *v, const dpt_tensor *a, const char *job) {
  static const char fn[] = "svd";
  dpt__columns c = {0}, cu = {0}, cs = {0}, vt = {0}, work = {0};
  double asked = 0;
  char j;
  int info = 0, n = -1;
  DPT__TRY(dpt__same_kinds(fn, 4, LIST(a, u, s, v)) || dpt__option(fn, "the job", job, "SA", &j));
  DPT__TRY(dpt__lapack_open(fn));
  DPT__TRY(dpt__columns_of(&c, fn, "a", a, 0));
  int k = least(c.rows, c.cols), wide = j == 'A' ? c.rows : k, tall = j == 'A' ? c.cols : k;
  int failed = dpt__check_finite(fn, &c, 'A') || dpt__columns_new(&cu, c.dtype, c.rows, wide) ||
               dpt__columns_new(&cs, c.dtype, k, 1) || dpt__columns_new(&vt, c.dtype, tall, c.cols);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(c.dtype, gesvd)
    (&j, &j, &c.rows, &c.cols, c.data, &c.rows, cs.data, cu.data, &cu.rows, vt.data, &vt.rows,
     query ? &asked : work.data, &n, &info);
    if (info) failed = DPT__INFO(fn, info, "%s: %d superdiagonals did not converge", fn, info);
    if (query) failed = failed || dpt__work_new(&work, c.dtype, &asked, &n);
  }
  /* vt in column-major order is v in row-major order. */
  failed = failed || dpt__columns_give(u, &cu, c.rows, wide, a) ||
           dpt__columns_give_vector(s, &cs, a) ||
           dpt__result(v, 2, vt.t.size_, dpt_tensor_device(a)) || dpt_copy(v, &vt.t);
  dpt__columns_free(&c);
  dpt__columns_free(&cu);
  dpt__columns_free(&cs);
  dpt__columns_free(&vt);
  dpt__columns_free(&work);
  return failed;
}

/* c becomes the reflectors of a below, R on and above the diagonal. */
static int factor(const char *fn, dpt__columns *c, dpt__columns *tau) {
  dpt__columns work = {0};
  double asked = 0;
  int info = 0, n = -1, failed = dpt__columns_new(tau, c->dtype, least(c->rows, c->cols), 1);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(c->dtype, geqrf)
    (&c->rows, &c->cols, c->data, &c->rows, tau->data, query ? &asked : work.data, &n, &info);
    if (info) failed = dpt__lapack_rejects(fn, info);
    if (query) failed = failed || dpt__work_new(&work, c->dtype, &asked, &n);
  }
  dpt__columns_free(&work);
  return failed;
}

/* The first `cols` columns of c, reflectors, become columns of the orthogonal matrix. */
static int orthogonal(const char *fn, dpt__columns *c, int cols, const dpt__columns *tau) {
  dpt__columns work = {0};
  double asked = 0;
  int info = 0, n = -1, failed = 0, k = least(tau->rows, cols);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(c->dtype, orgqr)
    (&c->rows, &cols, &k, c->data, &c->rows, tau->data, query ? &asked : work.data, &n, &info);
    if (info) failed = dpt__lapack_rejects(fn, info);
    if (query) failed = failed || dpt__work_new(&work, c->dtype, &asked, &n);
  }
  dpt__columns_free(&work);
  return failed;
}

int dpt_qr(dpt_tensor *q, dpt_tensor *r, const dpt_tensor *a) {
  static const char fn[] = "qr";
  dpt__columns c = {0}, upper = {0}, tau = {0};
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, q, r)));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || factor(fn, &c, &tau) ||
               dpt__columns_new(&upper, c.dtype, c.rows, c.cols);
  int k = least(c.rows, c.cols);
  if (!failed) failed = dpt_copy(&upper.t, &c.t);
  if (!failed) dpt__columns_triangle(&upper, 'U', 0);
  failed = failed || orthogonal(fn, &c, k, &tau) || dpt__columns_give(q, &c, c.rows, k, a) ||
           dpt__columns_give(r, &upper, k, c.cols, a);
  dpt__columns_free(&c);
  dpt__columns_free(&upper);
  dpt__columns_free(&tau);
  return failed;
}

int dpt_geqrf(dpt_tensor *r, dpt_tensor *tau, const dpt_tensor *a) {
  static const char fn[] = "geqrf";
  dpt__columns c = {0}, t = {0};
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, r, tau)));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || factor(fn, &c, &t) ||
               dpt__columns_give(r, &c, c.rows, c.cols, a) || dpt__columns_give_vector(tau, &t, a);
  dpt__columns_free(&c);
  dpt__columns_free(&t);
  return failed;
}

static int check_tau(const char *fn, const dpt__columns *c, const dpt__columns *tau) {
  if (tau->cols == 1 && tau->rows <= least(c->rows, c->cols)) return 0;
  return dpt__fail("%s: tau has %d numbers, a is %dx%d", fn, tau->rows * tau->cols, c->rows,
                   c->cols);
}

int dpt_orgqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau) {
  static const char fn[] = "orgqr";
  dpt__columns c = {0}, t = {0};
  DPT__TRY(dpt__same_kinds(fn, 3, LIST(a, r, tau)));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&c, fn, "a", a, 0) || dpt__columns_of(&t, fn, "tau", tau, 0) ||
               check_tau(fn, &c, &t);
  int cols = least(c.rows, c.cols);
  failed = failed || orthogonal(fn, &c, cols, &t) || dpt__columns_give(r, &c, c.rows, cols, a);
  dpt__columns_free(&c);
  dpt__columns_free(&t);
  return failed;
}

int dpt_ormqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau, const dpt_tensor *c,
              const char *side, const char *trans) {
  static const char fn[] = "ormqr";
  dpt__columns ca = {0}, cc = {0}, t = {0}, work = {0};
  double asked = 0;
  char s, x;
  int info = 0, n = -1;
  DPT__TRY(dpt__same_kinds(fn, 4, LIST(a, r, tau, c)) ||
           dpt__option(fn, "the side", side, "LR", &s) ||
           dpt__option(fn, "transposition", trans, "NT", &x));
  DPT__TRY(dpt__lapack_open(fn));
  int failed = dpt__columns_of(&ca, fn, "a", a, 0) || dpt__columns_of(&t, fn, "tau", tau, 0) ||
               dpt__columns_of(&cc, fn, "c", c, 0) || check_tau(fn, &ca, &t);
  if (!failed && ca.rows != (s == 'L' ? cc.rows : cc.cols))
    failed = dpt__fail("%s: a has %d rows and does not fit c, %dx%d, on side %c", fn, ca.rows,
                       cc.rows, cc.cols, s);
  for (int query = 1; query >= 0 && !failed; query--) {
    DPT__LAPACK(ca.dtype, ormqr)
    (&s, &x, &cc.rows, &cc.cols, &t.rows, ca.data, &ca.rows, t.data, cc.data, &cc.rows,
     query ? &asked : work.data, &n, &info);
    if (info) failed = dpt__lapack_rejects(fn, info);
    if (query) failed = failed || dpt__work_new(&work, ca.dtype, &asked, &n);
  }
  failed = failed || dpt__columns_give(r, &cc, cc.rows, cc.cols, a);
  dpt__columns_free(&ca);
  dpt__columns_free(&cc);
  dpt__columns_free(&t);
  dpt__columns_free(&work);
  return failed;
}
