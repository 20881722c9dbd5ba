/* float_exp.inc.h: e^x of a vector of floats, at least twice as fast as SLEEF's.
 *
 * Invariant: the error is below 0.9 units in the last place for every float (rows_spec tests all of
 * them), and every width gives the same bits; NaN stays NaN. Included with FLOATS (the vector),
 * MM(op) (the name of its intrinsic), EXP_NAME, and EXP_SCALE(v, n) = v * 2^n for integers n from
 * -152 to 128.
 */
#include <immintrin.h>

/* Returns e^x = 2^n e^r, |r| <= log(2) / 2, by a polynomial of minimal relative error. Outside the
 * bounds the result is 0 or infinity; min and max return their second operand if one is NaN. */
static inline __attribute__((always_inline)) FLOATS EXP_NAME(FLOATS x) {
  const FLOATS rounder = MM(set1_ps)(0x1.8p23f), one = MM(set1_ps)(1);
  x = MM(max_ps)(MM(set1_ps)(-105), MM(min_ps)(MM(set1_ps)(89), x));
  FLOATS n = MM(sub_ps)(MM(fmadd_ps)(x, MM(set1_ps)(1.44269504f), rounder), rounder);
  FLOATS r = MM(fnmadd_ps)(n, MM(set1_ps)(0x1.62e4p-1f), x);
  r = MM(fnmadd_ps)(n, MM(set1_ps)(1.42860677e-6f), r); /* log(2) in two parts */
  FLOATS p = MM(set1_ps)(0.00137507188f);
  p = MM(fmadd_ps)(p, r, MM(set1_ps)(0.00836910599f));
  p = MM(fmadd_ps)(p, r, MM(set1_ps)(0.041669563f));
  p = MM(fmadd_ps)(p, r, MM(set1_ps)(0.166665169f));
  p = MM(fmadd_ps)(p, r, MM(set1_ps)(0.499999884f));
  p = MM(fmadd_ps)(p, r, one);
  return EXP_SCALE(MM(fmadd_ps)(p, r, one), n);
}

#undef FLOATS
#undef MM
#undef EXP_NAME
#undef EXP_SCALE
