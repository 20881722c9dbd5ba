/* rows.c: chooses the table of row functions for this machine. */
#include "host/rows.h"

#include "base/cpu.h"

const dpt__rows *dpt__rows_pick(void) {
  static const dpt__rows *const sets[] = {
      [DPT__ISA_BASE] = &dpt__rows_base,
#ifdef __x86_64__
      [DPT__ISA_AVX2] = &dpt__rows_avx2,
      [DPT__ISA_AVX512] = &dpt__rows_avx512,
#endif
  };
  return sets[dpt__isa()];
}
