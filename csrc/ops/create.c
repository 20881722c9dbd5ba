/* create.c: range, linspace, logspace, eye, cat and diagonals.
 *
 * Invariant: copies and fills of views do the work wherever they can, which covers every device.
 */
#include "ops/create.h"
#include "device/launch.h"
#include "ops/copy.h"
#include "tensor/tensor.h"

#include <math.h>

/* Resizes r to n elements unless it already has n. */
static int create_with_count(dpt_tensor *r, int64_t n) {
  return dpt__count(r) == n && n ? 0 : dpt__result(r, 1, &n, dpt_tensor_device(r));
}

static int create_ramp(const char *fn, dpt_tensor *r, double from, double step, int power) {
  const dpt_tensor *const operands[] = {r};
  dpt__launch l;
  dpt__ramp_args g = {.power = power, .from = from, .step = step};
  DPT__TRY(dpt__walk_start(&g.walk, 1, operands));
  dpt__walk_check_serial(&g.walk);
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, r, NULL);
  return dpt__launch_run(&l, ramp, &g);
}

int dpt_range(dpt_tensor *r, double from, double to, double step) {
  if (!dpt__is_real(dpt__type(r))) from = trunc(from), to = trunc(to), step = trunc(step);
  if (step == 0 || !isfinite(step))
    return dpt__fail("range: the step is %g, wanted a finite nonzero number", step);
  double n = floor((to - from) / step + 1);
  if (!((step > 0 && to >= from) || (step < 0 && to <= from)))
    return dpt__fail("range: no way from %g to %g by steps of %g", from, to, step);
  if (!(n < 0x1p53)) return dpt__fail("range: %g numbers from %g to %g are too many", n, from, to);
  return create_with_count(r, (int64_t)n) || create_ramp("range", r, from, step, 0);
}

static int create_spaced(const char *fn, dpt_tensor *r, double from, double to, int64_t n,
                         int power) {
  if (!dpt__is_real(dpt__type(r)))
    return dpt__fail("%s: got a %s, wanted a tensor of reals", fn, dpt__kind_name(r->kind_));
  if (n < 1 || (n == 1 && from != to))
    return dpt__fail(
        "%s: got %lld numbers from %g to %g, wanted at least 1, or 2 if the ends differ", fn,
        (long long)n, from, to);
  return create_with_count(r, n) ||
         create_ramp(fn, r, from, n > 1 ? (to - from) / (double)(n - 1) : 0, power);
}

int dpt_linspace(dpt_tensor *r, double from, double to, int64_t n) {
  return create_spaced("linspace", r, from, to, n, 0);
}

int dpt_logspace(dpt_tensor *r, double from, double to, int64_t n) {
  return create_spaced("logspace", r, from, to, n, 1);
}

/* Sets out to the k-th diagonal of a matrix, a view that owns nothing. Returns 0 if it has no
 * elements. */
static int create_diagonal(dpt_tensor *out, const dpt_tensor *a, int64_t k) {
  int64_t rows = a->size_[0] - (k < 0 ? -k : 0), cols = a->size_[1] - (k > 0 ? k : 0);
  *out = *a;
  out->ndim_ = 1;
  out->size_[0] = rows < cols ? rows : cols;
  out->stride_[0] = a->stride_[0] + a->stride_[1];
  out->offset_ += k > 0 ? k * a->stride_[1] : -k * a->stride_[0];
  return out->size_[0] > 0;
}

int dpt_eye(dpt_tensor *r, int64_t n, int64_t m) {
  dpt_tensor line;
  const int64_t size[] = {n, m};
  if (n < 1 || m < 1)
    return dpt__fail("eye: got %lld rows and %lld columns, wanted at least 1 of each", (long long)n,
                     (long long)m);
  DPT__TRY(dpt__result(r, 2, size, dpt_tensor_device(r)) || dpt_fill(r, 0));
  create_diagonal(&line, r, 0);
  return dpt_fill(&line, 1);
}

