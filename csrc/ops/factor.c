/* factor.c: eigenvalues, singular values and orthogonal factors, by LAPACK. */
#include "ops/lapack.h"

static int factor_smaller(int a, int b) { return a < b ? a : b; }

int dpt_symeig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job,
               const char *uplo) {
  dpt__lapack_call l;
  dpt__work work = {0};
  DPT__LAPACK_BEGIN(&l, "symeig", a, e, v);
  char j = dpt__lapack_letter(&l, "job", job, "NV");
  char u = dpt__lapack_letter(&l, "uplo", uplo, "UL");
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a), *w = dpt__lapack_new(&l, c->rows, 1);
  dpt__lapack_finite(&l, c, u);
  while (dpt__lapack_work(&l, &work)) DPT__LAPACK(&l, syev)
  (&j, &u, &c->rows, c->data, &c->rows, w->data, work.data, &work.n, &l.info);
  dpt__lapack_check(&l, "%d eigenvalues did not converge", l.info);
  dpt__lapack_out_vector(&l, e, w);
  dpt__lapack_out(&l, v, c, c->rows, c->cols);
  return dpt__lapack_end(&l);
}

int dpt_eig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job) {
  dpt__lapack_call l;
  dpt__work work = {0};
  int one = 1;
  DPT__LAPACK_BEGIN(&l, "eig", a, e, v);
  char j = dpt__lapack_letter(&l, "job", job, "NV");
  dpt__columns *c = dpt__lapack_in_square(&l, "a", a), *w = dpt__lapack_new(&l, c->rows, 2);
  dpt__columns *right = dpt__lapack_new(&l, c->rows, c->rows);
  char *im = (char *)w->data + (size_t)c->rows * dpt__dtype_size(l.type);
  dpt__lapack_finite(&l, c, 'A');
  while (dpt__lapack_work(&l, &work)) DPT__LAPACK(&l, geev)
  ("N", &j, &c->rows, c->data, &c->rows, w->data, im, NULL, &one, right->data, &c->rows, work.data,
   &work.n, &l.info);
  dpt__lapack_check(&l, "%d eigenvalues did not converge", l.info);
  dpt__lapack_out(&l, e, w, c->rows, 2);
  if (j == 'V') dpt__lapack_out(&l, v, right, c->rows, c->rows);
  return dpt__lapack_end(&l);
}

int dpt_svd(dpt_tensor *u, dpt_tensor *s, dpt_tensor *v, const dpt_tensor *a, const char *job) {
  dpt__lapack_call l;
  dpt__work work = {0};
  DPT__LAPACK_BEGIN(&l, "svd", a, u, s, v);
  char j = dpt__lapack_letter(&l, "job", job, "SA");
  dpt__columns *c = dpt__lapack_in(&l, "a", a, 0);
  int k = factor_smaller(c->rows, c->cols), wide = j == 'A' ? c->rows : k,
      tall = j == 'A' ? c->cols : k;
  dpt__columns *cu = dpt__lapack_new(&l, c->rows, wide), *cs = dpt__lapack_new(&l, k, 1);
  dpt__columns *vt = dpt__lapack_new(&l, tall, c->cols);
  dpt__lapack_finite(&l, c, 'A');
  while (dpt__lapack_work(&l, &work)) DPT__LAPACK(&l, gesvd)
  (&j, &j, &c->rows, &c->cols, c->data, &c->rows, cs->data, cu->data, &cu->rows, vt->data,
   &vt->rows, work.data, &work.n, &l.info);
  dpt__lapack_check(&l, "%d superdiagonals did not converge", l.info);
  dpt__lapack_out(&l, u, cu, c->rows, wide);
  dpt__lapack_out_vector(&l, s, cs);
  dpt__lapack_out_transposed(&l, v, vt);
  return dpt__lapack_end(&l);
}

/* Factors c in place: reflectors below the diagonal, R on and above it. Returns the reflectors'
 * factors. */
static dpt__columns *factor_run(dpt__lapack_call *l, dpt__columns *c) {
  dpt__work work = {0};
  dpt__columns *tau = dpt__lapack_new(l, factor_smaller(c->rows, c->cols), 1);
  while (dpt__lapack_work(l, &work)) DPT__LAPACK(l, geqrf)
  (&c->rows, &c->cols, c->data, &c->rows, tau->data, work.data, &work.n, &l->info);
  dpt__lapack_check(l, "geqrf failed: %d", l->info);
  return tau;
}

