/* tensor.c: creates, frees, resizes and sets tensors; formats their sizes.
 *
 * Invariant: as in tensor.h, a function that returns nonzero has changed nothing, and a tensor
 * never extends beyond its storage. A tensor holds one reference to its storage. A new reference is
 * taken before the old one is released, so that both may be to the same storage.
 */
#include "tensor/tensor.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 160 };

static char *tensor_next_text(void) {
  static _Thread_local char texts[DPT__TEXTS][TEXT];
  static _Thread_local unsigned last;
  return texts[++last % DPT__TEXTS];
}

/* Formats sizes, including those that no tensor can have. */
static void tensor_write_size(char text[TEXT], int ndim, const int64_t *size) {
  size_t used = 0;
  text[0] = 0;
  for (int d = 0; d < ndim && d < DPT_MAXDIM && used < TEXT - 24; d++)
    used += (size_t)snprintf(text + used, TEXT - used, "%s%" PRId64, d ? "x" : "", size[d]);
  if (ndim == 0) snprintf(text, TEXT, "empty");
}

static const char *tensor_size_text(int ndim, const int64_t *size) {
  char *text = tensor_next_text();
  tensor_write_size(text, ndim, size);
  return text;
}

const char *dpt__describe_size(const dpt_tensor *t) { return tensor_size_text(t->ndim_, t->size_); }

const char *dpt__describe(const dpt_tensor *t) {
  char size[TEXT], *text = tensor_next_text();
  const char *kind = dpt__kind_name(t->kind_);
  tensor_write_size(size, t->ndim_, t->size_);
  if (t->ndim_ == 0)
    snprintf(text, TEXT, "%s without dimensions", kind);
  else
    snprintf(text, TEXT, "%s of size %.*s", kind, 120, size);
  return text;
}

int dpt__fail_argument(const char *fn, const char *name, const dpt_tensor *t, const char *wanted) {
  return dpt__fail("%s: argument '%s' is a %s, wanted %s", fn, name, dpt__describe(t), wanted);
}

static int64_t tensor_at_least_1(int64_t n) { return n > 1 ? n : 1; }

/* Fills in t's sizes and strides (contiguous if stride is NULL or negative) and *extent, the number
 * of elements that t needs from its first one on; checks that the extent can be addressed. */
static int tensor_plan(const char *fn, dpt_tensor *t, int ndim, const int64_t *size,
                       const int64_t *stride, int64_t *extent) {
  if (ndim < 0 || ndim > DPT_MAXDIM)
    return dpt__fail("%s: got %d dimensions, wanted 0 to %d", fn, ndim, DPT_MAXDIM);
  int64_t next = 1, count = 1, reach = 0, limit = INT64_MAX / 16;
  for (int d = ndim - 1; d >= 0; d--) {
    int64_t own = stride && stride[d] >= 0 ? stride[d] : next, far;
    if (size[d] < 0)
      return dpt__fail("%s: got size %s, wanted 0 or more in each dimension", fn,
                       tensor_size_text(ndim, size));
    if (__builtin_mul_overflow(tensor_at_least_1(size[d]), count, &count) ||
        __builtin_mul_overflow(tensor_at_least_1(size[d]), own, &next) ||
        __builtin_mul_overflow(tensor_at_least_1(size[d]) - 1, own, &far) || far > limit ||
        count > limit || next > limit || (reach += far) > limit)
      return dpt__fail("%s: size %s has more elements than memory can hold", fn,
                       tensor_size_text(ndim, size));
    t->size_[d] = size[d];
    t->stride_[d] = own;
  }
  t->ndim_ = ndim;
  *extent = dpt__count(t) > 0 ? reach + 1 : 0;
  return 0;
}

/* Grows t's storage to hold `extent` elements from t->offset_ on; t->storage_ may be NULL. */
static int tensor_reserve(const char *fn, dpt_tensor *t, int64_t extent, int device) {
  if (extent == 0) return 0;
  if (t->offset_ > INT64_MAX / 16)
    return dpt__fail("%s: offset %" PRId64 " is too large", fn, t->offset_);
  int64_t need = t->offset_ + extent;
  if (t->storage_) return need > t->storage_->size ? dpt_storage_resize(t->storage_, need) : 0;
  if (device < 0 || !dpt__is_device(t->kind_)) return dpt_storage_new(&t->storage_, t->kind_, need);
  return dpt__storage_new_on(&t->storage_, t->kind_, need, device);
}

/* device < 0: a missing storage is allocated on the host or the current device, by kind_. */
static int tensor_resize(const char *fn, dpt_tensor *r, int ndim, const int64_t *size,
                         const int64_t *stride, int device) {
  if (ndim == r->ndim_) {
    int same = 1;
    for (int d = 0; d < ndim && same; d++)
      same = r->size_[d] == size[d] && (!stride || stride[d] < 0 || stride[d] == r->stride_[d]);
    if (same) return 0;
  }
  dpt_tensor t = *r;
  int64_t extent;
  DPT__TRY(tensor_plan(fn, &t, ndim, size, stride, &extent));
  DPT__TRY(tensor_reserve(fn, &t, extent, device));
  *r = t;
  return 0;
}

