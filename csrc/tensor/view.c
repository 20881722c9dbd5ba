/* view.c: views of the same elements: narrow, select, transpose, unfold, expand, view ...
 *
 * Invariant: every function builds the view in a local copy, checks it, and only then passes it to
 * dpt__assign_view; so `out` may be `t`, and does not change if the call fails. A view of a valid
 * tensor contains only elements within that tensor's extent.
 */
#include "tensor/tensor.h"
#include <inttypes.h>
#include <string.h>

int dpt__check_dim(const char *fn, const dpt_tensor *t, int dim) {
  if (dim >= 0 && dim < t->ndim_) return 0;
  return dpt__fail("%s: dimension %" PRId64 " is out of range of a %s", fn, dpt__from_one(dim),
                   dpt__describe(t));
}

static void view_drop_dim(dpt_tensor *v, int dim) {
  size_t bytes = sizeof(int64_t) * (size_t)(v->ndim_ - 1 - dim);
  memmove(v->size_ + dim, v->size_ + dim + 1, bytes);
  memmove(v->stride_ + dim, v->stride_ + dim + 1, bytes);
  v->ndim_--;
}

static int view_return(const char *fn, dpt_tensor *out, const dpt_tensor *view) {
  DPT__TRY(dpt__check_kind(fn, out, view));
  dpt__assign_view(out, view);
  return 0;
}

int dpt_narrow(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t first, int64_t n) {
  dpt_tensor v = *t;
  DPT__TRY(dpt__check_dim("narrow", t, dim));
  if (first < 0 || n < 0 || first > t->size_[dim] || n > t->size_[dim] - first)
    return dpt__fail("narrow: %" PRId64 " elements from %" PRId64
                     " are out of range of dimension %d of a %s",
                     n, dpt__from_one(first), dim + 1, dpt__describe(t));
  if (n > 0) v.offset_ += first * v.stride_[dim];
  v.size_[dim] = n;
  return view_return("narrow", out, &v);
}

int dpt_select(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t i) {
  dpt_tensor v = *t;
  DPT__TRY(dpt__check_dim("select", t, dim));
  if (t->ndim_ == 1) return dpt__fail("select: a vector has no slices; read or set its element");
  if (i < 0 || i >= t->size_[dim])
    return dpt__fail("select: index %" PRId64 " is out of range of dimension %d of a %s",
                     dpt__from_one(i), dim + 1, dpt__describe(t));
  v.offset_ += i * v.stride_[dim];
  view_drop_dim(&v, dim);
  return view_return("select", out, &v);
}

int dpt_transpose(dpt_tensor *out, const dpt_tensor *t, int dim1, int dim2) {
  dpt_tensor v = *t;
  DPT__TRY(dpt__check_dim("transpose", t, dim1));
  DPT__TRY(dpt__check_dim("transpose", t, dim2));
  v.size_[dim1] = t->size_[dim2];
  v.stride_[dim1] = t->stride_[dim2];
  v.size_[dim2] = t->size_[dim1];
  v.stride_[dim2] = t->stride_[dim1];
  return view_return("transpose", out, &v);
}

int dpt_permute(dpt_tensor *out, const dpt_tensor *t, const int32_t *order) {
  dpt_tensor v = *t;
  unsigned seen = 0;
  for (int d = 0; d < t->ndim_; d++) {
    DPT__TRY(dpt__check_dim("permute", t, order[d]));
    if (seen & (1u << order[d]))
      return dpt__fail("permute: dimension %d is named twice", order[d] + 1);
    seen |= 1u << order[d];
    v.size_[d] = t->size_[order[d]];
    v.stride_[d] = t->stride_[order[d]];
  }
  return view_return("permute", out, &v);
}

int dpt_unfold(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t n, int64_t step) {
  dpt_tensor v = *t;
  DPT__TRY(dpt__check_dim("unfold", t, dim));
  if (n < 1 || n > t->size_[dim] || step < 1)
    return dpt__fail("unfold: windows of %" PRId64 " every %" PRId64
                     " are out of range of dimension %d of a %s",
                     n, step, dim + 1, dpt__describe(t));
  if (t->ndim_ == DPT_MAXDIM)
    return dpt__fail("unfold: a tensor has at most %d dimensions", DPT_MAXDIM);
  int64_t windows = (t->size_[dim] - n) / step + 1, apart;
  if (__builtin_mul_overflow(step, t->stride_[dim], &apart))
    apart = 0; /* only if there is one window */
  v.size_[dim] = windows;
  v.stride_[dim] = windows > 1 ? apart : t->stride_[dim];
  v.size_[v.ndim_] = n;
  v.stride_[v.ndim_] = t->stride_[dim];
  v.ndim_++;
  return view_return("unfold", out, &v);
}

