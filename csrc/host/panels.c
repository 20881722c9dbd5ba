/* panels.c: selects the table of products for this machine. */
#include "host/panels.h"

#include "base/cpu.h"

const dpt__panels *dpt__panels_for(int type) {
  return &DPT__BY_ISA(dpt__panels_base, dpt__panels_avx2, dpt__panels_avx512)[type];
}
