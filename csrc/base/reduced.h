/* reduced.h: conversions of the reduced types (base/dtype.h) to float and back.
 *
 * Invariant: a number is rounded once, to nearest even; overflow becomes infinity, subnormals are
 * exact, and of a NaN only the sign is kept. The functions are pure and branch-light, so that loops
 * over them vectorize. They are named by the type's suffix, for expansions of the list.
 */
#ifndef DPT_BASE_REDUCED_H
#define DPT_BASE_REDUCED_H
#include "base/dtype.h"

#include <stdint.h>
#include <string.h>

static DPT__EVERYWHERE inline float dpt__f16_to_float(dpt__half half) {
  /* Shift the fraction into position and let a float multiplication renormalize subnormals. */
  uint32_t h = half.bits, bits = (h & 0x7fff) << 13, scale = 0x77800000; /* 2^112 */
  float value, factor;
  memcpy(&value, &bits, 4);
  memcpy(&factor, &scale, 4);
  value *= factor;
  memcpy(&bits, &value, 4);
  if ((h & 0x7c00) == 0x7c00) bits |= 0x7f800000;
  bits |= (h & 0x8000) << 16;
  memcpy(&value, &bits, 4);
  return value;
}

/* Return the bits of a number, without the sign, for the bits of a float that is not negative. */
static DPT__EVERYWHERE inline uint32_t dpt__f16_round(uint32_t bits) {
  if (bits > 0x7f800000) return 0x7e00;  /* NaN */
  if (bits >= 0x477ff000) return 0x7c00; /* rounds to infinity */
  if (bits < 0x38800000) { /* below the smallest normal: an addition does the rounding */
    uint32_t half = 0x3f000000;
    float magic, v;
    memcpy(&magic, &half, 4); /* 0.5 = 2^-24 * 2^23 */
    memcpy(&v, &bits, 4);
    v += magic;
    memcpy(&bits, &v, 4);
    return bits - half;
  }
  bits += 0xc8000000 + 0xfff + ((bits >> 13) & 1); /* rebias the exponent, round to even */
  return bits >> 13;
}

static DPT__EVERYWHERE inline float dpt__bf16_to_float(dpt__bfloat16 x) {
  uint32_t bits = (uint32_t)x.bits << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static DPT__EVERYWHERE inline uint32_t dpt__bf16_round(uint32_t bits) {
  return bits > 0x7f800000 ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Returns a float from which rounding to fewer bits gives the result of rounding the double
 * directly: rounded to odd. */
static DPT__EVERYWHERE inline float dpt__float_to_odd(double value) {
  float near = (float)value;
  uint32_t bits;
  memcpy(&bits, &near, 4);
  double back = near, size = value < 0 ? -value : value, found = back < 0 ? -back : back;
  bits -= found > size;  /* toward zero */
  bits |= back != value; /* odd if inexact */
  memcpy(&near, &bits, 4);
  return near;
}

/* Returns a double from which rounding to fewer bits gives the result of rounding the integer
 * directly: beyond 53 bits, the lowest bit that is kept is 1 if lower ones are. */
static DPT__EVERYWHERE inline double dpt__double_to_odd(int64_t value) {
  int64_t large = (int64_t)1 << 53, low = (1 << 11) - 1;
  if (value > large || value < -large) value = (value & ~low) | (value & low ? low + 1 : 0);
  return (double)value;
}

/* Define the conversions from floats, doubles and integers to a type, by its rounding of absolute
 * values. */
#define X(id, type, suffix, ...)                                                                   \
  static DPT__EVERYWHERE inline type dpt__##suffix##_from_float(float value) {                     \
    uint32_t bits;                                                                                 \
    memcpy(&bits, &value, 4);                                                                      \
    type r = {(uint16_t)((bits >> 16 & 0x8000) | dpt__##suffix##_round(bits & 0x7fffffff))};       \
    return r;                                                                                      \
  }
DPT_REDUCED_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  static DPT__EVERYWHERE inline type dpt__##suffix##_from_double(double value) {                   \
    return dpt__##suffix##_from_float(dpt__float_to_odd(value));                                   \
  }                                                                                                \
  static DPT__EVERYWHERE inline type dpt__##suffix##_from_whole(int64_t value) {                   \
    return dpt__##suffix##_from_double(dpt__double_to_odd(value));                                 \
  }
DPT_REDUCED_DTYPES(X)
#undef X

/* Convert n elements of a reduced type to float and back. */
void dpt__reduced_widen(int dtype, int64_t n, float *to, const void *from);
void dpt__reduced_narrow(int dtype, int64_t n, void *to, const float *from);

#endif
