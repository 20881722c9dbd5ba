/* assert.c: functions of test builds (assert.h and lock.h have the rules). */
#include "base/lock.h"

#ifdef DPT_ASSERTIONS
#include <stdio.h>
#include <stdlib.h>

void dpt__assert_failed(const char *what, const char *file, int line) {
  fprintf(stderr, "dpt: %s:%d: assertion failed: %s\n", file, line, what);
  abort();
}

_Thread_local char dpt__lock_self;

static _Atomic(dpt__sync_fn *) hook;

void dpt__sync_set(dpt__sync_fn *fn) { atomic_store(&hook, fn); }

int dpt__sync_reached(const char *name) {
  dpt__sync_fn *fn = atomic_load(&hook);
  return fn ? fn(name) : 0;
}
#endif
