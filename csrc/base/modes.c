/* modes.c: process-wide modes: deterministic mode, TF32 float products on GPUs.
 *
 * Invariant: a function reads the mode when it is called and passes the value in the kernel's args,
 * so a later change does not affect queued work. DPT_DETERMINISTIC is read once.
 */
#include "dpt.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int deterministic = -1; /* -1: the environment was not read yet */
static atomic_int tf32;

void dpt_deterministic_set(int on) { atomic_store(&deterministic, on != 0); }

int dpt_deterministic_get(void) {
  int now = atomic_load(&deterministic);
  if (now >= 0) return now;
  const char *text = getenv("DPT_DETERMINISTIC");
  int from_environment = text && atoi(text) != 0;
  atomic_compare_exchange_strong(&deterministic, &now, from_environment);
  return atomic_load(&deterministic);
}

void dpt_tf32_set(int on) { atomic_store(&tf32, on != 0); }
int dpt_tf32_get(void) { return atomic_load(&tf32); }
