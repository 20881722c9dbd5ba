/* bytes.c: copies of plain bytes, within a device and between devices.
 *
 * What must stay true: a copy between devices lasts at least as long as the link of DPT_LINK
 * takes, and the stream sleeps for the rest of that time.
 */
#include "device/copy.h"
#include "device/fault.h"
#include "host/kernels.h"

#include <string.h>

int dpt__host_copy_bytes(dpt__context *context, const void *args) {
  const struct dpt__copy_bytes_args *a = args;
  int64_t start = a->between ? dpt__now() : 0;
  uint64_t bytes = 0;
  for (int i = 0; i < a->count; i++) bytes += a->piece[i].bytes;
  if (dpt__fault(DPT__FAULT_COPY))
    return dpt__fail("copy of %llu bytes: failed on demand (DPT_FAULT)", (unsigned long long)bytes);
  for (int i = 0; i < a->count; i++) memmove(a->piece[i].to, a->piece[i].from, a->piece[i].bytes);
  if (a->between) dpt__sleep(start + dpt__link_ns(bytes) - dpt__now());
  return 0;
}
