/* sort.c: sort, topk, kthvalue and mode: checks and shapes, then the kernel of sort.h. */
#include "ops/sort.h"
#include "device/launch.h"
#include "tensor/tensor.h"

static int sort_run(const char *fn, int mode, dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *in,
                    int dim, int64_t k, int64_t size_along, int descending) {
  int64_t size[DPT_MAXDIM];
  int device = dpt_tensor_device(in);
  const dpt_tensor view = *in, *a = &view; /* a copy: r may be `in`, and is resized */
  DPT__TRY(dpt__check_dim(fn, a, dim) || dpt__check_kind(fn, r, a) ||
           dpt__check_indices(fn, idx, a));
  for (int d = 0; d < a->ndim_; d++) size[d] = d == dim ? size_along : a->size_[d];
  DPT__TRY(dpt__result(r, a->ndim_, size, device) || dpt__result(idx, a->ndim_, size, device));
  dpt__launch l;
  dpt__sort_args g = {.mode = mode, .dtype = dpt__type(a), .descending = descending, .k = k};
  g.n = a->size_[dim];
  g.a_stride = a->stride_[dim], g.r_stride = r->stride_[dim], g.idx_stride = idx->stride_[dim];
  dpt__slices_start(&g.slices, a, dim, 3, (const dpt_tensor *const[]){a, r, idx});
  if (g.slices.count == 0 || g.n == 0) return 0;
  dpt__launch_begin(&l, fn);
  dpt__launch_in(&l, a, &g.a);
  dpt__launch_out(&l, r, &g.r);
  dpt__launch_out(&l, idx, &g.idx);
  return dpt__launch_run(&l, sort, &g);
}

int dpt_sort(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim, int descending) {
  if (a->ndim_ == 0) { /* nothing to sort, as in Torch7 */
    return dpt__check_kind("sort", r, a) || dpt__check_indices("sort", idx, a) ||
           dpt_resize_as(r, a) || dpt_resize_as(idx, a);
  }
  DPT__TRY(dpt__check_dim("sort", a, dim));
  return sort_run("sort", DPT__SORT_all, r, idx, a, dim, 0, a->size_[dim], descending);
}

static int sort_check_k(const char *fn, const dpt_tensor *a, int64_t k, int dim) {
  DPT__TRY(dpt__check_dim(fn, a, dim));
  if (k >= 1 && k <= a->size_[dim]) return 0;
  return dpt__fail("%s: k is %lld, wanted 1 to the size of dimension %d, %lld", fn, (long long)k,
                   dim + 1, (long long)a->size_[dim]);
}

int dpt_topk(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim, int largest,
             int sorted_) {
  DPT__TRY(sort_check_k("topk", a, k, dim));
  return sort_run("topk", DPT__SORT_some, r, idx, a, dim, k, k, largest);
}

int dpt_kthvalue(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim) {
  DPT__TRY(sort_check_k("kthvalue", a, k, dim));
  return sort_run("kthvalue", DPT__SORT_kth, r, idx, a, dim, k, 1, 0);
}

int dpt_mode(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim) {
  DPT__TRY(dpt__check_dim("mode", a, dim));
  return sort_run("mode", DPT__SORT_mode, r, idx, a, dim, 1, 1, 0);
}
