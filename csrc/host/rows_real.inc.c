/* rows_real.inc.c: rows of one real type: vectors of W elements, SLEEF for the functions.
 *
 * Invariant: included with T, W, SUFFIX, CALL(function, accuracy), EXP(x), TANH(x), ERF(x),
 * TRIG_LIMIT, EXP_LIMIT, LARGE (these are undefined at the end), NUMBER(x), ROW(name) and FN(name)
 * defined. The last elements of a row go through the same vector code as the others, in a padded
 * vector, so that they get the same bits. No multiplication and addition is fused
 * (-ffp-contract=off).
 */
#include "host/rows_any.inc.c"

typedef T FN(vector) __attribute__((vector_size(W * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef T FN(V) __attribute__((vector_size(W * sizeof(T))));
typedef __typeof__((FN(V)){0} < (FN(V)){0}) FN(mask);
typedef uint64_t FN(words) __attribute__((vector_size(W * sizeof(T))));
#define V FN(V)
#define INLINE static inline __attribute__((always_inline))

INLINE V FN(select)(FN(mask) c, V x, V y) { return (V)(((FN(mask))x & c) | ((FN(mask))y & ~c)); }
/* x - 0 makes a vector of a number without changing a bit, even of -0. */
#define K(x) ((T)(x))
#define VEC(x) ((x) - (V){0})
#define SELECT(c, x, y) FN(select)((c), VEC(x), VEC(y))
#define AND(x, y) ((x) & (y))
#define OR(x, y) ((x) | (y))

INLINE V FN(abs)(V x) { return (V)((FN(mask))x & ~(FN(mask))(-(V){0})); }

INLINE int FN(any)(FN(mask) c) {
  FN(words) words = (FN(words))c;
  uint64_t any = 0;
  for (size_t i = 0; i < sizeof c / 8; i++) any |= words[i];
  return any != 0;
}

/* SLEEF's sin, cos and tan use another algorithm for a whole vector if one element is large. In
 * that case, each element is computed in a separate vector. */
static __attribute__((noinline)) V FN(one_by_one)(V x, V (*f)(V)) {
  V r = {0};
  for (int i = 0; i < W; i++) r[i] = f(VEC(x[i]))[i];
  return r;
}
static V FN(plain_sin)(V x) { return CALL(sin, u10)(x); }
static V FN(plain_cos)(V x) { return CALL(cos, u10)(x); }
static V FN(plain_tan)(V x) { return CALL(tan, u10)(x); }
INLINE V FN(trig)(V x, V (*f)(V)) {
  return FN(any)(~(FN(abs)(x) < K(TRIG_LIMIT))) ? FN(one_by_one)(x, f) : f(x);
}
#define SIN(x) FN(trig)((x), FN(plain_sin))
#define COS(x) FN(trig)((x), FN(plain_cos))
#define TAN(x) FN(trig)((x), FN(plain_tan))

/* SLEEF's log1p, sinh and cosh return infinity too early (above LARGE, EXP_LIMIT): use other
 * formulas there. */
INLINE V FN(log1p)(V x) {
  V r = CALL(log1p, u10)(x);
  FN(mask) large = x > K(LARGE);
  return FN(any)(large) ? FN(select)(large, CALL(log, u10)(x), r) : r;
}
INLINE V FN(hyperbolic)(V x, V r, int odd) {
  FN(mask) large = FN(abs)(x) > K(EXP_LIMIT);
  if (!FN(any)(large)) return r;
  V half = EXP(FN(abs)(x) * K(0.5)), value = half * K(0.5) * half;
  return FN(select)(large, odd ? FN(select)(x < K(0), -value, value) : value, r);
}

/* Returns tanh x to 2 units in the last place (SLEEF's tanh of floats takes four times as long as
 * its exp): a polynomial for small x (minimax of relative error), else 1 - 2 / (1 + e^2x). -0 and
 * NaN stay. */
INLINE V FN(tanh)(V x) {
  FN(mask) sign = (FN(mask))(-(V){0});
  V a = FN(abs)(x), z = a * a, p = VEC(K(-0.00570497429));
  p = p * z + K(0.0206390753);
  p = p * z - K(0.0537397112);
  p = p * z + K(0.133314421);
  p = p * z - K(0.333332819);
  V small = a + a * (z * p), e = EXP(a * K(-2));
  V r = FN(select)(a < K(0.625), small, K(1) - K(2) * e / (K(1) + e));
  return (V)((FN(mask))r | ((FN(mask))x & sign));
}

/* Returns erf x to 1.5 units in the last place (SLEEF's erf of floats takes four times as long):
 * x + x p(x^2) for small x, else 1 - e^-q(x), where q is a polynomial like -log erfc (both minimax
 * of erf's relative error). -0 and NaN stay. */
INLINE V FN(erf)(V x) {
  FN(mask) sign = (FN(mask))(-(V){0});
  V a = FN(abs)(x), z = a * a, p = VEC(K(7.85385782e-05));
  p = p * z - K(0.000801019254);
  p = p * z + K(0.00518832775);
  p = p * z - K(0.0268538110);
  p = p * z + K(0.112835854);
  p = p * z - K(0.376126260);
  p = p * z + K(0.128379166);
  V end = FN(select)(a > K(4), VEC(K(4)), a), q = VEC(K(-0.000186380086));
  q = q * end + K(0.00294766668);
  q = q * end - K(0.0218380981);
  q = q * end + K(0.103106809);
  q = q * end + K(0.638144732);
  q = q * end + K(1.12708926);
  q = q * end + K(0.000341512583);
  V r = FN(select)(a < K(1), a + a * p, K(1) - EXP(-q));
  return (V)((FN(mask))r | ((FN(mask))x & sign));
}

INLINE V FN(fmod)(V x, V y) {
  V r = {0};
  for (int i = 0; i < W; i++) r[i] = _Generic(x[0], float : fmodf, double : fmod)(x[i], y[i]);
  return r;
}
#define ABS(x) FN(abs)(x)
#define SQRT(x) CALL(sqrt, )(x)
#define FLOOR(x) ROUND(x, 1, floor)
#define CEIL(x) ROUND(x, 2, ceil)
#define TRUNC(x) ROUND(x, 3, trunc)
#define EXPM1(x) CALL(expm1, u10)(x)
#define LOG(x) CALL(log, u10)(x)
#define LOG1P(x) FN(log1p)(x)
#define ASIN(x) CALL(asin, u10)(x)
#define ACOS(x) CALL(acos, u10)(x)
#define ATAN(x) CALL(atan, u10)(x)
#define SINH(x) FN(hyperbolic)((x), CALL(sinh, u10)(x), 1)
#define COSH(x) FN(hyperbolic)((x), CALL(cosh, u10)(x), 0)
#define ATAN2(x, y) CALL(atan2, u10)(x, y)
#define POW(x, y) CALL(pow, u10)(x, y)
#define SCALE(x, y) CALL(exp2, u10)(y)
#define FMOD(x, y) FN(fmod)(x, y)

typedef V FN(formula)(V a, V b, V c, V p, V q);

/* The loop of all operations, inlined with a constant formula, operand count and `past`. */
INLINE void FN(loop)(FN(formula) * f, int operands, int past, int64_t n, T *r, const T *a,
                     const T *b, const T *c, double p_, double q_) {
  V p = VEC((T)p_), q = VEC((T)q_), x = {0}, y = {0}, z = {0}, w;
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    x = *(const FN(vector) *)(a + i);
    if (operands > 1) y = *(const FN(vector) *)(b + i);
    if (operands > 2) z = *(const FN(vector) *)(c + i);
    w = f(x, y, z, p, q);
    if (past)
      STREAM(r + i, w);
    else
      *(FN(vector) *)(r + i) = w;
  }
  if (i == n) return;
  size_t rest = (size_t)(n - i) * sizeof(T);
  x = y = z = (V){0};
  memcpy(&x, a + i, rest);
  if (operands > 1) memcpy(&y, b + i, rest);
  if (operands > 2) memcpy(&z, c + i, rest);
  w = f(x, y, z, p, q);
  memcpy(r + i, &w, rest);
}

#ifdef STRIDED
/* Loads n strided elements, at most W. */
INLINE V FN(load)(const T *from, int64_t stride, int64_t n) {
  V v = {0};
  for (int64_t k = 0; k < n; k++) v[k] = from[k * stride];
  return v;
}

INLINE void FN(some)(FN(formula) * f, int operands, int64_t n, T *r, const T *a, const T *b,
                     const T *c, const int64_t *stride, V p, V q) {
  V x = FN(load)(a, stride[1], n), y = {0}, z = {0};
  if (operands > 1) y = FN(load)(b, stride[2], n);
  if (operands > 2) z = FN(load)(c, stride[3], n);
  V w = f(x, y, z, p, q);
  for (int64_t k = 0; k < n; k++) r[k * stride[0]] = w[k];
}

INLINE void FN(apart)(FN(formula) * f, int operands, int64_t n, T *r, const T *a, const T *b,
                      const T *c, const int64_t *stride, double p_, double q_) {
  V p = VEC((T)p_), q = VEC((T)q_);
  for (; n >= W; n -= W) {
    FN(some)(f, operands, W, r, a, b, c, stride, p, q);
    r += W * stride[0];
    a += W * stride[1];
    b += W * stride[2];
    c += W * stride[3];
  }
  if (n > 0) FN(some)(f, operands, n, r, a, b, c, stride, p, q);
}
#endif

#define DPT_REAL(name, known, operands, trait, formula)                                            \
  static V FN(f_##name)(V a, V b, V c, V p, V q) { return VEC(formula); }                          \
  ROW(name) { FN(loop)(FN(f_##name), operands, 0, n, r, a, b, c, p, q); }                          \
  ROW(past_##name) { FN(loop)(FN(f_##name), operands, 1, n, r, a, b, c, p, q); }                   \
  STRIDED_##trait(name, operands)
#define DPT_MAP(name, known, operands, trait, real, integer)                                       \
  DPT_REAL(name, known, operands, trait, real)
#include "ops/map.def"

#undef V
#undef INLINE
#undef K
#undef VEC
#undef SELECT
#undef AND
#undef OR
#undef SIN
#undef COS
#undef TAN
#undef ABS
#undef SQRT
#undef FLOOR
#undef CEIL
#undef TRUNC
#undef EXP
#undef EXPM1
#undef LOG
#undef LOG1P
#undef ASIN
#undef ACOS
#undef ATAN
#undef SINH
#undef COSH
#undef TANH
#undef ERF
#undef ATAN2
#undef POW
#undef SCALE
#undef FMOD
#undef T
#undef W
#undef SUFFIX
#undef CALL
#undef TRIG_LIMIT
#undef EXP_LIMIT
#undef LARGE
