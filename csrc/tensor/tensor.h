/* tensor.h: sizes, strides and views inside the library.
 *
 * Invariant: a tensor never extends beyond its storage. Every function that changes sizes, strides
 * or the offset checks that (or grows the storage) before it returns 0; if it fails, it has changed
 * nothing. Results passed as `out` may be the tensor itself.
 */
#ifndef DPT_TENSOR_TENSOR_H
#define DPT_TENSOR_TENSOR_H
#include "device/storage.h"

static inline int dpt__type(const dpt_tensor *t) { return dpt__dtype(t->kind_); }

static inline int64_t dpt__count(const dpt_tensor *t) {
  int64_t n = t->ndim_ > 0;
  for (int d = 0; d < t->ndim_; d++) n *= t->size_[d];
  return n;
}

/* Returns true if t is contiguous. A dimension of size 1 never breaks contiguity, as in Torch7; a
 * tensor without elements is contiguous. */
static inline int dpt__contiguous(const dpt_tensor *t) {
  int64_t stride = 1;
  for (int d = t->ndim_ - 1; d >= 0; d--) {
    if (t->size_[d] == 1) continue;
    if (t->stride_[d] != stride) return dpt__count(t) == 0;
    stride *= t->size_[d];
  }
  return 1;
}

static inline int dpt__same_size(const dpt_tensor *a, const dpt_tensor *b) {
  if (a->ndim_ != b->ndim_) return 0;
  for (int d = 0; d < a->ndim_; d++)
    if (a->size_[d] != b->size_[d]) return 0;
  return 1;
}

/* Resizes a result as dpt_resize does; if it has no storage, it is allocated on that device (0: the
 * host), whatever the current one is. */
int dpt__result(dpt_tensor *r, int ndim, const int64_t *size, int device);
/* Sets r to `view`, which owns no reference: takes a reference to view's storage and releases the
 * reference of r. */
void dpt__assign_view(dpt_tensor *r, const dpt_tensor *view);
/* Fails with "fn: the result is a ..." if the kinds differ. */
int dpt__check_kind(const char *fn, const dpt_tensor *out, const dpt_tensor *t);

/* Fails with "fn: dimension d is out of range of a ..." (d counts from 1) if t has no such
 * dimension.
 */
int dpt__check_dim(const char *fn, const dpt_tensor *t, int dim);

/* Fails with "fn: argument 'name' is a ..., wanted ...". */
int dpt__fail_argument(const char *fn, const char *name, const dpt_tensor *t, const char *wanted);

/* Returns the index counted from 1, for messages. */
static inline int64_t dpt__from_one(int64_t i) { return i < INT64_MAX ? i + 1 : i; }

/* Return a description of a tensor ("torch.FloatTensor of size 2x3"), and its size ("2x3"). The
 * string is valid until this thread has requested DPT__TEXTS more, so that one dpt__fail can use
 * several. */
enum { DPT__TEXTS = 4 };
const char *dpt__describe(const dpt_tensor *t);
const char *dpt__describe_size(const dpt_tensor *t);

#endif
