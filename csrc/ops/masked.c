/* masked.c: maskedSelect, maskedCopy, maskedFill and nonzero: checks and shapes, then the kernels
 * of index.h.
 *
 * Invariant: a mask is a Byte tensor with as many elements as the other operand. Both are in host
 * memory, or both in device memory. Nonzero means true. The order is row-major, each operand in its
 * own shape.
 */
#include "device/launch.h"
#include "ops/copy.h"
#include "ops/index.h"
#include "ops/map.h"
#include "ops/reduce.h"
#include "tensor/tensor.h"

static int masked_check(const char *fn, const dpt_tensor *a, const dpt_tensor *mask) {
  int wanted = DPT_U8 | (a->kind_ & DPT_ON_DEVICE);
  if (mask->kind_ != wanted)
    return dpt__fail("%s: the mask is a %s, wanted a %s", fn, dpt__kind_name(mask->kind_),
                     dpt__kind_name(wanted));
  if (dpt__count(mask) == dpt__count(a)) return 0;
  return dpt__fail("%s: the mask is a %s, wanted as many elements as in a %s", fn,
                   dpt__describe(mask), dpt__describe(a));
}

/* Walks a and its mask, or a contiguous copy of the mask if the two have no common rows. */
static int masked_launch(const char *fn, int mode, const dpt_tensor *a, const dpt_tensor *mask,
                         const dpt_tensor *list, double value) {
  const dpt_tensor *operands[] = {a, mask};
  dpt__launch l;
  dpt__masked_args g = {.mode = mode, .value = value};
  dpt_tensor copies[2] = {{0}, {0}};
  int failed = dpt__walk_over(&g.walk, 2, operands, copies, 0);
  if (!failed && mode == DPT__INDEX_write) dpt__walk_check_serial(&g.walk);
  if (list) g.capacity = dpt__count(list);
  dpt__launch_begin(&l, fn);
  dpt__launch_operand(&l, mode == DPT__INDEX_read ? DPT__IN : DPT__OUT, a, &g.walk.data[0]);
  dpt__launch_operand(&l, mode == DPT__INDEX_read ? DPT__OUT : DPT__IN, list, &g.list);
  dpt__launch_in(&l, operands[1], &g.walk.data[1]);
  failed = failed || dpt__launch_run(&l, masked, &g);
  dpt_tensor_free(&copies[1]);
  return failed;
}

int dpt_masked_select(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *mask) {
  static const char fn[] = "maskedSelect";
  int64_t n;
  DPT__TRY(dpt__check_kind(fn, r, a) || masked_check(fn, a, mask) ||
           dpt__count_nonzero(fn, mask, &n));
  dpt_tensor list = {.kind_ = r->kind_};
  if (n == 0) return dpt_resize(r, 0, NULL);
  int failed = dpt__result(&list, 1, &n, dpt_tensor_device(a)) ||
               masked_launch(fn, DPT__INDEX_read, a, mask, &list, 0);
  return dpt__copy_result(failed, r, &list);
}

int dpt_masked_copy(dpt_tensor *r, const dpt_tensor *mask, const dpt_tensor *a) {
  static const char fn[] = "maskedCopy";
  dpt_tensor list = {.kind_ = a->kind_};
  DPT__TRY(dpt__check_kind(fn, r, a) || masked_check(fn, r, mask));
  if (dpt__count(r) == 0) return 0;
  int failed = dpt_contiguous(&list, a) || masked_launch(fn, DPT__INDEX_write, r, mask, &list, 0);
  dpt_tensor_free(&list);
  return failed;
}

int dpt_masked_fill(dpt_tensor *r, const dpt_tensor *mask, double value) {
  DPT__TRY(masked_check("maskedFill", r, mask));
  if (dpt__count(r) == 0) return 0;
  return masked_launch("maskedFill", DPT__INDEX_fill, r, mask, NULL, value);
}

int dpt_nonzero(dpt_tensor *r, const dpt_tensor *a) {
  static const char fn[] = "nonzero";
  int64_t n;
  DPT__TRY(dpt__check_indices(fn, r, a) || dpt__count_nonzero(fn, a, &n));
  if (n == 0) return dpt_resize(r, 0, NULL);
  const int64_t size[] = {n, a->ndim_};
  dpt_tensor list = {.kind_ = r->kind_};
  dpt__launch l;
  dpt__nonzero_args g = {.ndim = a->ndim_, .capacity = n};
  for (int d = 0; d < a->ndim_; d++) g.size[d] = a->size_[d];
  int failed = dpt__result(&list, 2, size, dpt_tensor_device(a)) || dpt__walk_start(&g.walk, 1, &a);
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, &list, &g.out);
  dpt__launch_in(&l, a, NULL);
  failed = failed || dpt__launch_run(&l, nonzero, &g);
  return dpt__copy_result(failed, r, &list);
}
