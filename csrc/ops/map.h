/* map.h: fill, copy and pointwise kernels, between ops and the backends.
 *
 * What must stay true: operand 0 of every walk is the result. The dtypes in the walk are those of
 * memory; an operation on f16 computes in float. Operands do not overlap except element by element.
 */
#ifndef DPT_OPS_MAP_H
#define DPT_OPS_MAP_H
#include "tensor/walk.h"

enum dpt__map_op {
#define DPT_MAP(name, operands, real, integer) DPT__MAP_##name,
#define DPT_REAL(name, operands, formula) DPT__MAP_##name,
#define DPT_INTEGER(name, operands, formula) DPT__MAP_##name,
#define DPT_COMPARE(name, operands, condition) DPT__MAP_##name,
#include "ops/map.def"
#undef DPT_MAP
#undef DPT_REAL
#undef DPT_INTEGER
#undef DPT_COMPARE
  DPT__NMAP
};

/* Whether the last operand is a divisor, which of integers may not be 0. */
static inline int dpt__map_divides(int op) {
  return op == DPT__MAP_cdiv || op == DPT__MAP_cfmod || op == DPT__MAP_cremainder ||
         op == DPT__MAP_addcdiv;
}

struct dpt__map_args {
  int32_t op;
  int32_t dtype; /* the operands' */
  double p, q;
  dpt__walk walk;
};

/* r = value, converted. */
struct dpt__fill_args {
  double value;
  dpt__walk walk;
};

/* r = a with conversion; both on this backend's memory. */
struct dpt__convert_args {
  dpt__walk walk;
};

#endif
