/* reduce.c: reductions: checks and shapes, then the kernels of reduce.h.
 *
 * Invariant: the host's kernel runs immediately and writes a number for the caller to host memory.
 * A device's kernel writes it to an element, and reading that waits for the operand's stream alone.
 */
#include "ops/reduce.h"
#include "base/element.h"
#include "device/launch.h"
#include "ops/map.h"
#include "tensor/tensor.h"

#include <string.h>

static const struct {
  const char *name;
  char types;
} table[] = {
#define X(name, types) {#name, types},
#include "ops/reduce.def"
#undef X
};
_Static_assert(sizeof table / sizeof *table == DPT__NREDUCE, "one line for each reduction");

int dpt_reduction(const char *name) {
  for (int i = 0; i < DPT__NREDUCE; i++)
    if (strcmp(table[i].name, name) == 0) return i;
  return -1;
}

static int reduce_check(int op, const dpt_tensor *a) {
  if (op < 0 || op >= DPT__NREDUCE) return dpt__fail("reduce: no reduction has the number %d", op);
  char types = table[op].types;
  int type = dpt__type(a);
  if (types == 'r' && !dpt__is_real(type))
    return dpt__fail_argument(table[op].name, "x", a, "a tensor of reals");
  if (types == 'b' && type != DPT_U8)
    return dpt__fail_argument(table[op].name, "x", a, "a tensor of bytes");
  return 0;
}

/* Sets *value to the result for no elements; fails if there is none. */
static int reduce_empty(int op, double *value) {
  switch (op) {
  case DPT__REDUCE_sum:
  case DPT__REDUCE_norm:
  case DPT__REDUCE_any:
    *value = 0;
    return 0;
  case DPT__REDUCE_prod:
  case DPT__REDUCE_all:
    *value = 1;
    return 0;
  default:
    return dpt__fail("%s: the tensor has no elements", table[op].name);
  }
}

int dpt_reduce(int op, dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *in, int dim, double p) {
  DPT__TRY(reduce_check(op, in));
  const char *fn = table[op].name;
  DPT__TRY(dpt__check_dim(fn, in, dim) || dpt__check_kind(fn, r, in));
  if (idx) DPT__TRY(dpt__check_indices(fn, idx, in));
  if (idx && op != DPT__REDUCE_max && op != DPT__REDUCE_min) idx = NULL;
  const dpt_tensor view = *in, *a = &view; /* a copy: r may be `in`, and is resized */
  int64_t size[DPT_MAXDIM];
  for (int d = 0; d < a->ndim_; d++) size[d] = d == dim ? 1 : a->size_[d];
  int device = dpt_tensor_device(a);
  DPT__TRY(dpt__result(r, a->ndim_, size, device));
  if (idx) DPT__TRY(dpt__result(idx, a->ndim_, size, device));
  dpt__launch l;
  dpt__reduce_args g = {.op = op, .dtype = dpt__type(a), .p = p};
  g.n = a->size_[dim];
  g.stride = a->stride_[dim];
  dpt__slices_start(&g.slices, a, dim, 3, (const dpt_tensor *const[]){a, r, idx});
  if (g.slices.count == 0) return 0;
  double nothing;
  if (g.n == 0) return reduce_empty(op, &nothing) || dpt_fill(r, nothing);
  dpt__launch_begin(&l, table[op].name);
  dpt__launch_out(&l, r, &g.r);
  dpt__launch_out(&l, idx, &g.idx);
  dpt__launch_in(&l, a, &g.a);
  return dpt__launch_run(&l, reduce, &g);
}

/* An element that a kernel on the operands' side can write, for a number that the caller waits
 * for. */
typedef struct number {
  double value;
  dpt_tensor there; /* the element, on a device */
} number;

static int number_start(number *x, const char *fn, const dpt_tensor *a) {
  static const int64_t one = 1;
  *x = (number){.there = {.kind_ = DPT_F64 | DPT_ON_DEVICE}};
  if (!dpt__is_device(a->kind_)) return 0;
  DPT__TRY(dpt__capture_rejects(fn, "it waits for the device"));
  return dpt__result(&x->there, 1, &one, dpt_tensor_device(a));
}

/* Returns the tensor that the kernel writes to, or NULL for `value`. */
static const dpt_tensor *number_destination(const number *x) {
  return x->there.storage_ ? &x->there : NULL;
}

static int number_end(number *x, int failed, double *value) {
  if (!failed && x->there.storage_) failed = dpt_get(&x->there, 0, &x->value);
  if (!failed) *value = dpt__plain(x->value);
  dpt_tensor_free(&x->there);
  return failed;
}

