/* cuda_fp16.h: conversions of half-precision numbers, for the host's C++ compiler. */
#ifndef DPT_EMULATED_CUDA_FP16_H
#define DPT_EMULATED_CUDA_FP16_H
#include "base/reduced.h"

typedef dpt__half __half;

static inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
static inline unsigned short __half_as_ushort(__half x) { return x.bits; }
static inline float __half2float(__half x) { return dpt__f16_to_float(x); }
static inline __half __float2half_rn(float x) { return dpt__f16_from_float(x); }
static inline __half __double2half(double x) { return dpt__f16_from_double(x); }

#endif
