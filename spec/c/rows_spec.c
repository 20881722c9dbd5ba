/* rows_spec.c: compares every row function of every instruction set with a plain scalar loop.
 *
 * Invariant: arithmetic agrees to the bit, functions to a few units in the last place. The bits of
 * an element do not depend on its position in a row, the row's length or its neighbours. Nothing is
 * written outside the row. Operands contain NaN, infinities, -0, denormals, extremes and values
 * that take every path.
 */
#include "base/reduced.h"
#include "check.h"
#include "host/rows.h"
#include <math.h>

enum { MOST = 300 };
typedef __int128 wide;
static int inexact; /* 1: the formula called a function that libm and SLEEF round differently */
static uint64_t seed;

/* ---- the formulas, in scalars -----------------------------------------------------------------
 */

static void approximate(void) { inexact = 1; }
#define APPROX(x) (approximate(), (x))
#define F1(name, x) _Generic((V)0, float : name##f, double : name)(x)
#define F2(name, x, y) _Generic((V)0, float : name##f, double : name)(x, y)
#define AND(x, y) ((x) && (y))
#define OR(x, y) ((x) || (y))
#define SELECT(c, x, y) ((c) ? (V)(x) : (V)(y))
#define K(x) ((V)(x))
#define ABS(x) F1(fabs, x)
#define SQRT(x) F1(sqrt, x)
#define FLOOR(x) F1(floor, x)
#define CEIL(x) F1(ceil, x)
#define TRUNC(x) F1(trunc, x)
#define EXP(x) APPROX(F1(exp, x))
#define EXPM1(x) APPROX(F1(expm1, x))
#define LOG(x) APPROX(F1(log, x))
#define LOG1P(x) APPROX(F1(log1p, x))
#define SIN(x) APPROX(F1(sin, x))
#define COS(x) APPROX(F1(cos, x))
#define TAN(x) APPROX(F1(tan, x))
#define ASIN(x) APPROX(F1(asin, x))
#define ACOS(x) APPROX(F1(acos, x))
#define ATAN(x) APPROX(F1(atan, x))
#define SINH(x) APPROX(F1(sinh, x))
#define COSH(x) APPROX(F1(cosh, x))
#define TANH(x) APPROX(F1(tanh, x))
#define ERF(x) APPROX(F1(erf, x))
#define ATAN2(x, y) APPROX(F2(atan2, x, y))
#define POW(x, y) APPROX(F2(pow, x, y))
#define SCALE(x, y) APPROX(F1(exp2, y))
#define FMOD(x, y) F2(fmod, x, y)

#define CASE(name, formula)                                                                        \
  case DPT__MAP_##name:                                                                            \
    return *r = (formula), 1;

static int reference_float(int op, float a, float b, float c, float p, float q, float *r) {
  typedef float V;
  switch (op) {
#define DPT_REAL(name, known, operands, trait, formula) CASE(name, formula)
#define DPT_MAP(name, known, operands, trait, real, integer) CASE(name, real)
#define DPT_COMPARE(name, known, operands, trait, condition) CASE(name, condition)
#include "ops/map.def"
  }
  return 0;
}
static int reference_double(int op, double a, double b, double c, double p, double q, double *r) {
  typedef double V;
  switch (op) {
#define DPT_REAL(name, known, operands, trait, formula) CASE(name, formula)
#define DPT_MAP(name, known, operands, trait, real, integer) CASE(name, real)
#define DPT_COMPARE(name, known, operands, trait, condition) CASE(name, condition)
#include "ops/map.def"
  }
  return 0;
}

