/* rows.c: chooses the table of row functions for this machine. */
#include "host/rows.h"

#include "base/cpu.h"

const dpt__rows *dpt__rows_pick(void) {
  return DPT__BY_ISA(&dpt__rows_base, &dpt__rows_avx2, &dpt__rows_avx512);
}