int dpt_expand(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size) {
  dpt_tensor v = *t;
  int64_t count = 1;
  if (ndim != t->ndim_)
    return dpt__fail("expand: got %d sizes for a %s, wanted %d", ndim, dpt__describe(t), t->ndim_);
  for (int d = 0; d < ndim; d++) {
    if (size[d] != t->size_[d]) {
      if (t->size_[d] != 1 || size[d] < 0)
        return dpt__fail("expand: dimension %d of a %s cannot be expanded to %" PRId64
                         ", wanted size 1",
                         d + 1, dpt__describe(t), size[d]);
      v.size_[d] = size[d];
      v.stride_[d] = 0;
    }
    if (__builtin_mul_overflow(count, size[d] > 1 ? size[d] : 1, &count))
      return dpt__fail("expand: the sizes have more elements than 64 bits can count");
  }
  return view_return("expand", out, &v);
}

/* Returns the product of the sizes that are neither 0 nor -1, and -1 on overflow; counts the
 * zeros. */
static int64_t view_known_product(int ndim, const int64_t *size, int *zeros) {
  int64_t product = 1;
  *zeros = 0;
  for (int d = 0; d < ndim; d++) {
    if (size[d] == 0) ++*zeros;
    if (size[d] > 0 && __builtin_mul_overflow(product, size[d], &product)) return -1;
  }
  return product;
}

int dpt_view(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size) {
  dpt_tensor v = {.storage_ = t->storage_, .offset_ = t->offset_, .kind_ = t->kind_, .ndim_ = ndim};
  int64_t count = dpt__count(t), known = 1, left = -1;
  int open = -1;
  if (ndim < 0 || ndim > DPT_MAXDIM)
    return dpt__fail("view: got %d dimensions, wanted 0 to %d", ndim, DPT_MAXDIM);
  if (!dpt__contiguous(t))
    return dpt__fail("view: the %s is not contiguous; call contiguous() first or use reshape()",
                     dpt__describe(t));
  for (int d = 0; d < ndim; d++) {
    v.size_[d] = size[d];
    if (size[d] == -1) {
      if (open >= 0) return dpt__fail("view: only one size may be -1");
      open = d;
    } else if (size[d] < 0) {
      return dpt__fail("view: got size %" PRId64 ", wanted -1 or more", size[d]);
    } else if (__builtin_mul_overflow(known, size[d], &known)) {
      known = -1;
      break;
    }
  }
  if (open >= 0 && known == 0 && count == 0) { /* no elements: 0x4 as 0x-1 is 0x4 */
    int zeros, ours;
    int64_t rest = view_known_product(t->ndim_, t->size_, &zeros),
            part = view_known_product(ndim, size, &ours);
    if (zeros == ours && rest > 0 && part > 0 && rest % part == 0) left = rest / part;
  } else if (open >= 0 && known > 0 && count % known == 0) {
    left = count / known;
  }
  int fits = open < 0 ? known == count : left >= 0;
  if (ndim == 0) fits = count == 0;
  if (!fits)
    return dpt__fail("view: a %s has %" PRId64 " elements, wanted as many as size %s",
                     dpt__describe(t), count, dpt__describe_size(&v));
  if (open >= 0) v.size_[open] = left;
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    v.stride_[d] = stride;
    if (__builtin_mul_overflow(stride, v.size_[d] > 1 ? v.size_[d] : 1, &stride))
      return dpt__fail("view: the sizes %s are more than memory can hold",
                       dpt__describe_size(&v)); /* possible only without elements */
  }
  return view_return("view", out, &v);
}

int dpt_squeeze(dpt_tensor *out, const dpt_tensor *t) {
  dpt_tensor v = *t;
  for (int d = v.ndim_ - 1; d >= 0; d--)
    if (v.size_[d] == 1 && v.ndim_ > 1) view_drop_dim(&v, d);
  return view_return("squeeze", out, &v);
}

int dpt_squeeze_dim(dpt_tensor *out, const dpt_tensor *t, int dim) {
  dpt_tensor v = *t;
  DPT__TRY(dpt__check_dim("squeeze", t, dim));
  if (v.size_[dim] == 1 && v.ndim_ > 1) view_drop_dim(&v, dim);
  return view_return("squeeze", out, &v);
}

int dpt_unsqueeze(dpt_tensor *out, const dpt_tensor *t, int dim) {
  dpt_tensor v = *t;
  if (t->ndim_ == 0 || t->ndim_ == DPT_MAXDIM)
    return dpt__fail("unsqueeze: got %d dimensions, wanted 1 to %d", t->ndim_, DPT_MAXDIM - 1);
  if (dim < 0 || dim > t->ndim_)
    return dpt__fail("unsqueeze: dimension %" PRId64 " is out of range, wanted 1 to %d",
                     dpt__from_one(dim), t->ndim_ + 1);
  for (int d = t->ndim_; d > dim; d--) {
    v.size_[d] = t->size_[d - 1];
    v.stride_[d] = t->stride_[d - 1];
  }
  v.size_[dim] = 1;
  v.stride_[dim] = dim < t->ndim_ ? t->size_[dim] * t->stride_[dim] : 1;
  v.ndim_++;
  return view_return("unsqueeze", out, &v);
}
