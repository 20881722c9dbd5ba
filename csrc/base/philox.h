/* philox.h: Philox 4x32-10, the counter-based generator of device tensors (Salmon et al., 2011).
 *
 * Invariant: words depend only on key and counter, so every backend and every split of the work
 * draws the same numbers. Counter 0 under key 0 is 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
 */
#ifndef DPT_BASE_PHILOX_H
#define DPT_BASE_PHILOX_H
#include "base/dtype.h"

/* Return the seed and the offset of a draw; for a captured draw, the state at live_ is added to
 * them. */
DPT__EVERYWHERE static inline uint64_t dpt__draw_seed(const dpt_draw *draw) {
  return draw->seed + (draw->live_ ? draw->live_[0] : 0);
}
DPT__EVERYWHERE static inline uint64_t dpt__draw_offset(const dpt_draw *draw) {
  return draw->offset + (draw->live_ ? draw->live_[1] : 0);
}

/* Return the upper and lower 32 bits of a 64-bit product. On GPUs they use opaque functions,
 * because nvcc would otherwise compute the whole generator in 64 bits, which takes a third more
 * instructions. */
#ifdef __CUDA_ARCH__
#define DPT__HIGH(x) ((uint32_t)__double2hiint(__longlong_as_double((long long)(x))))
#define DPT__LOW(x) ((uint32_t)__double2loint(__longlong_as_double((long long)(x))))
#else
#define DPT__HIGH(x) ((uint32_t)((x) >> 32))
#define DPT__LOW(x) ((uint32_t)(x))
#endif
DPT__EVERYWHERE static inline void dpt__philox(uint64_t key, const uint32_t counter[4],
                                               uint32_t words[4]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  for (int round = 0; round < 10; round++) {
    const uint64_t even = (uint64_t)0xD2511F53 * c0, odd = (uint64_t)0xCD9E8D57 * c2;
    const uint32_t n0 = DPT__HIGH(odd) ^ c1 ^ k0, n2 = DPT__HIGH(even) ^ c3 ^ k1;
    c1 = DPT__LOW(odd);
    c3 = DPT__LOW(even);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

/* Returns the words of a draw at position `at`. */
DPT__EVERYWHERE static inline void dpt__philox_at(uint64_t seed, uint64_t offset, uint64_t at,
                                                  uint32_t words[4]) {
  const uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), (uint32_t)offset,
                               (uint32_t)(offset >> 32)};
  dpt__philox(seed, counter, words);
}

#endif