int dpt_resize(dpt_tensor *r, int ndim, const int64_t *size) {
  return tensor_resize("resize", r, ndim, size, NULL, -1);
}

int dpt_resize_strided(dpt_tensor *r, int ndim, const int64_t *size, const int64_t *stride) {
  return tensor_resize("resize", r, ndim, size, stride, -1);
}

int dpt_resize_as(dpt_tensor *r, const dpt_tensor *a) {
  return tensor_resize("resizeAs", r, a->ndim_, a->size_, NULL, -1);
}

int dpt__result(dpt_tensor *r, int ndim, const int64_t *size, int device) {
  return tensor_resize("resize", r, ndim, size, NULL, device);
}

int dpt_resize_beside(dpt_tensor *r, int ndim, const int64_t *size, const dpt_tensor *a) {
  return dpt__result(r, ndim, size, a->storage_ ? a->storage_->device : -1);
}

int dpt_tensor_new(dpt_tensor *r, int kind, int ndim, const int64_t *size) {
  dpt_tensor t = {.kind_ = kind};
  if (kind < 0 || kind >= 2 * DPT_ON_DEVICE) return dpt__fail("tensor: unknown kind %d", kind);
  DPT__TRY(tensor_resize("tensor", &t, ndim, size, NULL, -1));
  *r = t;
  return 0;
}

void dpt_tensor_free(dpt_tensor *t) {
  dpt_storage *storage = t->storage_;
  *t = (dpt_tensor){.kind_ = t->kind_};
  if (storage) dpt_storage_release(storage);
}

void dpt__assign_view(dpt_tensor *r, const dpt_tensor *view) {
  dpt_storage *old = r->storage_, *now = view->storage_;
  if (r != view) *r = *view;
  if (now == old) return;
  if (now) dpt_storage_retain(now);
  if (old) dpt_storage_release(old);
}

int dpt__check_kind(const char *fn, const dpt_tensor *out, const dpt_tensor *t) {
  if (out->kind_ == t->kind_) return 0;
  return dpt__fail("%s: the result is a %s, wanted a %s", fn, dpt__kind_name(out->kind_),
                   dpt__kind_name(t->kind_));
}

int dpt_tensor_set(dpt_tensor *r, const dpt_tensor *a) {
  DPT__TRY(dpt__check_kind("set", r, a));
  dpt__assign_view(r, a);
  return 0;
}

int dpt_set_storage(dpt_tensor *r, dpt_storage *storage, int64_t first, int ndim,
                    const int64_t *size, const int64_t *stride) {
  dpt_tensor t = {.kind_ = r->kind_, .storage_ = storage, .offset_ = first};
  int64_t extent;
  if (storage && storage->kind != r->kind_)
    return dpt__fail("set: got the storage of a %s, wanted that of a %s",
                     dpt__kind_name(storage->kind), dpt__kind_name(r->kind_));
  if (first < 0) return dpt__fail("set: got storage offset %" PRId64 ", wanted 0 or more", first);
  DPT__TRY(tensor_plan("set", &t, ndim, size, stride, &extent));
  if (!storage && extent > 0) {
    DPT__TRY(tensor_reserve("set", &t, extent, -1));
    dpt_tensor_free(r);
    *r = t;
    return 0;
  }
  DPT__TRY(tensor_reserve("set", &t, extent, -1));
  dpt__assign_view(r, &t);
  return 0;
}

int64_t dpt_count(const dpt_tensor *t) { return dpt__count(t); }
int dpt_is_contiguous(const dpt_tensor *t) { return dpt__contiguous(t); }
int dpt_is_same_size(const dpt_tensor *a, const dpt_tensor *b) { return dpt__same_size(a, b); }

int dpt_is_set_to(const dpt_tensor *a, const dpt_tensor *b) {
  if (a->kind_ != b->kind_ || a->storage_ != b->storage_ || a->offset_ != b->offset_) return 0;
  if (!dpt__same_size(a, b)) return 0;
  for (int d = 0; d < a->ndim_; d++)
    if (a->stride_[d] != b->stride_[d]) return 0;
  return 1;
}

int dpt_are_set_to(int n, const dpt_tensor *const *a, const dpt_tensor *b) {
  for (int i = 0; i < n; i++)
    if (a[i] && !dpt_is_set_to(a[i], b + i)) return 0;
  return 1;
}

int dpt_tensor_device(const dpt_tensor *t) { return t->storage_ ? t->storage_->device : 0; }

void *dpt_tensor_data(const dpt_tensor *t) {
  return t->storage_ && !dpt__is_device(t->kind_) ? dpt__at(t) : NULL;
}
