/* reduced_spec.c: converts every value of each reduced type to float and back, and compares
 * rounding with the exact rule.
 *
 * Invariant: with --full, every float is converted; otherwise a sample, most of it near the type's
 * range and between two of its values.
 */
#include "base/reduced.h"

#include "check.h"

#include <math.h>
#include <string.h>

/* A reduced type: `fraction` bits of the significand are stored. */
typedef struct format {
  const char *name;
  int fraction, bias;
  uint16_t infinity;
  int dtype;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float), (*from_double)(double), (*from_whole)(int64_t);
} format;

#define X(id, type, suffix, ...)                                                                   \
  static float widen_##suffix(uint16_t bits) {                                                     \
    type x = {bits};                                                                               \
    return dpt__##suffix##_to_float(x);                                                            \
  }                                                                                                \
  static uint16_t narrow_##suffix(float x) { return dpt__##suffix##_from_float(x).bits; }          \
  static uint16_t double_##suffix(double x) { return dpt__##suffix##_from_double(x).bits; }        \
  static uint16_t whole_##suffix(int64_t x) { return dpt__##suffix##_from_whole(x).bits; }
DPT_REDUCED_DTYPES(X)
#undef X

static const format formats[] = {
#define X(id, type, suffix, name, compute, precision, ...)                                         \
  {#name,                                                                                          \
   (precision)-1,                                                                                  \
   (1 << (16 - (precision)-1)) - 1,                                                                \
   (uint16_t)(0x7fff >> ((precision)-1) << ((precision)-1)),                                       \
   id,                                                                                             \
   widen_##suffix,                                                                                 \
   narrow_##suffix,                                                                                \
   double_##suffix,                                                                                \
   whole_##suffix},
    DPT_REDUCED_DTYPES(X)
#undef X
};

static double value_of(const format *f, uint16_t bits) {
  int exponent = (bits & 0x7fff) >> f->fraction, fraction = bits & ((1 << f->fraction) - 1);
  double size = exponent ? ldexp((1 << f->fraction) + fraction, exponent - f->bias - f->fraction)
                         : ldexp(fraction, 1 - f->bias - f->fraction);
  return bits & 0x8000 ? -size : size;
}

/* Returns the nearest number of the type, ties to even: by the exponent of x, in exact arithmetic
 * on doubles. */
static uint16_t nearest(const format *f, double x) {
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x)) return sign | f->infinity | (uint16_t)(1 << (f->fraction - 1));
  double size = fabs(x), least = ldexp(1, 1 - f->bias);
  if (isinf(x)) return sign | f->infinity;
  int exponent = size < least ? 1 - f->bias : ilogb(size);
  /* units of the last place, and the exact remainder */
  double units = ldexp(size, f->fraction - exponent), whole = floor(units), rest = units - whole;
  whole += rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1);
  double bits = whole + ldexp(exponent + f->bias - 1, f->fraction); /* a carry moves to the next */
  return sign | (uint16_t)(bits < f->infinity ? bits : f->infinity);
}

static int agrees(const format *f, const char *from, double x, uint16_t got) {
  uint16_t wanted = nearest(f, x);
  if (CHECK(got == wanted)) return 1;
  printf("%s of a %s %a: %04x, wanted %04x\n", f->name, from, x, got, wanted);
  return 0;
}

static void every_value(const format *f) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    float value = f->widen((uint16_t)bits);
    uint16_t back = f->narrow(value);
    if ((bits & 0x7fff) > f->infinity) {
      if (!CHECK(isnan(value) && (back & 0x7fff) > f->infinity && (bits ^ back) < 0x8000)) return;
      continue;
    }
    double exact = (bits & 0x7fff) == f->infinity ? (bits & 0x8000 ? -INFINITY : INFINITY)
                                                  : value_of(f, (uint16_t)bits);
    if (!CHECK((double)value == exact && back == bits)) return;
  }
}

