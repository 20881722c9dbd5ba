/* cuda_bf16.h: conversions of bfloat16 numbers, for the host's C++ compiler. */
#ifndef DPT_EMULATED_CUDA_BF16_H
#define DPT_EMULATED_CUDA_BF16_H
#include "base/reduced.h"

typedef dpt__bfloat16 __nv_bfloat16;

static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
static inline float __bfloat162float(__nv_bfloat16 x) { return dpt__bf16_to_float(x); }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return dpt__bf16_from_float(x); }
static inline __nv_bfloat16 __double2bfloat16(double x) { return dpt__bf16_from_double(x); }

#endif
