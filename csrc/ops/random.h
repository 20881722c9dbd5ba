/* random.h: the arguments of the kernel that fills device tensors with random numbers.
 *
 * Invariant: element i (in row-major order) depends only on the draw's seed and the Philox counter
 * (first + i, offset). Every backend uses the formulas of dpt__from_uniform.
 */
#ifndef DPT_OPS_RANDOM_H
#define DPT_OPS_RANDOM_H
#include "base/philox.h"
#include "ops/generator.h"
#include "tensor/walk.h"

#include <math.h>

enum dpt__distribution {
#define X(name, types) DPT__RANDOM_##name,
#include "ops/random.def"
#undef X
  DPT__NRANDOM
};

typedef struct dpt__philox_args {
  int32_t distribution;
  uint64_t range; /* random: draws from `range` consecutive numbers, starting at a */
  dpt_draw draw;
  int64_t first; /* the position of element 0 in the draw */
  double a, b;
  dpt__walk walk; /* r; bernoulli may have its probabilities as a second operand */
} dpt__philox_args;

/* Returns the exclusive upper bound of `random` without bounds, such that the type holds all
 * numbers (as in Torch7). */
uint64_t dpt__random_range(int dtype);

/* Converts uniforms u in [0, 1) and v in (0, 1] to a number of the distribution. Not for
 * `random`. */
DPT__EVERYWHERE static inline double dpt__from_uniform(int distribution, double u, double v,
                                                       double a, double b) {
  switch (distribution) {
  case DPT__RANDOM_uniform:
    return u * (b - a) + a;
  case DPT__RANDOM_normal:
    return sqrt(-2 * log(v)) * cos(2 * M_PI * u) * b + a;
  case DPT__RANDOM_logNormal:
    return exp(sqrt(-2 * log(v)) * cos(2 * M_PI * u) * b + a);
  case DPT__RANDOM_exponential:
    return -1 / a * log(1 - u);
  case DPT__RANDOM_cauchy:
    return a + b * tan(M_PI * (u - 0.5));
  case DPT__RANDOM_geometric:
    return floor(log(1 - u) / log(a)) + 1;
  default:
    return u < a;
  }
}

/* Returns the bits of the uniforms for an element type: rounding must not reach 1. */
DPT__EVERYWHERE static inline int dpt__uniform_bits(int distribution, int dtype) {
  if (distribution == DPT__RANDOM_uniform) return dpt__dtype_bits(dtype);
  return dtype == DPT_F64 ? 53 : 24;
}

/* Returns a uniform of 53 bits, or of fewer than 32. */
DPT__EVERYWHERE static inline double dpt__bits_uniform(uint32_t high, uint32_t low, int bits) {
  if (bits < 32) return (double)(high >> (32 - bits)) / (double)((uint32_t)1 << bits);
  return (double)((uint64_t)high << 21 | low >> 11) * 0x1p-53;
}

/* dpt__rows_offset returns the row of the whole batch at which a host tensor of `rows` rows begins.
 * dpt__rows_drawn returns true if there is such a batch (dpt_rows_set). */
int64_t dpt__rows_offset(int64_t rows);
int dpt__rows_drawn(void);

/* Converts a block of words to a number of the distribution, which equals g->distribution but may
 * be a compile-time constant. */
DPT__EVERYWHERE static inline double dpt__from_words(const dpt__philox_args *g, int distribution,
                                                     int bits, const uint32_t words[4], double a) {
  if (distribution == DPT__RANDOM_random) {
    uint64_t word = (g->range - 1) >> 32 ? (uint64_t)words[0] << 32 | words[1] : words[0];
    return (double)(int64_t)(word % g->range) + a;
  }
  return dpt__from_uniform(distribution, dpt__bits_uniform(words[0], words[1], bits),
                           1 - dpt__bits_uniform(words[2], words[3], 53), a, g->b);
}

/* Returns element i, on the host. */
static inline double dpt__philox_number(const dpt__philox_args *g, int bits, int64_t i, double a) {
  uint32_t words[4];
  dpt__philox_at(dpt__draw_seed(&g->draw), dpt__draw_offset(&g->draw), (uint64_t)(g->first + i),
                 words);
  return dpt__from_words(g, g->distribution, bits, words, a);
}

#endif