/* Integers have 128 bits; the caller keeps the low bits. */
static wide quotient(wide a, wide b) { return b ? a / b : 0; }
static wide modulo(wide a, wide b) { return b ? a % b : 0; }
static wide floor_modulo(wide a, wide b) {
  wide m = modulo(a, b);
  return m && (m < 0) != (b < 0) ? m + b : m;
}
static wide power(wide a, wide b) {
  wide r = 1;
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  while (b-- > 0) r = (int64_t)(r * a);
  return r;
}
static int width;
static wide shift_left(wide a, wide b) {
  return b < 0 || b >= width ? 0 : (wide)((uint64_t)a << b);
}
static wide shift_right(wide a, wide b) {
  uint64_t low = width == 64 ? (uint64_t)a : (uint64_t)a & ((1ull << width) - 1);
  return b < 0 || b >= width ? 0 : (wide)(low >> b);
}
#define QUOTIENT(a, b) quotient(a, b)
#define MODULO(a, b) modulo(a, b)
#define REMAINDER(a, b) floor_modulo(a, b)
#define IPOW(a, b) power(a, b)
#define SHL(a, b) shift_left(a, b)
#define SHR(a, b) shift_right(a, b)
static int reference_wide(int op, wide a, wide b, wide c, wide p, wide q, wide *r) {
  typedef wide V;
  switch (op) {
#define DPT_INTEGER(name, known, operands, trait, formula) CASE(name, formula)
#define DPT_MAP(name, known, operands, trait, real, integer) CASE(name, integer)
#define DPT_COMPARE(name, known, operands, trait, condition) CASE(name, condition)
#include "ops/map.def"
  }
  return 0;
}

static const struct {
  const char *name;
  int operands;
} ops[] = {
#define DPT_OP(name, known, operands, trait) {#name, operands},
#include "ops/map.def"
};

/* ---- elements as bytes ------------------------------------------------------------------------
 */

static double real_value(void) {
  static const double special[] = {
      0.,   -0.,   1,     -1,    0.5,    -0.5, 1.5,    2.5, -2.5, NAN,    INFINITY, -INFINITY,
      1e30, -1e30, 1e-30, 1e-40, -1e-40, 88.5, -103.5, 1e5, 300,  -12345, 3.4e38,   0.99999994};
  uint64_t kind = draw(&seed, 4);
  if (kind == 0) return special[draw(&seed, sizeof special / sizeof *special)];
  double u = (double)draw(&seed, 1 << 24) / (1 << 23) - 1;
  return kind == 1 ? u : kind == 2 ? u * 8 : u * 1000;
}

static int64_t integer_value(int dtype) {
  int64_t high = dtype == DPT_U8 ? 255 : (int64_t)(~0ull >> (65 - width));
  int64_t low = dtype == DPT_U8 ? 0 : -high - 1;
  switch (draw(&seed, 5)) {
  case 0:
    return high - (int64_t)draw(&seed, 2);
  case 1:
    return low + (int64_t)draw(&seed, 2);
  case 2:
    return dtype == DPT_U8 ? 1 : -1;
  default:
    return (int64_t)draw(&seed, 100) - (dtype == DPT_U8 ? 0 : 50);
  }
}

static void set(int dtype, void *to, int64_t i, double real, int64_t integer) {
  switch (dtype) {
  case DPT_U8:
    ((uint8_t *)to)[i] = (uint8_t)integer;
    break;
  case DPT_I8:
    ((int8_t *)to)[i] = (int8_t)integer;
    break;
  case DPT_I16:
    ((int16_t *)to)[i] = (int16_t)integer;
    break;
  case DPT_I32:
    ((int32_t *)to)[i] = (int32_t)integer;
    break;
  case DPT_I64:
    ((int64_t *)to)[i] = integer;
    break;
  case DPT_F32:
    ((float *)to)[i] = (float)real;
    break;
  default:
    ((double *)to)[i] = real;
    break;
  }
}

static int64_t get_integer(int dtype, const void *from, int64_t i) {
  switch (dtype) {
  case DPT_U8:
    return ((const uint8_t *)from)[i];
  case DPT_I8:
    return ((const int8_t *)from)[i];
  case DPT_I16:
    return ((const int16_t *)from)[i];
  case DPT_I32:
    return ((const int32_t *)from)[i];
  default:
    return ((const int64_t *)from)[i];
  }
}

static double get_real(int dtype, const void *from, int64_t i) {
  return dtype == DPT_F32 ? ((const float *)from)[i] : ((const double *)from)[i];
}

/* Returns the distance of two numbers of the type in units in the last place, of the larger of them
 * or of `least`; of two NaNs 0. */
static double apart(int dtype, double x, double y, double least) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0 : INFINITY;
  if (x == y) return 0;
  if (isinf(x) || isinf(y)) return INFINITY;
  double size = fmax(fmax(fabs(x), fabs(y)), least);
  double unit =
      dtype == DPT_F32 ? ldexp(fmax(size, 0x1p-126), -23) : ldexp(fmax(size, 0x1p-1022), -52);
  return fabs(x - y) / unit;
}

/* ---- one row ----------------------------------------------------------------------------------
 */

