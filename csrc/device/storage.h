/* storage.h: reference-counted memory, the only counted object in dpt.
 *
 * Invariant: the count is atomic, any thread may release a storage, and releasing never waits.
 * Device memory is returned to the allocator with the set of streams that used it; its block is
 * allocated again, on its own stream, only after their last events. `data` and `size` change only
 * in dpt_storage_resize. Elements are of the type in `kind`.
 */
#ifndef DPT_DEVICE_STORAGE_H
#define DPT_DEVICE_STORAGE_H
#include "base/dtype.h"
#include "device/allocator.h"
#include <stdatomic.h>

struct dpt_storage {
  atomic_int references;
  int kind;         /* like dpt_tensor.kind_ */
  int device;       /* from 1; 0: host memory */
  int flags;        /* DPT__PINNED, DPT__FIXED (not resizable), DPT__FOREIGN (not dpt's) */
  int64_t size;     /* elements */
  int64_t capacity; /* elements allocated: see dpt_storage_resize */
  void *data;
  struct dpt__block *block;   /* the allocator's record of device memory */
  struct dpt_storage *parent; /* a view's parent owns the memory; the view holds one reference */
  /* Releases foreign memory (DPT__FOREIGN) when the storage is freed; NULL: nothing to do. */
  void (*release)(struct dpt_storage *s);
  struct dpt__mapping *mapping; /* the mapping of a file, for its release function (mapped.c) */
  atomic_uint_least64_t writes; /* grows with every operation that writes to this storage */
};
enum { DPT__PINNED = 1, DPT__FIXED = 2, DPT__FOREIGN = 4 };

/* Like dpt_storage_new, on the given device (0: the current one; ignored for host memory). */
int dpt__storage_new_on(dpt_storage **r, int kind, int64_t size, int device);

/* True while this thread queues a sum concurrently with a backward pass (comm/reducer.c). Its
 * writes are counted when the pass ends, so that until then a gradient's count includes only its
 * replica's writes. */
extern _Thread_local int dpt__writes_later;

/* Bytes of storages allocated by this thread, minus those that it freed. */
extern _Thread_local int64_t dpt__own_live_bytes;

/* Creates a storage over host memory that dpt did not allocate; the caller may set its release
 * function. */
int dpt__storage_over(dpt_storage **r, int kind, void *data, int64_t size);
/* Allocate memory of a storage whose kind, device and flags are set, and free it. */
int dpt__storage_alloc(dpt_storage *s, size_t bytes, void **data, struct dpt__block **block);
void dpt__storage_free(dpt_storage *s);
int dpt__storage_bytes(int kind, int64_t size, size_t *bytes); /* the bytes of `size` elements */

/* Records that captured work writes to the storage: its replays count as writes, too. */
void dpt__storage_capture_write(dpt_storage *s);
/* Counts a write. Launches and copies call it for every result; other code that writes must call
 * it. */
static inline void dpt__storage_written(dpt_storage *s) {
  while (s->parent) s = s->parent;
  if (!s->device) { /* two concurrent writes may count as one */
    uint64_t writes = atomic_load_explicit(&s->writes, memory_order_relaxed);
    atomic_store_explicit(&s->writes, writes + 1, memory_order_relaxed);
    return;
  }
  if (dpt__own_capture) dpt__storage_capture_write(s);
  if (!dpt__writes_later) atomic_fetch_add_explicit(&s->writes, 1, memory_order_relaxed);
}
static inline void dpt__written(const dpt_tensor *t) {
  if (t->storage_) dpt__storage_written(t->storage_);
}

/* Returns the address of the first element; NULL if there is no storage. */
static inline void *dpt__at(const dpt_tensor *t) {
  if (!t->storage_) return NULL;
  return (char *)t->storage_->data + (size_t)t->offset_ * dpt__dtype_size(dpt__dtype(t->kind_));
}

#endif
