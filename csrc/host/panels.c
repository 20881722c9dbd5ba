/* panels.c: the products of this machine. */
#include "host/panels.h"

#include "base/cpu.h"
#include "base/dtype.h"

const dpt__panels *dpt__panels_for(int type) {
  static const dpt__panels *const sets[] = {
      [DPT__ISA_BASE] = dpt__panels_base,
#ifdef __x86_64__
      [DPT__ISA_AVX2] = dpt__panels_avx2,
      [DPT__ISA_AVX512] = dpt__panels_avx512,
#endif
  };
  return &sets[dpt__isa()][type == DPT_F64];
}
