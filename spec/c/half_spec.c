/* half_spec.c: converts every binary16 to float and back, and compares rounding with the exact
 * rule. */
#include "base/half.h"

#include "check.h"

#include <math.h>

/* Returns the nearest of all finite half numbers, by comparing distances; ties to even. */
static uint16_t slow_half(float value) {
  if (isnan(value)) return 0x7e00;
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double wanted = fabs((double)value);
  if (wanted >= 65520) return sign | 0x7c00;
  uint16_t low = 0, high = 0x7bff;
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if (dpt__half_to_float(middle) <= wanted)
      low = middle;
    else
      high = middle;
  }
  double below = wanted - (double)dpt__half_to_float(low);
  double above = (double)dpt__half_to_float(high) - wanted;
  if (below == above) return sign | (low & 1 ? high : low);
  return sign | (below < above ? low : high);
}

int main(void) {
  for (uint32_t h = 0; h < 0x10000; h++) {
    float value = dpt__half_to_float((uint16_t)h);
    uint16_t back = dpt__half_from_float(value);
    if (isnan(value)) {
      if (!CHECK((h & 0x7c00) == 0x7c00 && (back & 0x7c00) == 0x7c00 && (back & 0x3ff))) break;
      continue;
    }
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double exact = exponent == 31 ? INFINITY
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    if (!CHECK((double)value == (h & 0x8000 ? -exact : exact)) || !CHECK(back == h)) break;
  }
  uint64_t seed = check_seed();
  for (int i = 0; i < torture(2000000); i++) {
    /* Half of them are near the range of halves, a quarter exactly between two of them. */
    uint32_t bits = (uint32_t)draw(&seed, UINT64_C(1) << 32);
    if (i & 1) bits = (bits & 0x80ffffff) | (uint32_t)(96 + draw(&seed, 52)) << 23;
    if ((i & 3) == 3) bits = (bits & 0xffffe000) | 0x1000;
    float value;
    memcpy(&value, &bits, 4);
    uint16_t fast = dpt__half_from_float(value), slow = slow_half(value);
    if (isnan(value)) fast &= 0x7e00;
    if (!CHECK(fast == slow)) {
      printf("%a: %04x, wanted %04x\n", (double)value, fast, slow);
      break;
    }
  }
  return check_end();
}
