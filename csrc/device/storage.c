/* storage.c: reference-counted memory on the host and on devices (see storage.h). */
#include "device/storage.h"

#include "device/device.h"
#include "device/fault.h"

#include <stdlib.h>

_Thread_local int dpt__writes_later;
_Thread_local int64_t dpt__own_live_bytes;

static atomic_llong live; /* bytes of host storages */

int64_t dpt_host_live_bytes(void) { return atomic_load_explicit(&live, memory_order_relaxed); }

int dpt__storage_bytes(int kind, int64_t size, size_t *bytes) {
  size_t each = dpt__dtype_size(dpt__dtype(kind));
  if (size < 0 || (uint64_t)size > (uint64_t)PTRDIFF_MAX / 2 / each)
    return dpt__fail("storage: got a size of %lld elements of %s, wanted 0 to %lld",
                     (long long)size, dpt__dtype_name(dpt__dtype(kind)),
                     (long long)(PTRDIFF_MAX / 2 / each));
  *bytes = (size_t)size * each;
  return 0;
}

static int storage_take_host(size_t bytes, void **data) {
  *data = NULL;
  if (!bytes) return 0;
  if (dpt__fault(DPT__FAULT_MALLOC)) {
    *data = NULL;
  } else {
    dpt__host.memory_alloc(0, bytes, data);
  }
  if (!*data)
    return dpt__no_memory("no host memory: %zu bytes requested, %lld bytes live", bytes,
                          (long long)dpt_host_live_bytes());
  atomic_fetch_add_explicit(&live, (long long)bytes, memory_order_relaxed);
  return 0;
}

static void storage_give_host(void *data, size_t bytes) {
  if (!data) return;
  dpt__host.memory_free(0, data, bytes);
  atomic_fetch_sub_explicit(&live, (long long)bytes, memory_order_relaxed);
}

int dpt__storage_alloc(dpt_storage *s, size_t bytes, void **data, dpt__block **block) {
  *data = NULL;
  *block = NULL;
  if (!s->device && !(s->flags & DPT__PINNED)) {
    DPT__TRY(storage_take_host(bytes, data));
  } else if (bytes) {
    DPT__TRY(dpt__block_alloc(s->device, bytes, block));
    *data = (*block)->data;
  }
  dpt__own_live_bytes += (int64_t)bytes;
  return 0;
}

void dpt__storage_free(dpt_storage *s) {
  if (s->release) s->release(s);
  if (s->flags & DPT__FOREIGN) return;
  size_t bytes = (size_t)s->capacity * dpt__dtype_size(dpt__dtype(s->kind));
  if (s->block) {
    dpt__block_free(s->block);
  } else {
    storage_give_host(s->data, bytes);
  }
  dpt__own_live_bytes -= (int64_t)bytes;
}

/* Creates a storage without memory. */
static int storage_init(dpt_storage **r, int kind, int device, int flags, int64_t size) {
  dpt_storage *s = malloc(sizeof *s);
  if (!s) return dpt__no_memory("no host memory for a storage");
  *s =
      (dpt_storage){.kind = kind, .device = device, .flags = flags, .size = size, .capacity = size};
  atomic_init(&s->references, 1);
  *r = s;
  return 0;
}

static int storage_new(dpt_storage **r, int kind, int64_t size, int device, int flags) {
  size_t bytes;
  dpt_storage *s;
  DPT__TRY(dpt__storage_bytes(kind, size, &bytes));
  DPT__TRY(storage_init(&s, kind, device, flags, size));
  if (dpt__storage_alloc(s, bytes, &s->data, &s->block)) {
    free(s);
    return 1;
  }
  *r = s;
  return 0;
}

int dpt__storage_new_on(dpt_storage **r, int kind, int64_t size, int device) {
  dpt__device *found = NULL;
  if (dpt__is_device(kind)) DPT__TRY(dpt__device_find(dpt__kind_name(kind), device, &found));
  return storage_new(r, kind, size, found ? found->number : 0, 0);
}

int dpt_storage_new(dpt_storage **r, int kind, int64_t size) {
  return dpt__storage_new_on(r, kind, size, 0);
}

int dpt_storage_new_pinned(dpt_storage **r, int kind, int64_t size) {
  if (dpt__is_device(kind))
    return dpt__fail("createCudaHostTensor: got %s, wanted a type of host memory",
                     dpt__kind_name(kind));
  return storage_new(r, kind, size, 0, DPT__PINNED);
}

int dpt__storage_over(dpt_storage **r, int kind, void *data, int64_t size) {
  DPT__TRY(storage_new(r, kind, 0, 0, DPT__FIXED | DPT__FOREIGN));
  (*r)->data = data;
  (*r)->size = (*r)->capacity = size;
  return 0;
}

int dpt_storage_view(dpt_storage **r, dpt_storage *parent, int64_t first, int64_t size) {
  if (first < 0 || size < 0 || first > parent->size || size > parent->size - first)
    return dpt__fail(
        "storage: got a view of %lld elements from element %lld, wanted it within %lld elements",
        (long long)size, (long long)first + 1, (long long)parent->size);
  dpt_storage *s;
  int flags = (parent->flags & DPT__PINNED) | DPT__FIXED | DPT__FOREIGN;
  DPT__TRY(storage_init(&s, parent->kind, parent->device, flags, size));
  s->data = parent->data;
  if (size) s->data = (char *)parent->data + (size_t)first * dpt__dtype_size(dpt__dtype(s->kind));
  s->block = parent->block;
  s->parent = parent;
  parent->flags |= DPT__FIXED; /* its memory must not move from now on */
  dpt_storage_retain(parent);
  *r = s;
  return 0;
}

void dpt_storage_retain(dpt_storage *s) {
  dpt__assert(!s || atomic_load(&s->references) > 0);
  if (s) atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
}

void dpt_storage_release(dpt_storage *s) {
  if (!s) return;
  int references = atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel);
  dpt__assert(references > 0);
  if (references != 1) return;
  if (s->parent) {
    dpt_storage_release(s->parent);
  } else {
    dpt__storage_free(s);
  }
  free(s);
}

void dpt__storage_capture_write(dpt_storage *s) {
  dpt__capture *capture = dpt__own_capture;
  for (int i = 0; i < capture->written.n; i++)
    if (capture->written.item[i] == s) return;
  if (dpt__list_add(&capture->written, s))
    capture->failed = 1;
  else
    dpt_storage_retain(s);
}

int64_t dpt_storage_size(const dpt_storage *s) { return s->size; }
int dpt_storage_kind(const dpt_storage *s) { return s->kind; }
int dpt_storage_device(const dpt_storage *s) { return s->device; }
int dpt_storage_pinned(const dpt_storage *s) { return (s->flags & DPT__PINNED) != 0; }
void *dpt_storage_data(const dpt_storage *s) { return s->data; }
uint64_t dpt_storage_writes(const dpt_storage *s) {
  while (s->parent) s = s->parent;
  return atomic_load_explicit(&s->writes, memory_order_relaxed);
}
