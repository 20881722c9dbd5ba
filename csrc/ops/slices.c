/* slices.c: orders and merges all dimensions but the one that a kernel works along (slices.h). */
#include "ops/slices.h"
#include "tensor/tensor.h"

void dpt__slices_start(dpt__slices *slices, const dpt_tensor *shape, int dim, int n,
                       const dpt_tensor *const *operands) {
  int order[DPT_MAXDIM], dims = 0;
  const int64_t *first = operands[operands[0] ? 0 : 1]->stride_;
  *slices = (dpt__slices){.count = 1};
  for (int d = 0; d < shape->ndim_; d++) {
    if (d == dim || shape->size_[d] == 1) continue;
    int at = dims++;
    for (; at > 0 && first[order[at - 1]] < first[d]; at--) order[at] = order[at - 1];
    order[at] = d;
  }
  for (int i = 0; i < dims; i++) {
    int d = order[i], last = slices->ndim - 1, joins = last >= 0;
    int64_t size = shape->size_[d], stride[DPT__SLICE_OPERANDS] = {0};
    slices->count *= size;
    for (int k = 0; k < n; k++) {
      if (operands[k]) stride[k] = operands[k]->stride_[d];
      joins = joins && slices->stride[k][last] == size * stride[k];
    }
    if (!joins) slices->size[last = slices->ndim++] = 1;
    slices->size[last] *= size;
    for (int k = 0; k < n; k++) slices->stride[k][last] = stride[k];
  }
}

int dpt__check_indices(const char *fn, const dpt_tensor *idx, const dpt_tensor *a) {
  int wanted = DPT_I64 | (a->kind_ & DPT_ON_DEVICE);
  if (idx->kind_ == wanted) return 0;
  return dpt__fail("%s: the indices are a %s, wanted a %s", fn, dpt__kind_name(idx->kind_),
                   dpt__kind_name(wanted));
}