static int reduce_launch_all(const char *fn, int op, const dpt_tensor *a, double p, double *value) {
  dpt__launch l;
  number x;
  DPT__TRY(number_start(&x, fn, a));
  dpt__reduce_all_args g = {.op = op, .p = p, .out = &x.value};
  DPT__TRY(dpt__walk_start(&g.walk, 1, &a));
  dpt__walk_sort(&g.walk);
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, number_destination(&x), number_destination(&x) ? &g.out : NULL);
  dpt__launch_in(&l, a, &g.walk.data[0]);
  return number_end(&x, dpt__launch_run(&l, reduce_all, &g), value);
}

int dpt_reduce_all(int op, const dpt_tensor *a, double p, double *value) {
  DPT__TRY(reduce_check(op, a));
  if (dpt__count(a) == 0) return reduce_empty(op, value);
  return reduce_launch_all(table[op].name, op, a, p, value);
}

static int pair_check(const char *fn, const dpt_tensor *a, const dpt_tensor *b) {
  if (a->kind_ != b->kind_)
    return dpt__fail("%s: argument 'b' is a %s, wanted a %s", fn, dpt__kind_name(b->kind_),
                     dpt__kind_name(a->kind_));
  if (dpt__count(a) != dpt__count(b))
    return dpt__fail("%s: argument 'b' is a %s, wanted as many elements as in a %s", fn,
                     dpt__describe(b), dpt__describe(a));
  return 0;
}

static int pair_launch(const char *fn, int op, const dpt_tensor *a, const dpt_tensor *b, double p,
                       double *value) {
  dpt__launch l;
  number x;
  DPT__TRY(number_start(&x, fn, a));
  dpt__pair_args g = {.op = op, .p = p, .out = &x.value};
  dpt_tensor copies[2] = {{0}, {0}};
  const dpt_tensor *operands[] = {a, b};
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, number_destination(&x), number_destination(&x) ? &g.out : NULL);
  dpt__launch_in(&l, a, &g.walk.data[0]);
  dpt__launch_in(&l, b, &g.walk.data[1]);
  int failed =
      dpt__launch_check(&l, DPT__KERNEL_pair) || dpt__walk_over(&g.walk, 2, operands, copies, 0);
  l.operand[2].t = operands[1];
  if (!failed) dpt__walk_sort(&g.walk);
  failed = failed || dpt__launch_run(&l, pair, &g);
  dpt_tensor_free(&copies[1]);
  return number_end(&x, failed, value);
}

int dpt_dot(const dpt_tensor *a, const dpt_tensor *b, double *value) {
  DPT__TRY(pair_check("dot", a, b));
  *value = 0;
  return dpt__count(a) ? pair_launch("dot", DPT__PAIR_dot, a, b, 0, value) : 0;
}

int dpt_dist(const dpt_tensor *a, const dpt_tensor *b, double p, double *value) {
  DPT__TRY(pair_check("dist", a, b));
  if (!dpt__is_real(dpt__type(a)))
    return dpt__fail("dist: got a %s, wanted tensors of reals", dpt__kind_name(a->kind_));
  *value = 0;
  return dpt__count(a) ? pair_launch("dist", DPT__PAIR_dist, a, b, p, value) : 0;
}

int dpt_equal(const dpt_tensor *a, const dpt_tensor *b, int *value) {
  *value = 0;
  if (a->kind_ != b->kind_) return pair_check("equal", a, b);
  if (!dpt__same_size(a, b)) return 0;
  double same = 1;
  if (dpt__count(a)) DPT__TRY(pair_launch("equal", DPT__PAIR_equal, a, b, 0, &same));
  *value = same != 0;
  return 0;
}

int dpt_trace(const dpt_tensor *a, double *value) {
  if (a->ndim_ != 2) return dpt__fail_argument("trace", "x", a, "a matrix");
  dpt_tensor diagonal = *a; /* a view that owns nothing */
  diagonal.ndim_ = 1;
  diagonal.size_[0] = a->size_[0] < a->size_[1] ? a->size_[0] : a->size_[1];
  diagonal.stride_[0] = a->stride_[0] + a->stride_[1];
  return dpt_reduce_all(DPT__REDUCE_sum, &diagonal, 0, value);
}

int dpt__count_nonzero(const char *fn, const dpt_tensor *a, int64_t *n) {
  double value = 0;
  /* The 0-norm counts nonzero elements; the kernel computes it for every element type. */
  if (dpt__count(a)) DPT__TRY(reduce_launch_all(fn, DPT__REDUCE_norm, a, 0, &value));
  *n = (int64_t)value;
  return 0;
}
