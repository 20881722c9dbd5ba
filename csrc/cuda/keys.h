/* keys.h: sorting 64-bit numbers that are all different, in place, in the order of the queue. */
#ifndef DPT_CUDA_KEYS_H
#define DPT_CUDA_KEYS_H
#include "cuda/cuda.h"

/* How many keys dpt__sort_keys takes for n: a power of two. Those beyond n are UINT64_MAX. */
static inline int64_t dpt__keys_for(int64_t n) {
  int64_t keys = 2;
  while (keys < n) keys *= 2;
  return keys;
}

/* Sorts, upwards. */
int dpt__sort_keys(dpt__context *context, uint64_t *keys, int64_t count);

#endif
