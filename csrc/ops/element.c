/* element.c: fills tensors, and reads and writes single elements.
 *
 * Invariant: reading an element of a device waits for exactly the current stream of that device;
 * writing one is queued there. An element outside the storage is rejected. Numbers are converted to
 * elements as in dpt__put_element.
 */
#include "base/element.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/launch.h"
#include "ops/map.h"
#include "tensor/tensor.h"
#include <inttypes.h>

int dpt_fill(dpt_tensor *r, double value) {
  dpt__launch l;
  struct dpt__fill_args args;
  if (dpt__count(r) == 0) return 0;
  dpt__launch_begin(&l, "fill");
  dpt__launch_out(&l, r, NULL);
  args.value = value;
  dpt__walk_start(&args.walk, 1, (const dpt_tensor *const[]){r});
  dpt__walk_sort(&args.walk);
  return dpt__launch_run(&l, fill, &args);
}

static int element_check_offset(const char *fn, const dpt_tensor *t, int64_t offset) {
  int64_t size = t->storage_ ? t->storage_->size : 0;
  if (offset >= -t->offset_ && offset < size - t->offset_) return 0;
  return dpt__fail("%s: offset %" PRId64 " of a %s lies outside its storage of %" PRId64
                   " elements",
                   fn, offset, dpt__describe(t), size);
}

int dpt_get(const dpt_tensor *t, int64_t offset, double *value) {
  int dtype = dpt__type(t);
  size_t size = dpt__dtype_size(dtype);
  DPT__TRY(element_check_offset("get", t, offset));
  const char *from = (const char *)dpt__at(t) + offset * (int64_t)size;
  if (!dpt__is_device(t->kind_)) {
    *value = dpt__plain(dpt__get_element(dtype, from));
    return 0;
  }
  dpt__device *device;
  uint64_t element = 0;
  DPT__TRY(dpt__device_find("get", t->storage_->device, &device));
  dpt__stream *stream = dpt__current_stream(device->number);
  DPT__TRY(dpt__copy_await(stream, "get", &element, NULL, from, t->storage_, size));
  *value = dpt__plain(dpt__get_element(dtype, &element));
  return 0;
}

int dpt_put(dpt_tensor *t, int64_t offset, double value) {
  DPT__TRY(element_check_offset("set", t, offset));
  if (!dpt__is_device(t->kind_)) {
    size_t size = dpt__dtype_size(dpt__type(t));
    dpt__put_element(dpt__type(t), (char *)dpt__at(t) + offset * (int64_t)size, value);
    dpt__written(t);
    return 0;
  }
  dpt_tensor one = {.storage_ = t->storage_, .kind_ = t->kind_, .offset_ = t->offset_ + offset};
  one.ndim_ = 1;
  one.size_[0] = one.stride_[0] = 1;
  return dpt_fill(&one, value);
}

static int element_offset_at(const char *fn, const dpt_tensor *t, int n, const int64_t *index,
                             int64_t *offset) {
  if (n != t->ndim_ || n == 0)
    return dpt__fail("%s: got %d indices for a %s, wanted %d", fn, n, dpt__describe(t), t->ndim_);
  *offset = 0;
  for (int d = 0; d < n; d++) {
    if (index[d] < 0 || index[d] >= t->size_[d])
      return dpt__fail("%s: index %" PRId64 " is out of range of dimension %d of a %s", fn,
                       dpt__from_one(index[d]), d + 1, dpt__describe(t));
    *offset += index[d] * t->stride_[d];
  }
  return 0;
}

int dpt_get_at(const dpt_tensor *t, int n, const int64_t *index, double *value) {
  int64_t offset;
  DPT__TRY(element_offset_at("get", t, n, index, &offset));
  return dpt_get(t, offset, value);
}

int dpt_put_at(dpt_tensor *t, int n, const int64_t *index, double value) {
  int64_t offset;
  DPT__TRY(element_offset_at("set", t, n, index, &offset));
  return dpt_put(t, offset, value);
}

int64_t dpt_plain(const double *from, int64_t n, double *to) {
  int64_t foreign = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, from + i, sizeof bits);
    bits &= ~(UINT64_C(1) << 63);
    foreign += bits > UINT64_C(0x7ff0000000000000) && bits != UINT64_C(0x7ff8000000000000);
    if (to) to[i] = dpt__plain(from[i]);
  }
  return foreign;
}
