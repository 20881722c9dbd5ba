/* map.h: the arguments of the fill, copy and pointwise kernels.
 *
 * Invariant: operand 0 of every walk is the result. The dtypes in a walk are those in memory; an
 * operation on f16 computes in float. Operands overlap only element by element.
 */
#ifndef DPT_OPS_MAP_H
#define DPT_OPS_MAP_H
#include "tensor/walk.h"

enum dpt__map_op {
#define DPT_OP(name, known, operands, trait) DPT__MAP_##name,
#include "ops/map.def"
  DPT__NMAP
};

/* Properties of the operations in map.def besides names and formulas; its column `trait` has the
 * lower-case names. */
enum { DPT__REALS = 1, DPT__INTEGERS = 2, DPT__COMPARES = 4, DPT__CALLS = 8, DPT__DIVIDES = 16 };
enum { DPT__TRAIT_plain, DPT__TRAIT_calls = DPT__CALLS, DPT__TRAIT_divides = DPT__DIVIDES };
enum { DPT__TRAIT_calls_divides = DPT__CALLS | DPT__DIVIDES };

static inline int dpt__map_traits(int op) {
  static const uint8_t traits[] = {
#define DPT_REAL(name, known, operands, trait, formula) DPT__REALS | DPT__TRAIT_##trait,
#define DPT_INTEGER(name, known, operands, trait, formula) DPT__INTEGERS | DPT__TRAIT_##trait,
#define DPT_MAP(name, known, operands, trait, real, integer)                                       \
  DPT__REALS | DPT__INTEGERS | DPT__TRAIT_##trait,
#define DPT_COMPARE(name, known, operands, trait, condition)                                       \
  DPT__REALS | DPT__INTEGERS | DPT__COMPARES | DPT__TRAIT_##trait,
#include "ops/map.def"
  };
  return traits[op];
}

struct dpt__map_args {
  int32_t op;
  int32_t dtype; /* the operands' type */
  double p, q;
  dpt__walk walk;
};

/* Returns the index of the integer operand that divides and so may not contain 0; 0 (the result) if
 * there is none. */
static inline int dpt__map_divisor(const struct dpt__map_args *a) {
  int last = a->walk.noperand - 1, divides = dpt__map_traits(a->op) & DPT__DIVIDES;
  return divides && last > 1 && !dpt__is_real(a->dtype) ? last : 0;
}

/* Fills walk for n operands. Contiguous copies replace the operands whose bit is set in `always`
 * and, if the operands have no common rows, all but the first. The caller frees the copies. */
int dpt__walk_over(dpt__walk *walk, int n, const dpt_tensor **operands, dpt_tensor *copies,
                   unsigned always);

/* Sets r to value, converted. */
struct dpt__fill_args {
  double value;
  dpt__walk walk;
};

/* Copies a to r with conversion; both are in this backend's memory. */
struct dpt__convert_args {
  dpt__walk walk;
};

#endif
