/* index.c: index, gather, scatter and their relatives: checks and shapes, then the kernels of
 * index.h.
 *
 * Invariant: an index tensor for device operands may also be a host LongTensor or, as in cutorch, a
 * CudaTensor; it is converted first.
 */
#include "ops/index.h"
#include "device/launch.h"
#include "tensor/tensor.h"

#include <string.h>

/* Replaces idx with a Long tensor on a's side: idx itself, or a copy in aside. */
static int index_convert(const char *fn, const dpt_tensor **idx, const dpt_tensor *a,
                         dpt_tensor *aside) {
  int wanted = DPT_I64 | (a->kind_ & DPT_ON_DEVICE), kind = (*idx)->kind_;
  int converted = kind != wanted && dpt__is_device(wanted) &&
                  (kind == DPT_I64 || kind == (DPT_F32 | DPT_ON_DEVICE));
  if (!converted) return dpt__check_indices(fn, *idx, a);
  aside->kind_ = wanted;
  DPT__TRY(dpt__result(aside, (*idx)->ndim_, (*idx)->size_, dpt_tensor_device(a)) ||
           dpt_copy(aside, *idx));
  *idx = aside;
  return 0;
}

/* Launches the index kernel. small is NULL for fill; shared: idx is a vector. */
static int index_launch(const char *fn, int mode, const dpt_tensor *big, int dim,
                        const dpt_tensor *idx, const dpt_tensor *small, double value, int shared) {
  dpt__launch l;
  int along = shared ? 0 : dim;
  dpt__index_args g = {
      .mode = mode, .dtype = dpt__type(big), .dim = dim + 1, .shared = shared, .value = value};
  g.n = idx->size_[along], g.limit = big->size_[dim];
  g.big_stride = big->stride_[dim], g.idx_stride = idx->stride_[along];
  if (small) g.small_stride = small->stride_[dim];
  dpt__slices_start(&g.slices, shared ? big : idx, dim, 3,
                    (const dpt_tensor *const[]){shared ? NULL : idx, big, small});
  if (g.n == 0 || g.slices.count == 0) return 0;
  dpt__launch_begin(&l, fn);
  dpt__launch_operand(&l, mode == DPT__INDEX_read ? DPT__IN : DPT__OUT, big, &g.big);
  dpt__launch_operand(&l, mode == DPT__INDEX_read ? DPT__OUT : DPT__IN, small, &g.small);
  dpt__launch_in(&l, idx, &g.idx);
  return dpt__launch_run(&l, index, &g);
}

/* Converts the indices if necessary, then launches the index kernel. */
static int index_by(const char *fn, int mode, const dpt_tensor *big, int dim, const dpt_tensor *idx,
                    const dpt_tensor *small, double value, int shared) {
  dpt_tensor moved = {0};
  int failed = index_convert(fn, &idx, big, &moved) ||
               index_launch(fn, mode, big, dim, idx, small, value, shared);
  dpt_tensor_free(&moved);
  return failed;
}

static int index_check_vector(const char *fn, const dpt_tensor *idx) {
  if (idx->ndim_ <= 1) return 0;
  return dpt__fail("%s: the indices are a %s, wanted a vector", fn, dpt__describe(idx));
}

int dpt_index(dpt_tensor *r, const dpt_tensor *in, int dim, const dpt_tensor *indices) {
  static const char fn[] = "index";
  dpt_tensor moved = {0};
  /* copies, because r may be one of the operands, and is resized */
  const dpt_tensor view = *in, at = *indices, *a = &view, *idx = &at;
  DPT__TRY(dpt__check_kind(fn, r, a) || dpt__check_dim(fn, a, dim) || index_check_vector(fn, idx));
  if (idx->ndim_ == 0) return dpt__fail("%s: got no indices, wanted at least 1", fn);
  int failed = index_convert(fn, &idx, a, &moved);
  int64_t size[DPT_MAXDIM];
  for (int d = 0; d < a->ndim_; d++) size[d] = d == dim ? idx->size_[0] : a->size_[d];
  failed = failed || dpt__result(r, a->ndim_, size, dpt_tensor_device(a)) ||
           index_launch(fn, DPT__INDEX_read, a, dim, idx, r, 0, 1);
  dpt_tensor_free(&moved);
  return failed;
}

