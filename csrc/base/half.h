/* half.h: IEEE binary16 to float and back, round to nearest even.
 *
 * Invariant: the two functions are pure and branch-light, so that loops over them vectorise; NaN
 * stays NaN, overflow becomes infinity, subnormals are exact.
 */
#ifndef DPT_BASE_HALF_H
#define DPT_BASE_HALF_H
#include "base/dtype.h"

#include <stdint.h>
#include <string.h>

static DPT__EVERYWHERE inline float dpt__half_to_float(uint16_t h) {
  /* Shift the fraction into position and let a float multiplication renormalize subnormals. */
  uint32_t bits = (uint32_t)(h & 0x7fff) << 13, scale = 0x77800000; /* 2^112 */
  float value, factor;
  memcpy(&value, &bits, 4);
  memcpy(&factor, &scale, 4);
  value *= factor;
  memcpy(&bits, &value, 4);
  if ((h & 0x7c00) == 0x7c00) bits |= 0x7f800000;
  bits |= (uint32_t)(h & 0x8000) << 16;
  memcpy(&value, &bits, 4);
  return value;
}

static DPT__EVERYWHERE inline uint16_t dpt__half_from_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00;  /* NaN */
  if (bits >= 0x477ff000) return sign | 0x7c00; /* rounds to infinity */
  if (bits < 0x38800000) { /* below the smallest normal: an addition does the rounding */
    uint32_t half = 0x3f000000;
    float magic, v;
    memcpy(&magic, &half, 4); /* 0.5 = 2^-24 * 2^23 */
    memcpy(&v, &bits, 4);
    v += magic;
    memcpy(&bits, &v, 4);
    return (uint16_t)(sign | (bits - half));
  }
  bits += 0xc8000000 + 0xfff + ((bits >> 13) & 1); /* rebias the exponent, round to even */
  return (uint16_t)(sign | (bits >> 13));
}

/* Rounds only once: the intermediate float is rounded to odd, so that the second rounding gives the
 * result of a direct one. */
static DPT__EVERYWHERE inline uint16_t dpt__half_from_double(double value) {
  float near = (float)value;
  uint32_t bits;
  memcpy(&bits, &near, 4);
  double back = near, size = value < 0 ? -value : value, found = back < 0 ? -back : back;
  bits -= found > size;  /* toward zero */
  bits |= back != value; /* odd if inexact */
  if (value != value) bits = 0x7fc00000;
  memcpy(&near, &bits, 4);
  return dpt__half_from_float(near);
}

#endif
