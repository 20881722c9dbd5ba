/* timeout.c: see timeout.h. */
#include "device/timeout.h"

#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { DEFAULT = 600, MOST = 1000000 }; /* seconds */

/* The older name DPT_NCCL_TIMEOUT, for collectives of NCCL only, is still read. */
static const char *timeout_text_of(void) {
  const char *text = getenv("DPT_TIMEOUT");
  return text && *text ? text : getenv("DPT_NCCL_TIMEOUT");
}

/* Returns 0 if the text is not a valid time. */
static double timeout_seconds_of(const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  return !*end && seconds > 0 && seconds <= MOST ? seconds : 0;
}

static int64_t timeout_of(const char *text) {
  double seconds = text ? timeout_seconds_of(text) : 0;
  return (int64_t)((seconds > 0 ? seconds : DEFAULT) * 1e9);
}

static _Atomic int64_t timeout_kept; /* 0: not set */

int dpt__timeout_keep(void) {
  const char *text = timeout_text_of();
  if (text && *text && timeout_seconds_of(text) == 0)
    return dpt__fail("DPT_TIMEOUT: got '%s', wanted seconds as in 600, at most %d", text, MOST);
  atomic_store(&timeout_kept, timeout_of(text));
  return 0;
}

int64_t dpt__timeout(void) {
  int64_t kept = atomic_load(&timeout_kept);
  return kept ? kept : timeout_of(timeout_text_of());
}