static char a[8 * MOST + 64], b[8 * MOST + 64], c[8 * MOST + 64], r[8 * MOST + 64], one[64];
static const char *where;
static double worst[DPT__NMAP];

static void fail(int op, int dtype, int64_t i, int64_t n, const char *what) {
  char text[400];
  snprintf(text, sizeof text, "%s %s %s element %d of %d: %s", where, ops[op].name,
           dpt__dtype_name(dtype), (int)i, (int)n, what);
  check(0, text, __FILE__, __LINE__);
}

/* Returns the size of terms of a sum that may cancel, from the first operand; 0 for operations
 * without such a sum. */
static double size_of_terms(int op, double first) {
  switch (op) {
  case DPT__MAP_gelu:
  case DPT__MAP_gelu_backward:
  case DPT__MAP_gelu_tanh_backward:
  case DPT__MAP_silu_backward:
    return isfinite(first) ? fabs(first) : 0;
  default:
    return 0;
  }
}

static void check_value(int op, int dtype, int64_t i, int64_t n, const char *x, const char *y,
                        const char *z, const char *out, double p, double q) {
  char text[200];
  if (dpt__is_real(dtype)) {
    double want, got = get_real(dtype, out, i);
    inexact = 0;
    if (dtype == DPT_F32) {
      float f = 0;
      reference_float(op, ((const float *)x)[i], ((const float *)y)[i], ((const float *)z)[i],
                      (float)p, (float)q, &f);
      want = f;
    } else {
      reference_double(op, ((const double *)x)[i], ((const double *)y)[i], ((const double *)z)[i],
                       p, q, &want);
    }
    double off = apart(dtype, got, want, size_of_terms(op, get_real(dtype, x, i)));
    if (off > worst[op]) worst[op] = off;
    snprintf(text, sizeof text, "a %.9g b %.9g c %.9g p %g q %g gives %.9g, wanted %.9g",
             get_real(dtype, x, i), get_real(dtype, y, i), get_real(dtype, z, i), p, q, got, want);
    if (off > (inexact ? 16 : 0) ||
        (off == 0 && !inexact && signbit(got) != signbit(want) && !isnan(got)))
      fail(op, dtype, i, n, text);
  } else {
    wide want = 0;
    int64_t got = get_integer(dtype, out, i), low[1];
    reference_wide(op, get_integer(dtype, x, i), get_integer(dtype, y, i), get_integer(dtype, z, i),
                   (int64_t)p, (int64_t)q, &want);
    set(dtype, low, 0, 0, (int64_t)want);
    snprintf(text, sizeof text, "a %lld b %lld p %g gives %lld, wanted %lld",
             (long long)get_integer(dtype, x, i), (long long)get_integer(dtype, y, i), p,
             (long long)got, (long long)get_integer(dtype, low, 0));
    if (got != get_integer(dtype, low, 0)) fail(op, dtype, i, n, text);
  }
}

/* Returns true if the bits are equal. Any two NaNs are equal: if both operands are NaN, the
 * compiler's order of them determines which one is returned. */
static int same(int dtype, const void *x, const void *y, int64_t n) {
  size_t size = dpt__dtype_size(dtype);
  for (int64_t i = 0; i < n; i++)
    if (memcmp((const char *)x + (size_t)i * size, (const char *)y + (size_t)i * size, size) &&
        !(dpt__is_real(dtype) && isnan(get_real(dtype, x, i)) && isnan(get_real(dtype, y, i))))
      return 0;
  return 1;
}

/* Strided elements have the bits of a dense row, and memory between them is unchanged. */
static void check_apart(int op, int dtype, int64_t n, const char *x, const char *y, const char *z,
                        const char *want, double p, double q) {
  static char in[3][40 * MOST], out[40 * MOST];
  const char *dense[] = {x, y, z};
  int64_t size = (int64_t)dpt__dtype_size(dtype), stride[DPT__OPERANDS];
  for (int k = 0; k < DPT__OPERANDS; k++) stride[k] = 1 + (int64_t)draw(&seed, 5);
  for (int k = 0; k < 3; k++)
    for (int64_t i = 0; i < n; i++)
      memcpy(in[k] + i * stride[k + 1] * size, dense[k] + i * size, (size_t)size);
  memset(out, 0x5a, sizeof out);
  dpt__rows_strided[op][dtype](n, out, in[0], in[1], in[2], stride, p, q);
  for (int64_t i = 0; i < n * stride[0]; i++) {
    const char *at = out + i * size;
    if (i % stride[0] == 0) {
      if (!same(dtype, at, want + i / stride[0] * size, 1))
        fail(op, dtype, i / stride[0], n, "apart it has other bits");
    } else if (memcmp(at, "ZZZZZZZZ", (size_t)size)) {
      fail(op, dtype, i / stride[0], n, "wrote between elements that stand apart");
    }
  }
}

