/* mapped.c: storages over memory that dpt did not allocate: a pointer's, or a file's.
 *
 * Invariant: a file's memory is unmapped, and a shared memory object removed, when the last
 * reference to the storage is released (views hold one). A call that fails leaves no memory mapped
 * and removes nothing.
 */
#include "base/status.h"
#include "device/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct dpt__mapping {
  size_t bytes;
  char *name; /* of the object to remove, or NULL */
};

static int mapped_check_kind(int kind) {
  if (!dpt__is_device(kind)) return 0;
  return dpt__fail("storage: got %s, wanted a type of host memory", dpt__kind_name(kind));
}

int dpt_storage_over(dpt_storage **r, int kind, void *data, int64_t size) {
  size_t bytes;
  DPT__TRY(mapped_check_kind(kind));
  DPT__TRY(dpt__storage_bytes(kind, size, &bytes));
  size_t each = dpt__dtype_size(dpt__dtype(kind));
  const uintptr_t lowest = 65536; /* the kernel maps nothing below */
  if (bytes && ((uintptr_t)data < lowest || (uintptr_t)data % each))
    return dpt__fail(
        "storage: got the address %p, wanted one of %zu bytes that is a multiple of %zu", data,
        bytes, each);
  return dpt__storage_over(r, kind, data, size);
}

static void mapped_forget(struct dpt__mapping *mapping) {
  free(mapping->name);
  free(mapping);
}

static void mapped_release(dpt_storage *s) {
  if (s->data) munmap(s->data, s->mapping->bytes);
  if (s->mapping->name) shm_unlink(s->mapping->name);
  mapped_forget(s->mapping);
}

/* Sets the bytes to map, and the size if it is the file's; extends the file if it is shared. */
static int mapped_measure(int file, const char *path, int kind, int shared, int64_t *size,
                          size_t *bytes) {
  struct stat about;
  if (fstat(file, &about) != 0)
    return dpt__fail("storage: cannot find the size of '%s': %s", path, strerror(errno));
  if (*size < 0) *size = about.st_size / (int64_t)dpt__dtype_size(dpt__dtype(kind));
  DPT__TRY(dpt__storage_bytes(kind, *size, bytes));
  if ((uint64_t)about.st_size >= *bytes) return 0;
  if (!shared)
    return dpt__fail("storage: '%s' has %lld bytes, wanted %zu", path, (long long)about.st_size,
                     *bytes);
  if (ftruncate(file, (off_t)*bytes) != 0)
    return dpt__fail("storage: cannot grow '%s' to %zu bytes: %s", path, *bytes, strerror(errno));
  return 0;
}

static int mapped_map(int file, const char *path, int shared, size_t bytes, void **data) {
  *data = NULL;
  if (!bytes) return 0;
  int flags = shared ? MAP_SHARED : MAP_PRIVATE;
  *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (*data != MAP_FAILED) return 0;
  *data = NULL;
  return dpt__fail("storage: cannot map %zu bytes of '%s': %s", bytes, path, strerror(errno));
}

int dpt_storage_map(dpt_storage **r, int kind, const char *path, int shared, int memory,
                    int64_t size) {
  DPT__TRY(mapped_check_kind(kind));
  int mode = shared ? O_RDWR | O_CREAT : O_RDONLY;
  int file = memory ? shm_open(path, mode, 0600) : open(path, mode | O_CLOEXEC, 0600);
  if (file < 0) return dpt__fail("storage: cannot open '%s': %s", path, strerror(errno));
  struct dpt__mapping *mapping = calloc(1, sizeof *mapping);
  void *data = NULL;
  int failed = 0;
  if (!mapping || (memory && !(mapping->name = strdup(path))))
    failed = dpt__no_memory("no host memory for a storage");
  failed = failed || mapped_measure(file, path, kind, shared, &size, &mapping->bytes) ||
           mapped_map(file, path, shared, mapping->bytes, &data) ||
           dpt__storage_over(r, kind, data, size);
  close(file);
  if (failed) {
    if (data) munmap(data, mapping->bytes);
    if (mapping) mapped_forget(mapping);
    return 1;
  }
  (*r)->mapping = mapping;
  (*r)->release = mapped_release;
  return 0;
}
