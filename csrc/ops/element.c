/* element.c: fill, and reading and writing single elements.
 *
 * What must stay true: reading an element of a device waits for exactly the current stream of that
 * device; writing one is queued there. An element outside the storage is refused. A number becomes
 * an element as in dpt__put_element.
 */
#include "base/element.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/graph.h"
#include "ops/map.h"
#include "tensor/tensor.h"
#include <inttypes.h>

int dpt_fill(dpt_tensor *r, double value) {
  struct dpt__route route;
  struct dpt__fill_args args;
  const dpt_tensor *operands[] = {r};
  if (dpt__count(r) == 0) return 0;
  DPT__TRY(dpt__route(&route, "fill", 1, operands));
  args.value = value;
  dpt__walk_start(&args.walk, 1, operands);
  dpt__walk_sort(&args.walk);
  return dpt__launch(&route, fill, "fill", &args);
}

static int check_offset(const char *fn, const dpt_tensor *t, int64_t offset) {
  char text[DPT__TEXT];
  int64_t size = t->store_ ? t->store_->size : 0;
  if (offset >= -t->first_ && offset < size - t->first_) return 0;
  return dpt__fail("%s: offset %" PRId64 " of a %s lies outside its storage of %" PRId64
                   " elements",
                   fn, offset, dpt__describe(text, t), size);
}

int dpt_get(const dpt_tensor *t, int64_t offset, double *value) {
  int dtype = dpt__type(t);
  size_t size = dpt__dtype_size(dtype);
  DPT__TRY(check_offset("get", t, offset));
  const char *from = (const char *)dpt__at(t) + offset * (int64_t)size;
  if (!dpt__is_device(t->kind_)) {
    *value = dpt__plain(dpt__get_element(dtype, from));
    return 0;
  }
  struct dpt__route route;
  const dpt_tensor *const operands[] = {NULL, t};
  uint64_t element = 0;
  DPT__TRY(dpt__graph_refuses("get", "it waits for the device"));
  DPT__TRY(dpt__route(&route, "get", 2, operands));
  DPT__TRY(dpt__copy_on(route.context.stream, "get", &element, NULL, from, t->store_->block, size));
  DPT__TRY(dpt__wait(&route));
  *value = dpt__plain(dpt__get_element(dtype, &element));
  return 0;
}

int dpt_put(dpt_tensor *t, int64_t offset, double value) {
  DPT__TRY(check_offset("set", t, offset));
  if (!dpt__is_device(t->kind_)) {
    size_t size = dpt__dtype_size(dpt__type(t));
    dpt__put_element(dpt__type(t), (char *)dpt__at(t) + offset * (int64_t)size, value);
    return 0;
  }
  dpt_tensor one = {.store_ = t->store_, .kind_ = t->kind_, .first_ = t->first_ + offset};
  one.ndim_ = 1;
  one.size_[0] = one.step_[0] = 1;
  return dpt_fill(&one, value);
}

static int offset_at(const char *fn, const dpt_tensor *t, int n, const int64_t *index,
                     int64_t *offset) {
  char text[DPT__TEXT];
  if (n != t->ndim_ || n == 0)
    return dpt__fail("%s: got %d indices for a %s, wanted %d", fn, n, dpt__describe(text, t),
                     t->ndim_);
  *offset = 0;
  for (int d = 0; d < n; d++) {
    if (index[d] < 0 || index[d] >= t->size_[d])
      return dpt__fail("%s: index %" PRId64 " is out of range of dimension %d of a %s", fn,
                       dpt__from_one(index[d]), d + 1, dpt__describe(text, t));
    *offset += index[d] * t->step_[d];
  }
  return 0;
}

int dpt_get_at(const dpt_tensor *t, int n, const int64_t *index, double *value) {
  int64_t offset;
  DPT__TRY(offset_at("get", t, n, index, &offset));
  return dpt_get(t, offset, value);
}

int dpt_put_at(dpt_tensor *t, int n, const int64_t *index, double value) {
  int64_t offset;
  DPT__TRY(offset_at("set", t, n, index, &offset));
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
