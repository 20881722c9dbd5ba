/* tf32.c: the process-wide switch of short float products on GPUs.
 *
 * Invariant: the value at a function's call counts and travels in the kernel's args, so that work
 * in a queue is not changed by a later switch.
 */
#include "dpt.h"

#include <stdatomic.h>

static atomic_int state;

void dpt_tf32_set(int on) { atomic_store(&state, on != 0); }
int dpt_tf32_get(void) { return atomic_load(&state); }
