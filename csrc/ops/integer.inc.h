/* integer.inc.h: the integer functions of map.def for one type, on every backend.
 *
 * Invariant: included with T, its unsigned counterpart U, and FN(name) defined, and compiled with
 * -fwrapv. Nothing traps: division by zero (which kernels reject before they start) returns 0 here,
 * and so do shifts by the width or more. There is no include guard, because the file is included
 * once for each type.
 */

/* The type to which C promotes T, so that products of small types do not wrap before a division. */
typedef __typeof__((T)0 + (T)0) FN(promoted);
DPT__EVERYWHERE static inline T FN(quotient)(FN(promoted) a, FN(promoted) b) {
  if (b == 0) return 0;
  return b == -1 ? (T)(0 - a) : (T)(a / b);
}
DPT__EVERYWHERE static inline T FN(modulo)(T a, T b) {
  if (b == 0 || (b == (T)-1 && (T)-1 < 0)) return 0;
  return (T)(a % b);
}
DPT__EVERYWHERE static inline T FN(remainder)(T a, T b) {
  T m = FN(modulo)(a, b);
  return m != 0 && (m < 0) != (b < 0) ? (T)(m + b) : m;
}
/* Returns a^b, which wraps. A negative b gives 1 / a^-b, truncated toward zero. */
DPT__EVERYWHERE static inline T FN(ipow)(T a, T b) {
  U r = 1, base = (U)a;
  if (b < 0) return (T)(a == 1 ? 1 : a == (T)-1 ? (b % 2 ? -1 : 1) : 0);
  for (U e = (U)b; e; e = (U)(e >> 1)) {
    if (e & 1) r = (U)(1u * r * base);
    base = (U)(1u * base * base);
  }
  return (T)r;
}
DPT__EVERYWHERE static inline T FN(shl)(T a, T b) {
  return b < 0 || (U)b >= 8 * sizeof(T) ? 0 : (T)((U)a << b);
}
DPT__EVERYWHERE static inline T FN(shr)(T a, T b) {
  return b < 0 || (U)b >= 8 * sizeof(T) ? 0 : (T)((U)a >> b);
}