int dpt_diag(dpt_tensor *r, const dpt_tensor *a, int64_t k) {
  DPT__TRY(dpt__check_kind("diag", r, a));
  if (a->ndim_ < 1 || a->ndim_ > 2)
    return dpt__fail_argument("diag", "x", a, "a vector or a matrix");
  dpt_tensor line;
  if (a->ndim_ == 1) {
    int64_t n = a->size_[0] + (k < 0 ? -k : k);
    const int64_t size[] = {n, n};
    dpt_tensor own = {.kind_ = a->kind_}; /* r may be a, or share its memory */
    int failed =
        dpt_clone(&own, a) || dpt__result(r, 2, size, dpt_tensor_device(&own)) || dpt_fill(r, 0);
    if (!failed) create_diagonal(&line, r, k);
    failed = failed || dpt_copy(&line, &own);
    dpt_tensor_free(&own);
    return failed;
  }
  if (!create_diagonal(&line, a, k))
    return dpt__fail("diag: a %s has no diagonal %lld", dpt__describe(a), (long long)k);
  return dpt__result(r, 1, line.size_, dpt_tensor_device(a)) || dpt_copy(r, &line);
}

/* Returns size d of a tensor, or 1 past its last dimension. */
static int64_t cat_size(const dpt_tensor *t, int d) { return d < t->ndim_ ? t->size_[d] : 1; }

/* Computes the sizes of the joined tensor; dims is 0 if all tensors are empty. */
static int cat_joined(int n, const dpt_tensor *const *list, int *dim, int *dims, int64_t *size) {
  const dpt_tensor *first = NULL;
  *dims = 0;
  for (int i = 0; i < n; i++)
    if (list[i]->ndim_ > *dims) *dims = list[i]->ndim_;
  if (*dim < 0) *dim = *dims ? *dims - 1 : 0;
  if (*dims && *dim > *dims)
    return dpt__fail("cat: dimension %lld is out of range of tensors with %d dimensions",
                     (long long)dpt__from_one(*dim), *dims);
  if (*dims && *dim == *dims) ++*dims;
  if (*dims > DPT_MAXDIM)
    return dpt__fail("cat: the result has more than %d dimensions", DPT_MAXDIM);
  for (int i = 0; i < n; i++) {
    const dpt_tensor *t = list[i];
    if (t->ndim_ == 0) continue;
    for (int d = 0; d < *dims; d++) {
      int64_t here = cat_size(t, d);
      if (!first)
        size[d] = here;
      else if (d == *dim)
        size[d] += here;
      else if (size[d] != here)
        return dpt__fail("cat: cannot join a %s and a %s along dimension %d", dpt__describe(first),
                         dpt__describe(t), *dim + 1);
    }
    if (!first) first = t;
  }
  return 0;
}

static int cat_into(dpt_tensor *r, int n, const dpt_tensor *const *list, int dim) {
  int dims, device = 0;
  int64_t size[DPT_MAXDIM] = {0}, at = 0;
  DPT__TRY(cat_joined(n, list, &dim, &dims, size));
  for (int i = 0; i < n && !device; i++) device = dpt_tensor_device(list[i]);
  DPT__TRY(dpt__result(r, dims, size, device));
  for (int i = 0; i < n; i++) {
    if (list[i]->ndim_ == 0) continue;
    dpt_tensor slice = *r; /* a view that owns nothing */
    slice.size_[dim] = cat_size(list[i], dim);
    slice.offset_ += at * r->stride_[dim];
    at += slice.size_[dim];
    DPT__TRY(dpt_copy(&slice, list[i]));
  }
  return 0;
}

int dpt_cat(dpt_tensor *r, int n, const dpt_tensor *const *list, int dim) {
  dpt_tensor aside = {.kind_ = r->kind_};
  int shared = 0;
  if (n < 1) return dpt__fail("cat: got no tensors, wanted at least 1");
  for (int i = 0; i < n; i++) {
    DPT__TRY(dpt__check_kind("cat", r, list[i]));
    shared |= r->storage_ && r->storage_ == list[i]->storage_;
  }
  if (!shared) return cat_into(r, n, list, dim);
  return dpt__copy_result(cat_into(&aside, n, list, dim), r, &aside);
}
