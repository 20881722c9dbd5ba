/* resize.c: resizes storages.
 *
 * Invariant: the elements are kept, on a device by a copy on the current stream. New memory is
 * allocated if the old is too small, or if the storage shrinks and has no other references. A call
 * that fails changes nothing.
 */
#include "device/copy.h"
#include "device/device.h"
#include "device/storage.h"

#include <string.h>

int dpt_storage_resize(dpt_storage *s, int64_t size) {
  if (size == s->size) return 0;
  if (s->flags & (DPT__FIXED | DPT__FOREIGN))
    return dpt__fail("storage: got a size of %lld elements, but this one is fixed at %lld",
                     (long long)size, (long long)s->size);
  int shared = atomic_load_explicit(&s->references, memory_order_relaxed) > 1;
  if (size >= 0 && size <= s->capacity && (shared || size > s->size)) {
    s->size = size;
    return 0;
  }
  size_t bytes;
  DPT__TRY(dpt__storage_bytes(s->kind, size, &bytes));
  void *data;
  dpt__block *block;
  DPT__TRY(dpt__storage_alloc(s, bytes, &data, &block));
  size_t kept = (size_t)(size < s->size ? size : s->size) * dpt__dtype_size(dpt__dtype(s->kind));
  dpt_storage old = *s;
  s->data = data;
  s->block = block;
  s->capacity = size;
  if (kept && s->device) {
    dpt__stream *stream = dpt__current_stream(s->device);
    if (dpt__copy_on(stream, "resize", data, s, old.data, &old, kept)) {
      dpt__storage_free(s);
      s->data = old.data;
      s->block = old.block;
      s->capacity = old.capacity;
      return 1;
    }
  } else if (kept) {
    memcpy(data, old.data, kept);
  }
  dpt__storage_free(&old);
  s->size = size;
  return 0;
}
