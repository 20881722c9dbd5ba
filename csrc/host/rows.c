/* rows.c: chooses the table of row functions for this machine. */
#include "host/rows.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <stddef.h>

const dpt__rows *dpt__rows_pick(void) {
  static const dpt__rows *_Atomic picked;
  const dpt__rows *rows = atomic_load_explicit(&picked, memory_order_relaxed);
  if (rows) return rows;
  static const dpt__rows *const sets[] = {&dpt__rows_sse2, &dpt__rows_avx2, &dpt__rows_avx512};
  rows = sets[dpt__cpu_isa(dpt__cpu_features())];
  atomic_store_explicit(&picked, rows, memory_order_relaxed);
  return rows;
}