/* Compares rows of all lengths with single conversions, NaN included. */
static void rows(const format *f) {
  enum { N = 0x10000 };
  static uint16_t bits[N], back[N];
  static float wide[N], one[N];
  for (int n = 0; n < N; n = 2 * n + 1) {
    for (int i = 0; i < n; i++) bits[i] = (uint16_t)(i * 40503);
    for (int i = 0; i < n; i++) one[i] = f->widen(bits[i]);
    dpt__reduced_widen(f->dtype, n, wide, bits);
    if (!CHECK(!memcmp(wide, one, (size_t)n * sizeof *one))) return;
    for (int i = 0; i < n; i++) wide[i] *= 1.01f;
    for (int i = 0; i < n; i++) bits[i] = f->narrow(wide[i]);
    dpt__reduced_narrow(f->dtype, n, back, wide);
    if (!CHECK(!memcmp(back, bits, (size_t)n * sizeof *bits))) return;
  }
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/* Converts all floats in ascending order: the nearest number changes at each midpoint. */
static void every_float(const format *f) {
  uint16_t at = 0;
  double middle = value_of(f, 1) / 2;
  for (uint32_t bits = 0; bits <= 0x7f800000; bits++) {
    float x = float_of(bits);
    while (at < f->infinity && ((double)x > middle || ((double)x == middle && at % 2))) {
      at++;
      middle = (value_of(f, at) + value_of(f, at + 1)) / 2;
    }
    if (f->narrow(x) != at && !agrees(f, "float", (double)x, f->narrow(x))) return;
    if (f->narrow(-x) != (at | 0x8000) && !agrees(f, "float", (double)-x, f->narrow(-x))) return;
  }
  for (uint32_t bits = 0x7f800001; bits < 0x80000000; bits++) {
    float x = float_of(bits);
    if (!isnan(f->widen(f->narrow(x))) && !agrees(f, "float", (double)x, f->narrow(x))) return;
  }
}

/* Half of the numbers are near the type's range, a quarter exactly between two values or, if
 * doubles and integers, next to that. */
static void samples(const format *f, uint64_t *seed, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t bits = (uint32_t)draw(seed, UINT64_C(1) << 32), low = 23 - f->fraction;
    uint32_t range = (uint32_t)(2 * f->bias + f->fraction + 4);
    uint32_t first = range < 255 ? (uint32_t)(127 - f->bias - f->fraction - 2) : 0;
    if (range > 255) range = 255;
    if (i & 1) bits = (bits & 0x80ffffff) | (uint32_t)(first + draw(seed, range)) << 23;
    if ((i & 3) == 3) bits = bits >> low << low | UINT32_C(1) << (low - 1);
    float x = float_of(bits);
    double d = (double)x;
    if (!agrees(f, "float", d, f->narrow(x))) return;
    if (draw(seed, 2)) d *= draw(seed, 2) ? 1 + 0x1p-50 : 1 - 0x1p-50;
    if (!agrees(f, "double", d, f->from_double(d))) return;
    int64_t large = (int64_t)draw(seed, UINT64_MAX) >> draw(seed, 64);
    if (i & 1) { /* a number of few bits, and the next to it */
      int shift = 62 - (int)draw(seed, 62);
      large = (int64_t)(draw(seed, 2) << f->fraction | 1)
              << (shift > f->fraction ? shift - f->fraction : 0);
      large = (int64_t)((uint64_t)large + draw(seed, 3) - 1);
    }
    uint16_t whole = f->from_whole(large);
    /* compares in 64 bits what a double does not hold */
    double shown = (double)(large & ~INT64_C(0x7ff)) + (large & 0x7ff ? 1024. : 0.);
    if (large > -(INT64_C(1) << 53) && large < INT64_C(1) << 53) shown = (double)large;
    if (!agrees(f, "whole", shown, whole)) return;
  }
}

int main(void) {
  uint64_t seed = check_seed();
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    every_value(&formats[i]);
    rows(&formats[i]);
    samples(&formats[i], &seed, torture(1000000));
    if (torture(1)) every_float(&formats[i]);
  }
  return check_end();
}
