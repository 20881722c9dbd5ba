/* rows_integer.inc.c: rows of one integer type: plain loops that the compiler vectorizes.
 *
 * Invariant: included with T, its unsigned counterpart U, SUFFIX (these are undefined at the end),
 * NUMBER(x), ROW(name) and FN(name) defined, and compiled with -fwrapv: arithmetic wraps. Nothing
 * traps: division by zero (which the kernel rejects before it starts) returns 0 here, and so do
 * shifts by the width or more. Numbers are truncated as a C cast on x86 does.
 */
#include "host/rows_any.inc.c"

#define V T
#define K(x) ((T)(x))
#define SELECT(c, x, y) ((c) ? (x) : (y))

#include "ops/integer.inc.h"
#define QUOTIENT(a, b) FN(quotient)(a, b)
#define MODULO(a, b) FN(modulo)(a, b)
#define REMAINDER(a, b) FN(remainder)(a, b)
#define IPOW(a, b) FN(ipow)(a, b)
#define SHL(a, b) FN(shl)(a, b)
#define SHR(a, b) FN(shr)(a, b)

typedef T FN(formula)(T a, T b, T c, T p, T q);

static inline __attribute__((always_inline)) void FN(loop)(FN(formula) * f, int operands, int64_t n,
                                                           T *r, const T *a, const T *b, const T *c,
                                                           double p_, double q_) {
  const T p = NUMBER(p_), q = NUMBER(q_);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    r[i] = f(a[i], operands > 1 ? b[i] : 0, operands > 2 ? c[i] : 0, p, q);
}

#define DPT_INTEGER(name, known, operands, trait, formula)                                         \
  static inline T FN(f_##name)(T a, T b, T c, T p, T q) { return (T)(formula); }                   \
  ROW(name) { FN(loop)(FN(f_##name), operands, n, r, a, b, c, p, q); }
#define DPT_MAP(name, known, operands, trait, real, integer)                                       \
  DPT_INTEGER(name, known, operands, trait, integer)
#include "ops/map.def"

#undef V
#undef K
#undef SELECT
#undef QUOTIENT
#undef MODULO
#undef REMAINDER
#undef IPOW
#undef SHL
#undef SHR
#undef T
#undef U
#undef SUFFIX