static void check_row(const dpt__rows *rows, int op, int dtype, int64_t n, int shift) {
  size_t size = dpt__dtype_size(dtype);
  char *x = a + (size_t)shift * size, *y = b + (size_t)(3 - shift) * size, *z = c,
       *out = r + 2 * size;
  dpt__row_fn *row = rows->map[op][dtype];
  int exponent = op == DPT__MAP_cpow,
      small = op == DPT__MAP_cube || op == DPT__MAP_addcmul || op == DPT__MAP_addcdiv;
  int shifts = op == DPT__MAP_clshift || op == DPT__MAP_crshift;
  width = 8 * (int)size;
  double p =
      dpt__is_real(dtype) ? (double)(float)real_value() : (double)(int8_t)integer_value(dtype);
  double q = dpt__is_real(dtype) ? (double)(float)real_value() : 7;
  if (dtype == DPT_U8) p = (uint8_t)(int)p;
  if (op == DPT__MAP_lshift || op == DPT__MAP_rshift) p = fmod(p, 64);
  for (int64_t i = 0; i < n; i++) {
    int64_t u = integer_value(dtype), v = integer_value(dtype);
    if (small && dtype >= DPT_I32) u %= 1000, v %= 1000;
    if (exponent) v = (int64_t)draw(&seed, 12) - (dtype == DPT_U8 ? 0 : 2);
    if (shifts) v = (int64_t)draw(&seed, 70) - (dtype == DPT_U8 ? 0 : 2);
    set(dtype, x, i, real_value(), u);
    double real = real_value();
    if (shifts) real = fmod(real, 64); /* larger powers of 2 lose digits */
    set(dtype, y, i, real, v);
    set(dtype, z, i, real_value(), v);
  }
  memset(r, 0x5a, sizeof r);
  row(n, out, x, ops[op].operands > 1 ? y : NULL, ops[op].operands > 2 ? z : NULL, p, q);
  int before = 1, after = 1;
  for (size_t i = 0; i < 2 * size; i++) before = before && r[i] == 0x5a;
  for (size_t i = (2 + (size_t)n) * size; i < sizeof r; i++) after = after && r[i] == 0x5a;
  if (!before || !after) fail(op, dtype, 0, n, "wrote beside the row");
  for (int64_t i = 0; i < n; i++) {
    check_value(op, dtype, i, n, x, y, z, out, p, q);
    row(1, one, x + (size_t)i * size, y + (size_t)i * size, z + (size_t)i * size, p, q);
    if (!same(dtype, one, out + (size_t)i * size, 1))
      fail(op, dtype, i, n, "alone it has other bits");
  }
  dpt__row_fn *bytes = rows->compare[op][dtype];
  if (bytes) {
    char byte[MOST];
    bytes(n, byte, x, ops[op].operands > 1 ? y : NULL, NULL, p, q);
    for (int64_t i = 0; i < n; i++) {
      double own =
          dpt__is_real(dtype) ? get_real(dtype, out, i) : (double)get_integer(dtype, out, i);
      if (byte[i] != own) fail(op, dtype, i, n, "in bytes it differs");
    }
  }
  if (rows->past[op][dtype]) {
    static _Alignas(64) char lines[8 * MOST + 64];
    int64_t whole = n * (int64_t)size / 64 * 64;
    memset(lines, 0x5a, sizeof lines);
    rows->past[op][dtype](whole / (int64_t)size, lines, x, ops[op].operands > 1 ? y : NULL,
                          ops[op].operands > 2 ? z : NULL, p, q);
    if (!same(dtype, lines, out, whole / (int64_t)size) || lines[whole] != 0x5a)
      fail(op, dtype, 0, n, "past the cache it differs");
    memset(lines, 0, sizeof lines);
    rows->copy_past(lines, out, (size_t)whole);
    if (memcmp(lines, out, (size_t)whole) || lines[whole]) fail(op, dtype, 0, n, "a copy differs");
  }
  if (dpt__rows_strided[op][dtype]) check_apart(op, dtype, n, x, y, z, out, p, q);
  memcpy(one, out, size);
  char keep[8 * MOST];
  memcpy(keep, out, (size_t)n * size);
  row(n, x, x, ops[op].operands > 1 ? y : NULL, ops[op].operands > 2 ? z : NULL, p, q);
  if (!same(dtype, keep, x, n)) fail(op, dtype, 0, n, "in place it differs");
}