/* Implements indexCopy and indexAdd. */
static int index_into(const char *fn, int mode, dpt_tensor *r, int dim, const dpt_tensor *idx,
                      const dpt_tensor *a) {
  DPT__TRY(dpt__check_kind(fn, r, a) || dpt__check_dim(fn, r, dim) || index_check_vector(fn, idx));
  int64_t n = idx->ndim_ ? idx->size_[0] : 0;
  int fits = a->ndim_ == r->ndim_ || n == 0;
  for (int d = 0; d < r->ndim_ && fits && n; d++)
    fits = a->size_[d] == (d == dim ? n : r->size_[d]);
  if (!fits)
    return dpt__fail("%s: a %s does not fit %lld slices of dimension %d of a %s", fn,
                     dpt__describe(a), (long long)n, dim + 1, dpt__describe(r));
  return n ? index_by(fn, mode, r, dim, idx, a, 0, 1) : 0;
}

int dpt_index_copy(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a) {
  return index_into("indexCopy", DPT__INDEX_write, r, dim, idx, a);
}

int dpt_index_add(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a) {
  return index_into("indexAdd", DPT__INDEX_add, r, dim, idx, a);
}

int dpt_index_fill(dpt_tensor *r, int dim, const dpt_tensor *idx, double value) {
  static const char fn[] = "indexFill";
  DPT__TRY(dpt__check_dim(fn, r, dim) || index_check_vector(fn, idx));
  return idx->ndim_ ? index_by(fn, DPT__INDEX_fill, r, dim, idx, NULL, value, 1) : 0;
}

/* Implements gather (read), scatter (write), scatterAdd, scatter of a number (fill, small NULL). */
static int index_gather(const char *fn, int mode, const dpt_tensor *big, int dim,
                        const dpt_tensor *idx, const dpt_tensor *small, double value) {
  int reads = mode == DPT__INDEX_read;
  if (small) DPT__TRY(dpt__check_kind(fn, reads ? small : big, reads ? big : small));
  DPT__TRY(dpt__check_dim(fn, big, dim));
  int fits = idx->ndim_ == big->ndim_ && (!small || small->ndim_ == idx->ndim_);
  for (int d = 0; d < big->ndim_ && fits; d++)
    fits =
        (d == dim || idx->size_[d] <= big->size_[d]) &&
        (!small || (reads ? small->size_[d] == idx->size_[d] : small->size_[d] >= idx->size_[d]));
  if (!fits && small)
    return dpt__fail("%s: indices of size %s do not fit %s and %s", fn, dpt__describe_size(idx),
                     dpt__describe(big), dpt__describe(small));
  if (!fits)
    return dpt__fail("%s: indices of size %s do not fit a %s", fn, dpt__describe_size(idx),
                     dpt__describe(big));
  return index_by(fn, mode, big, dim, idx, small, value, 0);
}

int dpt_gather(dpt_tensor *r, const dpt_tensor *a, int dim, const dpt_tensor *idx) {
  return index_gather("gather", DPT__INDEX_read, a, dim, idx, r, 0);
}

int dpt_scatter(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a) {
  return index_gather("scatter", DPT__INDEX_write, r, dim, idx, a, 0);
}

int dpt_scatter_add(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a) {
  return index_gather("scatterAdd", DPT__INDEX_add, r, dim, idx, a, 0);
}

int dpt_scatter_fill(dpt_tensor *r, int dim, const dpt_tensor *idx, double value) {
  return index_gather("scatter", DPT__INDEX_fill, r, dim, idx, NULL, value);
}
