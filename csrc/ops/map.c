/* map.c: pointwise operations: checks, the result's size, then the backend's map kernel.
 *
 * Invariant: the operands are checked before anything changes. A contiguous copy replaces an
 * operand that shares memory with the result other than element by element, or whose shape has no
 * common rows with the others. Calls on contiguous host tensors stay short: they allocate nothing
 * and clear no large struct.
 */
#include "ops/map.h"
#include "base/element.h"
#include "device/launch.h"
#include "tensor/tensor.h"
#include <inttypes.h>
#include <string.h>

static const struct {
  const char *name, *known;
  int operands;
} ops[] = {
#define DPT_OP(name, known, operands, trait) {#name, #known, operands},
#include "ops/map.def"
};
_Static_assert(sizeof ops / sizeof *ops == DPT__NMAP, "one entry an operation");

int dpt_op(const char *name) {
  for (int i = 0; i < DPT__NMAP; i++)
    if (strcmp(ops[i].name, name) == 0) return i;
  return -1;
}

static int map_fail_unsupported(int op, int kind) {
  return dpt__fail("%s: %s has no %s; convert to %s type first", ops[op].known,
                   dpt__kind_name(kind), ops[op].known,
                   dpt__map_traits(op) & DPT__REALS ? "a real" : "an integer");
}

static int map_check_type(int op, int kind, double p) {
  int dtype = dpt__dtype(kind), traits = dpt__map_traits(op);
  if (!(traits & (dpt__is_real(dtype) ? DPT__REALS : DPT__INTEGERS)))
    return map_fail_unsupported(op, kind);
  if (dpt__is_real(dtype)) return 0;
  if (op == DPT__MAP_abs && dtype < DPT_I32 && !dpt__is_device(kind))
    return dpt__fail("abs: %s has no abs; convert to int, long or a real type first",
                     dpt__kind_name(kind));
  if (traits & DPT__DIVIDES && ops[op].operands == 1 && p > -1 && p < 1)
    return dpt__fail("%s: %s can't be divided by 0", ops[op].known, dpt__kind_name(kind));
  return 0;
}

static int map_check(int op, int n, const dpt_tensor *r, const dpt_tensor *const *in, double p) {
  if (op < 0 || op >= DPT__NMAP) return dpt__fail("map: there is no operation %d", op);
  if (ops[op].operands != n)
    return dpt__fail("%s: takes %d tensors besides the result, got %d", ops[op].name,
                     ops[op].operands, n);
  for (int k = 1; k < n; k++) {
    if (in[k]->kind_ != in[0]->kind_)
      return dpt__fail("%s: argument '%c' is a %s, wanted a %s like the first", ops[op].known,
                       'a' + k, dpt__kind_name(in[k]->kind_), dpt__kind_name(in[0]->kind_));
    if (dpt__count(in[k]) != dpt__count(in[0]))
      return dpt__fail("%s: argument '%c' has %" PRId64 " elements, wanted %" PRId64 " as in %s",
                       ops[op].known, 'a' + k, dpt__count(in[k]), dpt__count(in[0]),
                       dpt__describe(in[0]));
  }
  int bytes = dpt__map_traits(op) & DPT__COMPARES && dpt__type(r) == DPT_U8 &&
              dpt__is_device(r->kind_) == dpt__is_device(in[0]->kind_);
  if (r->kind_ != in[0]->kind_ && !bytes)
    return dpt__fail("%s: the result is a %s, wanted a %s", ops[op].known, dpt__kind_name(r->kind_),
                     dpt__kind_name(in[0]->kind_));
  return map_check_type(op, in[0]->kind_, p);
}

