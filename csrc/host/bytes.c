/* bytes.c: copies of plain bytes, within a device and between devices.
 *
 * Invariant: a copy between devices takes at least as long as the link of DPT_LINK would; the
 * stream sleeps for the remaining time. Between devices that are not peers, bytes go through a
 * buffer, as with a GPU's driver.
 */
#include "device/copy.h"
#include "device/fault.h"
#include "host/kernels.h"

#include <string.h>

enum { STAGE = 1 << 14 };

static void bytes_copy_staged(const dpt__piece *piece) {
  char stage[STAGE];
  for (size_t done = 0, n; done < piece->bytes; done += n) {
    n = piece->bytes - done < STAGE ? piece->bytes - done : STAGE;
    memcpy(stage, (const char *)piece->from + done, n);
    memcpy((char *)piece->to + done, stage, n);
  }
}

int dpt__host_copy_bytes(dpt__context *context, const void *args) {
  const struct dpt__copy_bytes_args *a = args;
  int64_t start = a->way != DPT__WITHIN ? dpt__now() : 0;
  uint64_t bytes = 0;
  for (int i = 0; i < a->count; i++) bytes += a->piece[i].bytes;
  for (int i = 0; i < a->count; i++) {
    const dpt__piece *piece = &a->piece[i];
    if (a->way == DPT__STAGED)
      bytes_copy_staged(piece);
    else
      memmove(piece->to, piece->from, piece->bytes);
  }
  if (a->way != DPT__WITHIN) dpt__sleep(start + dpt__link_ns(bytes) - dpt__now());
  return 0;
}
