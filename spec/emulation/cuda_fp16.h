/* cuda_fp16.h: half-precision numbers as storage, for the host's C++ compiler. */
#ifndef DPT_EMULATED_CUDA_FP16_H
#define DPT_EMULATED_CUDA_FP16_H
#include "base/half.h"

struct __half {
  uint16_t bits;
};
static inline float __half2float(__half h) { return dpt__half_to_float(h.bits); }
static inline __half __float2half_rn(float x) { return __half{dpt__half_from_float(x)}; }
static inline __half __double2half(double x) { return __half{dpt__half_from_double(x)}; }

#endif
