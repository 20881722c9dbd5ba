/* blas.c: products of matrices and vectors: checks operands and shapes, then launches the product
 * kernel.
 *
 * Invariant: every public function fills one dpt__gemm_args from strides; vectors are matrices with
 * one row or column. If the result overlaps an operand, it is computed in a temporary tensor.
 */
#include "ops/blas.h"
#include "device/launch.h"
#include "ops/copy.h"
#include "tensor/tensor.h"

#include <stdint.h>

/* An operand, viewed as batch x row x column. */
typedef struct view {
  const dpt_tensor *t;
  int64_t size[3], stride[3];
} view;

static view blas_as_matrix(const dpt_tensor *t) {
  return (view){t, {1, t->size_[0], t->size_[1]}, {0, t->stride_[0], t->stride_[1]}};
}
static view blas_as_batch(const dpt_tensor *t) {
  return (view){
      t, {t->size_[0], t->size_[1], t->size_[2]}, {t->stride_[0], t->stride_[1], t->stride_[2]}};
}
static view blas_as_column(const dpt_tensor *t) {
  return (view){t, {1, t->size_[0], 1}, {0, t->stride_[0], 1}};
}
static view blas_as_row(const dpt_tensor *t) {
  return (view){t, {1, 1, t->size_[0]}, {0, 1, t->stride_[0]}};
}

/* The shape that an operand must have, and its view as matrices. */
typedef const struct form {
  int ndim;
  const char *wanted;
  view (*see)(const dpt_tensor *t);
} form;
static form matrix = {2, "a matrix", blas_as_matrix}, batch = {3, "a 3-D tensor", blas_as_batch};
static form column = {1, "a vector", blas_as_column}, row = {1, "a vector", blas_as_row};

static int blas_check(const char *fn, const dpt_tensor *r, const char *name, const dpt_tensor *t,
                      form *wanted) {
  if (t->kind_ != r->kind_)
    return dpt__fail("%s: argument '%s' is a %s, wanted a %s like the result", fn, name,
                     dpt__kind_name(t->kind_), dpt__kind_name(r->kind_));
  return t->ndim_ == wanted->ndim ? 0 : dpt__fail_argument(fn, name, t, wanted->wanted);
}

/* Launches c = beta * c + alpha * a * b. */
static int blas_launch(const char *fn, double beta, view c, double alpha, view a, view b) {
  dpt__launch l;
  for (int i = 0; i < 3; i++)
    if (a.size[i] > INT32_MAX || b.size[i] > INT32_MAX)
      return dpt__fail("%s: a dimension has 2^31 elements or more", fn);
  dpt__gemm_args args = {.dtype = dpt__type(c.t),
                         .c_dtype = dpt__type(c.t),
                         .fixed = dpt_deterministic_get(),
                         .tf32 = dpt_tf32_get(),
                         .m = c.size[1],
                         .n = c.size[2],
                         .k = a.size[2],
                         .batch = c.size[0],
                         .alpha = alpha,
                         .beta = beta,
                         .a_row = a.stride[1],
                         .a_col = a.stride[2],
                         .a_batch = a.stride[0],
                         .b_row = b.stride[1],
                         .b_col = b.stride[2],
                         .b_batch = b.stride[0],
                         .c_row = c.stride[1],
                         .c_col = c.stride[2],
                         .c_batch = c.stride[0]};
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, c.t, &args.c);
  dpt__launch_in(&l, a.t, &args.a);
  dpt__launch_in(&l, b.t, &args.b);
  return dpt__launch_run(&l, gemm, &args);
}

/* Checks operands, copies m to r unless beta is 0, and launches the product. */
static int blas_product(const char *fn, dpt_tensor *r, double beta, const dpt_tensor *m,
                        form *m_form, double alpha, const dpt_tensor *a, form *a_form,
                        const dpt_tensor *b, form *b_form) {
  DPT__TRY(blas_check(fn, r, "a", a, a_form) || blas_check(fn, r, "b", b, b_form) ||
           blas_check(fn, r, "m", m, m_form));
  view va = a_form->see(a), vb = b_form->see(b), vm = m_form->see(m);
  int sums = m_form == &matrix && a_form == &batch; /* one m for all products */
  if (va.size[0] != vb.size[0] || va.size[2] != vb.size[1] || vm.size[1] != va.size[1] ||
      vm.size[2] != vb.size[2] || (vm.size[0] != va.size[0] && !sums))
    return dpt__fail("%s: sizes do not fit: m is %s, a is %s, b is %s", fn, dpt__describe_size(m),
                     dpt__describe_size(a), dpt__describe_size(b));
  dpt_tensor aside = {.kind_ = r->kind_};
  dpt_tensor *c = r;
  int failed = 0;
  if (dpt__share_memory(r, a) || dpt__share_memory(r, b)) {
    c = &aside;
    failed = beta != 0 ? dpt_clone(c, m) : dpt__result(c, m->ndim_, m->size_, dpt_tensor_device(m));
  } else if (r != m && !dpt_is_set_to(r, m)) {
    failed =
        dpt__result(r, m->ndim_, m->size_, dpt_tensor_device(a)) || (beta != 0 && dpt_copy(r, m));
  }
  if (!failed) {
    view vc = m_form->see(c);
    for (int64_t i = 0; i < va.size[0] && !failed && vc.size[0] < va.size[0]; i++) {
      /* addbmm: accumulates the products in one matrix, one after another */
      dpt_tensor ai = {.kind_ = a->kind_}, bi = {.kind_ = b->kind_};
      failed = dpt_select(&ai, a, 0, i) || dpt_select(&bi, b, 0, i) ||
               blas_launch(fn, i ? 1 : beta, vc, alpha, blas_as_matrix(&ai), blas_as_matrix(&bi));
      dpt_tensor_free(&ai);
      dpt_tensor_free(&bi);
    }
    if (!failed && vc.size[0] == va.size[0]) failed = blas_launch(fn, beta, vc, alpha, va, vb);
  }
  return c == &aside ? dpt__copy_result(failed, r, &aside) : failed;
}

#define PRODUCT(name, m_form, a_form, b_form)                                                      \
  int dpt_##name(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha,                    \
                 const dpt_tensor *a, const dpt_tensor *b) {                                       \
    return blas_product(#name, r, beta, m, &m_form, alpha, a, &a_form, b, &b_form);                \
  }
PRODUCT(addmm, matrix, matrix, matrix)
PRODUCT(addmv, column, matrix, column)
PRODUCT(addr, matrix, column, row)
PRODUCT(addbmm, matrix, batch, batch)
PRODUCT(baddbmm, batch, batch, batch)