/* Checks that a row of a reduced type equals the row of floats, rounded once; all bits occur. */
static void check_reduced(const dpt__rows *rows, int op, int dtype, int64_t n) {
  static _Alignas(64) uint16_t x[3][MOST], out[MOST + 32], past[MOST], want[MOST];
  static float floats[3][MOST], result[MOST];
  const void *y = ops[op].operands > 1 ? x[1] : NULL, *z = ops[op].operands > 2 ? x[2] : NULL;
  double p = (float)real_value(), q = (float)real_value();
  for (int k = 0; k < 3; k++) {
    for (int64_t i = 0; i < n; i++) x[k][i] = (uint16_t)draw(&seed, 1 << 16);
    rows->convert[DPT_F32][dtype](n, floats[k], x[k], NULL, NULL, 0, 0);
  }
  rows->map[op][DPT_F32](n, result, floats[0], floats[1], floats[2], p, q);
  rows->convert[dtype][DPT_F32](n, want, result, NULL, NULL, 0, 0);
  memset(out, 0x5a, sizeof out);
  rows->map[op][dtype](n, out, x[0], y, z, p, q);
  rows->past[op][dtype](n / 32 * 32, past, x[0], y, z, p, q);
  rows->map[op][dtype](n, x[0], x[0], y, z, p, q);
  if (out[n] != 0x5a5a) fail(op, dtype, 0, n, "wrote beside the row");
  for (int64_t i = 0; i < n; i++) {
    int nan = isnan(result[i]); /* of any sign */
    uint16_t sign = nan ? 0x7fff : 0xffff, wanted = want[i] & sign;
    if ((out[i] & sign) != wanted) fail(op, dtype, i, n, "differs from floats");
    if ((x[0][i] & sign) != wanted) fail(op, dtype, i, n, "in place it differs");
    if (i < n / 32 * 32 && (past[i] & sign) != wanted)
      fail(op, dtype, i, n, "past the cache it differs");
  }
}

