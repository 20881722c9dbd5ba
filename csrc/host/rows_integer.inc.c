/* rows_integer.inc.c: rows of one integer type: plain loops that the compiler vectorises.
 *
 * What must stay true: included with T, its unsigned twin U, NUMBER(x), ROW(name) and FN(name)
 * defined, and compiled with -fwrapv: arithmetic wraps around. Nothing traps: division by zero
 * (which the kernel refuses before it starts) gives 0 here, shifts by the width or more give 0.
 * Numbers are truncated as a C cast on x86 does.
 */
#define V T
#define K(x) ((T)(x))
#define SELECT(c, x, y) ((c) ? (x) : (y))

/* What C promotes T to: products of small types do not wrap before they are divided. */
typedef __typeof__((T)0 + (T)0) FN(promoted);
static inline T FN(quotient)(FN(promoted) a, FN(promoted) b) {
  if (b == 0) return 0;
  return b == -1 ? (T)(0 - a) : (T)(a / b);
}
static inline T FN(modulo)(T a, T b) {
  if (b == 0 || (b == (T)-1 && (T)-1 < 0)) return 0;
  return (T)(a % b);
}
static inline T FN(remainder)(T a, T b) {
  T m = FN(modulo)(a, b);
  return m != 0 && (m < 0) != (b < 0) ? (T)(m + b) : m;
}
/* a^b that wraps around; a negative b gives what is left of 1 / a^-b when it is truncated. */
static inline T FN(ipow)(T a, T b) {
  T r = 1;
  if (b < 0) return (T)(a == 1 ? 1 : a == (T)-1 ? (b % 2 ? -1 : 1) : 0);
  for (U e = (U)b; e; e = (U)(e >> 1)) {
    if (e & 1) r = (T)(r * a);
    a = (T)(a * a);
  }
  return r;
}
static inline T FN(shl)(T a, T b) { return b < 0 || (U)b >= 8 * sizeof(T) ? 0 : (T)((U)a << b); }
static inline T FN(shr)(T a, T b) { return b < 0 || (U)b >= 8 * sizeof(T) ? 0 : (T)((U)a >> b); }
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

#define DPT_INTEGER(name, operands, formula)                                                       \
  static inline T FN(f_##name)(T a, T b, T c, T p, T q) { return (T)(formula); }                   \
  ROW(name) { FN(loop)(FN(f_##name), operands, n, r, a, b, c, p, q); }
#define DPT_MAP(name, operands, real, integer) DPT_INTEGER(name, operands, integer)
#define DPT_REAL(name, operands, formula)
#define DPT_COMPARE(name, operands, condition)
#include "ops/map.def"
#undef DPT_REAL
#undef DPT_MAP
#undef DPT_INTEGER
#undef DPT_COMPARE

#undef V
#undef K
#undef SELECT
#undef QUOTIENT
#undef MODULO
#undef REMAINDER
#undef IPOW
#undef SHL
#undef SHR
