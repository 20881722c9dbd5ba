/* deterministic.c: the process-wide deterministic mode.
 *
 * Invariant: the value at a function's call counts and travels in the kernel's args, so that work
 * in a queue is not changed by a later switch. DPT_DETERMINISTIC is read once.
 */
#include "dpt.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int state = -1; /* -1: the environment was not looked at yet */

void dpt_deterministic_set(int on) { atomic_store(&state, on != 0); }

int dpt_deterministic_get(void) {
  int now = atomic_load(&state);
  if (now >= 0) return now;
  const char *text = getenv("DPT_DETERMINISTIC");
  int from_environment = text && atoi(text) != 0;
  atomic_compare_exchange_strong(&state, &now, from_environment);
  return atomic_load(&state);
}