/* Checks that products of a matrix and a vector are summed in the order of rows.h. */
static void check_products(const dpt__rows *rows, int dtype, int64_t n) {
  enum { SUMS = DPT__ROW_SUMS, ROWS = 3 };
  static uint16_t x[ROWS * MOST];
  static float floats[ROWS * MOST], y[MOST], to[MOST + SUMS];
  float s[SUMS] = {0};
  int high = 1 + (int)draw(&seed, ROWS);
  for (int i = 0; i < ROWS * MOST; i++) x[i] = (uint16_t)draw(&seed, 1 << 16) & 0xbfff;
  for (int i = 0; i < MOST; i++) y[i] = (float)draw(&seed, 1000) - 500, to[i] = y[i];
  rows->convert[DPT_F32][dtype](ROWS * MOST, floats, x, NULL, NULL, 0, 0);
  for (int64_t i = 0; i < n; i++) s[i % SUMS] += floats[i] * y[i];
  for (int h = SUMS / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  CHECK(rows->dot[dtype](x, y, n) == s[0]);
  rows->add_rows[dtype](to, x, high, MOST, y, n);
  for (int64_t i = 0; i < n; i++) {
    float want = y[i];
    for (int j = 0; j < high; j++) want += floats[j * MOST + i] * y[j];
    CHECK(to[i] == want);
  }
}

static void check_rows(const dpt__rows *rows) {
  where = rows->name;
  for (int dtype = 0; dtype < DPT_NDTYPE; dtype++)
    for (int round = 0; round < torture(100) && rows->dot[dtype]; round++)
      check_products(rows, dtype, 1 + (int64_t)draw(&seed, MOST - 1));
  for (int op = 0; op < DPT__NMAP; op++)
    for (int dtype = 0; dtype < DPT_NDTYPE; dtype++) {
      if (!rows->map[op][dtype]) continue;
      for (int round = 0; round < torture(100); round++)
        if (dpt__is_reduced(dtype))
          check_reduced(rows, op, dtype, 1 + (int64_t)draw(&seed, MOST - 10));
        else
          check_row(rows, op, dtype, 1 + (int64_t)draw(&seed, MOST - 10), (int)draw(&seed, 4));
    }
}

/* Checks a few values of each formula, independently of how it is written. */
static void check_meaning(const dpt__rows *rows) {
  static const struct {
    int op, dtype;
    double a, b, p, q, want;
  } list[] = {
      {DPT__MAP_remainder, DPT_I32, -7, 0, 3, 0, 2},
      {DPT__MAP_remainder, DPT_I32, 7, 0, -3, 0, -2},
      {DPT__MAP_remainder, DPT_F32, -7, 0, 3, 0, 2},
      {DPT__MAP_fmod, DPT_I32, -7, 0, 3, 0, -1},
      {DPT__MAP_fmod, DPT_F64, -7, 0, 3, 0, -1},
      {DPT__MAP_div, DPT_I8, -7, 0, 2.9, 0, -3},
      {DPT__MAP_add, DPT_U8, 250, 0, 10, 0, 4},
      {DPT__MAP_mul, DPT_I16, 7, 0, 1.9, 0, 7},
      {DPT__MAP_round, DPT_F32, -2.5, 0, 0, 0, -3},
      {DPT__MAP_round, DPT_F32, 2.5, 0, 0, 0, 3},
      {DPT__MAP_round, DPT_F64, 0.49999999999999994, 0, 0, 0, 0},
      {DPT__MAP_frac, DPT_F32, -1.25, 0, 0, 0, -0.25},
      {DPT__MAP_clamp, DPT_I32, 9, 0, 2, 6, 6},
      {DPT__MAP_lshift, DPT_F32, 3, 0, 3, 0, 24},
      {DPT__MAP_rshift, DPT_F32, 3, 0, 1, 0, 1.5},
      {DPT__MAP_cpow, DPT_I32, 3, 4, 0, 0, 81},
      {DPT__MAP_cpow, DPT_F32, 2, 10, 0, 0, 1024},
      {DPT__MAP_sign, DPT_I8, -5, 0, 0, 0, -1},
      {DPT__MAP_lerp, DPT_F64, 1, 3, 0.25, 0, 1.5},
      {DPT__MAP_threshold, DPT_F32, -1, 0, 0, 7, 7},
      {DPT__MAP_threshold, DPT_F32, 2, 0, 0, 7, 2},
      {DPT__MAP_hardtanh, DPT_F32, -3, 0, -1, 1, -1},
      {DPT__MAP_hardtanh_backward, DPT_F32, 5, 1, -1, 1, 0},
      {DPT__MAP_sigmoid, DPT_F32, 0, 0, 0, 0, 0.5},
      {DPT__MAP_leakyrelu, DPT_F32, -2, 0, 0.5, 0, -1},
      {DPT__MAP_softsign, DPT_F32, -3, 0, 0, 0, -0.75},
      {DPT__MAP_softshrink, DPT_F32, 3, 0, 1, 0, 2},
      {DPT__MAP_hardshrink, DPT_F32, 0.5, 0, 1, 0, 0},
      {DPT__MAP_eq, DPT_I32, 2, 0, 2.5, 0, 1},
      {DPT__MAP_gt, DPT_F32, 2.5, 0, 2, 0, 1},
      {DPT__MAP_cadd, DPT_I64, 1, 2, 3, 0, 7},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char x[8], y[8], out[8];
    int dtype = list[i].dtype;
    set(dtype, x, 0, list[i].a, (int64_t)list[i].a);
    set(dtype, y, 0, list[i].b, (int64_t)list[i].b);
    rows->map[list[i].op][dtype](1, out, x, y, NULL, list[i].p, list[i].q);
    double got = dpt__is_real(dtype) ? get_real(dtype, out, 0) : (double)get_integer(dtype, out, 0);
    if (got != list[i].want) fail(list[i].op, dtype, 0, 1, "means something else");
  }
}

/* Checks that every table converts and fills alike; copy_spec.c checks the values. */
static void check_conversions(const dpt__rows *rows) {
  for (int to = 0; to < DPT_NDTYPE; to++)
    for (int from = 0; from < DPT_NDTYPE; from++) {
      int64_t n = 1 + (int64_t)draw(&seed, MOST - 10);
      char want[8 * MOST];
      for (int64_t i = 0; i < n; i++) {
        uint64_t bits = draw(&seed, UINT64_MAX);
        width = 8 * (int)dpt__dtype_size(from);
        memcpy(a + i * (width / 8), &bits, (size_t)width / 8);
        if (dpt__is_reduced(from)) a[2 * i + 1] &= (char)0xbf; /* no NaN: its payload may be lost */
        if (!dpt__is_real(from) || dpt__is_reduced(from)) continue;
        set(from, a, i, isnan(real_value()) ? 3e9 : real_value(), 0);
        if (dpt__is_real(to) && isnan(get_real(from, a, i))) set(from, a, i, 1.1, 0);
      }
      memset(r, 0x5a, sizeof r);
      memset(want, 0x5a, sizeof want);
      dpt__rows_base.convert[to][from](n, want, a, NULL, NULL, 0, 0);
      rows->convert[to][from](n, r, a, NULL, NULL, 0, 0);
      if (memcmp(r, want, sizeof want)) {
        CHECK(!"conversions of one instruction set differ");
        printf("%s: %s to %s\n", rows->name, dpt__dtype_name(from), dpt__dtype_name(to));
      }
      if (dpt__is_reduced(to)) continue;
      double value = dpt__is_real(to) ? 0.1 : 77.9;
      rows->fill[to](n, r, NULL, NULL, NULL, value, 0);
      dpt__rows_base.convert[to][DPT_F64](1, one, &value, NULL, NULL, 0, 0);
      for (int64_t i = 0; i < n; i++)
        CHECK(!memcmp(r + i * (int64_t)dpt__dtype_size(to), one, dpt__dtype_size(to)));
      CHECK(r[n * (int64_t)dpt__dtype_size(to)] == 0x5a);
    }
}

/* Checks dpt's own functions for every 1009th float; with DPT_TORTURE=full, for every float. */
static void check_floats(const dpt__rows *rows, int op, double (*f)(double), double limit) {
  enum { N = 4096 };
  static float x[N], y[N];
  uint64_t step = torture(10) == 10 ? 1 : 1009, bits = draw(&seed, step);
  double most = 0;
  int bad = 0;
  while (bits >> 32 == 0) {
    int n = 0;
    for (; n < N && bits >> 32 == 0; n++, bits += step) {
      uint32_t low = (uint32_t)bits;
      memcpy(&x[n], &low, 4);
    }
    rows->map[op][DPT_F32](n, y, x, NULL, NULL, 0, 0);
    for (int i = 0; i < n; i++) {
      double want = f((double)x[i]);
      int exponent;
      frexp(want, &exponent);
      double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24), off = fabs(y[i] - want);
      if (isnan(want) || isinf((float)want)) {
        bad += isnan(want) ? !isnan(y[i]) : y[i] != (float)want;
        continue;
      }
      bad += !signbit(want) != !signbit(y[i]) || (op != DPT__MAP_exp && fabs(y[i]) > 1);
      if (!(off <= most * unit)) most = off / unit;
    }
  }
  if (!CHECK(most < limit && !bad))
    printf("%s %s: %g units, %d bad\n", rows->name, ops[op].name, most, bad);
}

static void check_functions(const dpt__rows *rows) {
  check_floats(rows, DPT__MAP_exp, exp, 1.1);
  check_floats(rows, DPT__MAP_tanh, tanh, 1.6);
  check_floats(rows, DPT__MAP_erf, erf, 1.6);
}

int main(void) {
  const dpt__rows *best = dpt__rows_pick();
  seed = check_seed();
  check_rows(&dpt__rows_base);
  check_meaning(&dpt__rows_base);
  check_functions(&dpt__rows_base);
#ifdef __x86_64__
  static const dpt__rows *const wider[] = {&dpt__rows_avx2, &dpt__rows_avx512};
  for (int i = 0; i < (best == wider[1] ? 2 : best == wider[0]); i++) {
    check_rows(wider[i]);
    for (int round = 0; round < torture(100); round++) check_conversions(wider[i]);
    check_meaning(wider[i]);
    check_functions(wider[i]);
  }
#else
  CHECK(best == &dpt__rows_base);
  check_conversions(best);
#endif
  for (int op = 0; op < DPT__NMAP; op++)
    if (worst[op] > 2)
      printf("%s: at most %.1f units in the last place\n", ops[op].name, worst[op]);
  return check_end();
}