int dpt__walk_over(dpt__walk *walk, int n, const dpt_tensor **operands, dpt_tensor *copies,
                   unsigned always) {
  if (!always && dpt__walk_start(walk, n, operands) == 0) return 0;
  for (int pass = 0; pass < 2; pass++, always = ~0u) {
    for (int k = 1; k < n; k++) {
      if (copies[k].storage_ || !(always & (1u << k))) continue;
      copies[k].kind_ = operands[k]->kind_;
      DPT__TRY(dpt_clone(&copies[k], operands[k]));
      operands[k] = &copies[k];
    }
    if (dpt__walk_start(walk, n, operands) == 0) return 0;
  }
  return dpt__fail("operands have no common rows"); /* contiguous operands always have */
}

/* Launches the map kernel; l is NULL for host memory. */
static int map_launch(dpt__launch *l, int n, const dpt_tensor *const *operands,
                      struct dpt__map_args *args) {
  dpt__walk_sort(&args->walk);
  if (!l) return dpt__launch_here(map, ops[args->op].known, operands[0], args);
  for (int k = 1; k <= n; k++) l->operand[k].t = operands[k];
  return dpt__launch_run(l, map, args);
}

static int map_run(int op, int n, dpt_tensor *r, const dpt_tensor *const *in, double p, double q);

/* Returns a dimension along which elements of r alias, if r is also an operand; -1 if there is
 * none. On devices, only expanded dimensions count. */
static int map_repeats(int n, const dpt_tensor *r, const dpt_tensor *const *in) {
  int own = 0;
  for (int k = 0; k < n; k++) own |= in[k] == r;
  if (!own) return -1;
  int64_t reach = 0;
  /* Elements do not alias where each stride exceeds the extent of the dimensions after it. */
  int d = r->ndim_ - 1;
  for (; d >= 0 && (r->stride_[d] > reach || r->size_[d] < 2); d--)
    reach += (r->size_[d] - 1) * r->stride_[d];
  if (d < 0) return -1;
  if (!dpt__is_device(r->kind_)) return dpt_shared_dimension(r);
  for (d = 0; d < r->ndim_; d++)
    if (r->stride_[d] == 0 && r->size_[d] > 1) return d;
  return -1;
}

/* Updates aliased elements of r sequentially, as Torch7's loops did: layers of scripts sum
 * gradients this way. On devices, only the last of the aliases updates the element, because cutorch
 * worked on a copy of all of them. */
static int map_repeat(int d, int op, int n, dpt_tensor *r, const dpt_tensor *const *in, double p,
                      double q) {
  dpt_tensor copies[3] = {{0}}, slice = *r, parts[3];
  const dpt_tensor *at[3];
  int status = 0;
  for (int k = 0; k < n && !status; k++) {
    parts[k] = *in[k];
    if (in[k] == r || dpt__same_size(in[k], r)) continue;
    copies[k].kind_ = in[k]->kind_;
    status = dpt_clone(&copies[k], in[k]);
    if (!status) status = dpt_resize_as(&copies[k], r);
    parts[k] = copies[k];
  }
  slice.size_[d] = 1;
  int64_t first = dpt__is_device(r->kind_) ? r->size_[d] - 1 : 0;
  for (int k = 0; k < n; k++) {
    parts[k].size_[d] = 1;
    parts[k].offset_ += first * parts[k].stride_[d];
    at[k] = in[k] == r ? &slice : &parts[k];
  }
  for (int64_t i = first; i < r->size_[d] && !status; i++) {
    status = map_run(op, n, &slice, at, p, q);
    slice.offset_ += slice.stride_[d];
    for (int k = 0; k < n; k++) parts[k].offset_ += parts[k].stride_[d];
  }
  for (int k = 0; k < n; k++) dpt_tensor_free(&copies[k]);
  return status;
}

/* Converts a number that elements are compared with to their type if this is a reduced one, as
 * cutorch did for halves. */
