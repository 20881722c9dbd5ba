/* blas.c: products of matrices and vectors: checks and shapes, then the product kernel.
 *
 * Invariant: every public function fills one dpt__gemm_args from strides; vectors are matrices with
 * one row or column. A result that overlaps an operand is computed aside.
 */
#include "ops/blas.h"
#include "device/launch.h"
#include "tensor/tensor.h"

#include <stdint.h>

/* An operand seen as batch x row x column. */
typedef struct view {
  const dpt_tensor *t;
  int64_t size[3], step[3];
} view;

static view matrix(const dpt_tensor *t) {
  return (view){t, {1, t->size_[0], t->size_[1]}, {0, t->stride_[0], t->stride_[1]}};
}
static view batches(const dpt_tensor *t) {
  return (view){
      t, {t->size_[0], t->size_[1], t->size_[2]}, {t->stride_[0], t->stride_[1], t->stride_[2]}};
}
static view column(const dpt_tensor *t) {
  return (view){t, {1, t->size_[0], 1}, {0, t->stride_[0], 1}};
}
static view row(const dpt_tensor *t) {
  return (view){t, {1, 1, t->size_[0]}, {0, 1, t->stride_[0]}};
}

static int wrong(const char *fn, const char *name, const dpt_tensor *t, const char *wanted) {
  return dpt__fail("%s: argument '%s' is a %s, wanted %s", fn, name, dpt__describe(t), wanted);
}

static int same_kinds(const char *fn, const dpt_tensor *r, const dpt_tensor *m, const dpt_tensor *a,
                      const dpt_tensor *b) {
  const dpt_tensor *const list[] = {m, a, b};
  static const char *const names[] = {"m", "a", "b"};
  for (int i = 0; i < 3; i++)
    if (list[i]->kind_ != r->kind_)
      return dpt__fail("%s: argument '%s' is a %s, wanted a %s as the result", fn, names[i],
                       dpt__kind_name(list[i]->kind_), dpt__kind_name(r->kind_));
  return 0;
}

static int dims(const char *fn, const dpt_tensor *m, int dm, const dpt_tensor *a, int da,
                const dpt_tensor *b, int db) {
  static const char *const wanted[] = {"", "a vector", "a matrix", "a 3-D tensor"};
  if (a->ndim_ != da) return wrong(fn, "a", a, wanted[da]);
  if (b->ndim_ != db) return wrong(fn, "b", b, wanted[db]);
  if (m->ndim_ != dm) return wrong(fn, "m", m, wanted[dm]);
  return 0;
}

/* c += or = the product of views. */
static int launch(const char *fn, double beta, view c, double alpha, view a, view b) {
  dpt__launch l;
  for (int i = 0; i < 3; i++)
    if (a.size[i] > INT32_MAX || b.size[i] > INT32_MAX)
      return dpt__fail("%s: a dimension of 2^31 elements or more", fn);
  dpt__gemm_args args = {.dtype = dpt__type(c.t),
                         .fixed = dpt_deterministic_get(),
                         .tf32 = dpt_tf32_get(),
                         .m = c.size[1],
                         .n = c.size[2],
                         .k = a.size[2],
                         .batch = c.size[0],
                         .alpha = alpha,
                         .beta = beta,
                         .a_row = a.step[1],
                         .a_col = a.step[2],
                         .a_batch = a.step[0],
                         .b_row = b.step[1],
                         .b_col = b.step[2],
                         .b_batch = b.step[0],
                         .c_row = c.step[1],
                         .c_col = c.step[2],
                         .c_batch = c.step[0]};
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, c.t, &args.c);
  dpt__launch_in(&l, a.t, &args.a);
  dpt__launch_in(&l, b.t, &args.b);
  return dpt__launch_run(&l, gemm, &args);
}

/* Checks shapes, makes r hold what m holds and runs; see_* say how operands look as matrices. */
typedef view see(const dpt_tensor *t);

static int product(const char *fn, dpt_tensor *r, double beta, const dpt_tensor *m, double alpha,
                   const dpt_tensor *a, const dpt_tensor *b, see *see_m, see *see_a, see *see_b) {
  view va = see_a(a), vb = see_b(b), vm = see_m(m);
  if (va.size[0] != vb.size[0] || va.size[2] != vb.size[1] || vm.size[1] != va.size[1] ||
      vm.size[2] != vb.size[2] || (vm.size[0] != va.size[0] && vm.size[0] != 1))
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
    view vc = see_m(c);
    for (int64_t i = 0; i < va.size[0] && !failed && vc.size[0] < va.size[0]; i++) {
      /* addbmm: one product after another into one matrix */
      dpt_tensor ai = {.kind_ = a->kind_}, bi = {.kind_ = b->kind_};
      failed = dpt_select(&ai, a, 0, i) || dpt_select(&bi, b, 0, i) ||
               launch(fn, i ? 1 : beta, vc, alpha, matrix(&ai), matrix(&bi));
      dpt_tensor_free(&ai);
      dpt_tensor_free(&bi);
    }
    if (!failed && vc.size[0] == va.size[0]) failed = launch(fn, beta, vc, alpha, va, vb);
  }
  if (!failed && c == &aside)
    failed = dpt__result(r, aside.ndim_, aside.size_, dpt_tensor_device(a)) || dpt_copy(r, c);
  dpt_tensor_free(&aside);
  return failed;
}

int dpt_addmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
              const dpt_tensor *b) {
  DPT__TRY(same_kinds("addmm", r, m, a, b));
  DPT__TRY(dims("addmm", m, 2, a, 2, b, 2));
  return product("addmm", r, beta, m, alpha, a, b, matrix, matrix, matrix);
}

int dpt_addmv(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
              const dpt_tensor *b) {
  DPT__TRY(same_kinds("addmv", r, m, a, b));
  DPT__TRY(dims("addmv", m, 1, a, 2, b, 1));
  return product("addmv", r, beta, m, alpha, a, b, column, matrix, column);
}

int dpt_addr(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
             const dpt_tensor *b) {
  DPT__TRY(same_kinds("addr", r, m, a, b));
  DPT__TRY(dims("addr", m, 2, a, 1, b, 1));
  return product("addr", r, beta, m, alpha, a, b, matrix, column, row);
}

int dpt_addbmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
               const dpt_tensor *b) {
  DPT__TRY(same_kinds("addbmm", r, m, a, b));
  DPT__TRY(dims("addbmm", m, 2, a, 3, b, 3));
  return product("addbmm", r, beta, m, alpha, a, b, matrix, batches, batches);
}

int dpt_baddbmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
                const dpt_tensor *b) {
  DPT__TRY(same_kinds("baddbmm", r, m, a, b));
  DPT__TRY(dims("baddbmm", m, 3, a, 3, b, 3));
  if (m->size_[0] != a->size_[0]) return wrong("baddbmm", "m", m, "as many products as 'a'");
  return product("baddbmm", r, beta, m, alpha, a, b, batches, batches, batches);
}