/* Replaces the first `cols` columns of c, reflectors, with columns of the orthogonal matrix. */
static void factor_orthogonal(dpt__lapack_call *l, dpt__columns *c, int cols,
                              const dpt__columns *tau) {
  dpt__work work = {0};
  int k = factor_smaller(tau->rows, cols);
  while (dpt__lapack_work(l, &work)) DPT__LAPACK(l, orgqr)
  (&c->rows, &cols, &k, c->data, &c->rows, tau->data, work.data, &work.n, &l->info);
  dpt__lapack_check(l, "orgqr failed: %d", l->info);
}

int dpt_qr(dpt_tensor *q, dpt_tensor *r, const dpt_tensor *a) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "qr", a, q, r);
  dpt__columns *c = dpt__lapack_in(&l, "a", a, 0), *tau = factor_run(&l, c);
  dpt__columns *upper = dpt__lapack_new(&l, c->rows, c->cols);
  int k = factor_smaller(c->rows, c->cols);
  if (!l.status) l.status = dpt_copy(&upper->t, &c->t);
  dpt__columns_triangle(&l, upper, 'U', 0);
  factor_orthogonal(&l, c, k, tau);
  dpt__lapack_out(&l, q, c, c->rows, k);
  dpt__lapack_out(&l, r, upper, k, c->cols);
  return dpt__lapack_end(&l);
}

int dpt_geqrf(dpt_tensor *r, dpt_tensor *tau, const dpt_tensor *a) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "geqrf", a, r, tau);
  dpt__columns *c = dpt__lapack_in(&l, "a", a, 0), *t = factor_run(&l, c);
  dpt__lapack_out(&l, r, c, c->rows, c->cols);
  dpt__lapack_out_vector(&l, tau, t);
  return dpt__lapack_end(&l);
}

static dpt__columns *factor_tau_in(dpt__lapack_call *l, const dpt_tensor *tau,
                                   const dpt__columns *c) {
  dpt__columns *t = dpt__lapack_in(l, "tau", tau, 0);
  if (!l->status && (t->cols != 1 || t->rows > factor_smaller(c->rows, c->cols)))
    l->status = dpt__fail("%s: argument 'tau' has %d elements, wanted a vector no longer than the "
                          "smaller size of a, %dx%d",
                          l->fn, t->rows * t->cols, c->rows, c->cols);
  return t;
}

int dpt_orgqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau) {
  dpt__lapack_call l;
  DPT__LAPACK_BEGIN(&l, "orgqr", a, r, tau);
  dpt__columns *c = dpt__lapack_in(&l, "a", a, 0);
  int cols = factor_smaller(c->rows, c->cols);
  factor_orthogonal(&l, c, cols, factor_tau_in(&l, tau, c));
  dpt__lapack_out(&l, r, c, c->rows, cols);
  return dpt__lapack_end(&l);
}

int dpt_ormqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau, const dpt_tensor *c,
              const char *side, const char *trans) {
  dpt__lapack_call l;
  dpt__work work = {0};
  DPT__LAPACK_BEGIN(&l, "ormqr", a, r, tau, c);
  char s = dpt__lapack_letter(&l, "side", side, "LR");
  char x = dpt__lapack_letter(&l, "trans", trans, "NT");
  dpt__columns *ca = dpt__lapack_in(&l, "a", a, 0), *t = factor_tau_in(&l, tau, ca);
  dpt__columns *cc = dpt__lapack_in(&l, "c", c, 0);
  if (!l.status && ca->rows != (s == 'L' ? cc->rows : cc->cols))
    l.status = dpt__fail("ormqr: a has %d rows, which does not fit c of size %dx%d on side %c",
                         ca->rows, cc->rows, cc->cols, s);
  while (dpt__lapack_work(&l, &work)) DPT__LAPACK(&l, ormqr)
  (&s, &x, &cc->rows, &cc->cols, &t->rows, ca->data, &ca->rows, t->data, cc->data, &cc->rows,
   work.data, &work.n, &l.info);
  dpt__lapack_check(&l, "ormqr failed: %d", l.info);
  dpt__lapack_out(&l, r, cc, cc->rows, cc->cols);
  return dpt__lapack_end(&l);
}