static double map_bound(int op, int dtype, double p) {
  double element; /* large enough for every type */
  if (!dpt__is_reduced(dtype)) return p;
  switch (op) {
  case DPT__MAP_eq:
  case DPT__MAP_ne:
  case DPT__MAP_lt:
  case DPT__MAP_le:
  case DPT__MAP_gt:
  case DPT__MAP_ge:
  case DPT__MAP_clamp:
  case DPT__MAP_cmaxvalue:
  case DPT__MAP_cminvalue:
  case DPT__MAP_fmod:
  case DPT__MAP_remainder:
  case DPT__MAP_threshold:
  case DPT__MAP_threshold_backward:
  case DPT__MAP_hardtanh:
  case DPT__MAP_hardtanh_backward:
    dpt__put_element(dtype, &element, p);
    return dpt__get_element(dtype, &element);
  default:
    return p;
  }
}

static int map_run(int op, int n, dpt_tensor *r, const dpt_tensor *const *in, double p, double q) {
  dpt__launch launch_, *l = dpt__is_device(r->kind_) ? &launch_ : NULL; /* NULL: host memory */
  struct dpt__map_args args;
  dpt_tensor view[4];
  const dpt_tensor *operands[4] = {r};
  unsigned copy = 0;
  DPT__TRY(map_check(op, n, r, in, p));
  int repeats = map_repeats(n, r, in);
  if (repeats >= 0 && dpt__same_size(r, in[0])) return map_repeat(repeats, op, n, r, in, p, q);
  for (int k = 1; k <= n; k++) operands[k] = in[k - 1];
  if (l) {
    dpt__launch_begin(l, ops[op].known);
    dpt__launch_out(l, r, NULL);
    for (int k = 1; k <= n; k++) dpt__launch_in_place(l, operands[k], NULL);
    DPT__TRY(dpt__launch_check(l, DPT__KERNEL_map));
  }
  if (!dpt__same_size(r, in[0])) {
    /* Resizing r may change an operand that is r: use copies of the operands' views. */
    for (int k = 1; k <= n; k++) {
      view[k] = *in[k - 1];
      operands[k] = &view[k];
    }
    DPT__TRY(dpt__result(r, in[0]->ndim_, in[0]->size_, l ? l->context.device : 0));
  }
  if (dpt__count(r) == 0) return 0;
  for (int k = 1; k <= n; k++)
    if (operands[k]->storage_ == r->storage_ && operands[k] != r && dpt__overlap(r, operands[k]))
      copy |= 1u << k;
  args.op = op;
  args.dtype = dpt__type(in[0]);
  args.p = map_bound(op, args.dtype, p);
  args.q = map_bound(op, args.dtype, q);
  if (!copy && dpt__walk_start(&args.walk, n + 1, operands) == 0)
    return map_launch(l, n, operands, &args);
  dpt_tensor copies[4] = {{0}};
  int status = dpt__walk_over(&args.walk, n + 1, operands, copies, copy);
  status = status || map_launch(l, n, operands, &args);
  for (int k = 1; k <= n; k++) dpt_tensor_free(&copies[k]);
  return status;
}

/* Returns the operation for an exponent; like Torch7, computes some powers without pow. */
static int map_power(double p) {
  if (p == 1) return DPT__MAP_mul;
  if (p == 2) return DPT__MAP_square;
  if (p == 3) return DPT__MAP_cube;
  if (p == 0.5) return DPT__MAP_sqrt;
  if (p == -0.5) return DPT__MAP_rsqrt;
  if (p == -1) return DPT__MAP_cinv;
  return DPT__MAP_pow;
}

int dpt_map1(int op, dpt_tensor *r, const dpt_tensor *a, double p, double q) {
  if (op == DPT__MAP_pow && dpt__is_real(dpt__type(a))) op = map_power(p);
  return map_run(op, 1, r, &a, p, q);
}

int dpt_map2(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, double p, double q) {
  const dpt_tensor *in[] = {a, b};
  return map_run(op, 2, r, in, p, q);
}

int dpt_map3(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, const dpt_tensor *c,
             double p, double q) {
  const dpt_tensor *in[] = {a, b, c};
  return map_run(op, 3, r, in, p, q);
}
