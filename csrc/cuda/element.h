/* element.h: element types in CUDA kernels: storage types, compute types, conversions.
 *
 * Invariant: conversions have the same bits as the host's: integers truncate through 32 bits (64
 * for i64), as x86 does; halves round once.
 */
#ifndef DPT_CUDA_ELEMENT_H
#define DPT_CUDA_ELEMENT_H
#include "cuda/cuda.h"
extern "C" {
#include "base/element.h"
}

/* X(id, type in memory) for every element type. */
#define DPT__CUDA_TYPES(X)                                                                         \
  X(DPT_U8, uint8_t)                                                                               \
  X(DPT_I8, int8_t)                                                                                \
  X(DPT_I16, int16_t)                                                                              \
  X(DPT_I32, int32_t) X(DPT_I64, int64_t) X(DPT_F16, __half) X(DPT_F32, float) X(DPT_F64, double)

template <typename T> struct dpt__wide { /* the type that a kernel computes with */
  typedef T type;
};
template <> struct dpt__wide<__half> { typedef float type; };

template <typename T> struct dpt__is_real_type { static const bool value = false; };
template <> struct dpt__is_real_type<float> { static const bool value = true; };
template <> struct dpt__is_real_type<double> { static const bool value = true; };

template <typename T> __device__ __forceinline__ T dpt__load(T x) { return x; }
__device__ __forceinline__ float dpt__load(__half x) { return __half2float(x); }

/* Converts between any two of the types that dpt__load returns. */
template <typename To> struct dpt__store {
  template <typename From> static __host__ __device__ __forceinline__ To from(From x) {
    return (To)x;
  }
  static __host__ __device__ __forceinline__ To from(float x) { return (To)dpt__narrow_number(x); }
  static __host__ __device__ __forceinline__ To from(double x) { return (To)dpt__narrow_number(x); }
};
template <> struct dpt__store<int64_t> {
  template <typename From> static __host__ __device__ __forceinline__ int64_t from(From x) {
    return (int64_t)x;
  }
  static __host__ __device__ __forceinline__ int64_t from(float x) { return dpt__long_number(x); }
  static __host__ __device__ __forceinline__ int64_t from(double x) { return dpt__long_number(x); }
};
template <> struct dpt__store<float> {
  template <typename From> static __host__ __device__ __forceinline__ float from(From x) {
    return (float)x;
  }
};
template <> struct dpt__store<double> {
  template <typename From> static __host__ __device__ __forceinline__ double from(From x) {
    return (double)x;
  }
};
template <> struct dpt__store<__half> {
  template <typename From> static __host__ __device__ __forceinline__ __half from(From x) {
    return __float2half_rn((float)x);
  }
  static __host__ __device__ __forceinline__ __half from(double x) { return __double2half(x); }
};

/* Returns the bytes of an element. */
static __host__ __device__ inline int dpt__width_of(int dtype) {
  return dtype <= DPT_I8                        ? 1
         : dtype == DPT_I16 || dtype == DPT_F16 ? 2
         : dtype == DPT_I32 || dtype == DPT_F32 ? 4
                                                : 8;
}

/* The accumulator of a type's sums: double for reals, integers modulo 2^64. */
template <bool real> struct dpt__wide_sum { typedef double type; };
template <> struct dpt__wide_sum<false> { typedef uint64_t type; };
template <typename T>
using dpt__sum_of =
    typename dpt__wide_sum<dpt__is_real_type<typename dpt__wide<T>::type>::value>::type;

template <typename T> __device__ __forceinline__ dpt__sum_of<T> dpt__widen(T x) {
  return (dpt__sum_of<T>)dpt__load(x);
}
/* Converts a sum to an element. */
template <typename T> __device__ __forceinline__ T dpt__narrow(dpt__sum_of<T> x) {
  return dpt__store<T>::from(x);
}

/* Calls f(an element of that type), which returns a status: `[&](auto zero) { typedef
 * decltype(zero) T; ... }` is how kernels turn a type's number into the type. dpt__of_real: float
 * and double only. */
template <typename F> int dpt__of_type(int dtype, F f) {
  switch (dtype) {
#define X(id, type)                                                                                \
  case id:                                                                                         \
    return f(type());
    DPT__CUDA_TYPES(X)
#undef X
  }
  return dpt__cuda_fail("unknown element type %d", dtype);
}
template <typename F> int dpt__of_real(int dtype, F f) {
  if (dtype == DPT_F32) return f(float());
  if (dtype == DPT_F64) return f(double());
  return dpt__cuda_fail("a kernel for float and double was called with element type %d", dtype);
}

/* Calls f(an unsigned integer of `width` bytes), for kernels that move elements unchanged. */
template <typename F> int dpt__of_width(int width, F f) {
  switch (width) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}
/* Returns a number as the bits of an element, on the host. */
template <typename U> U dpt__bits_of_number(int dtype, double value) {
  double element = 0;
  U bits;
  dpt__put_element(dtype, &element, value);
  memcpy(&bits, &element, sizeof bits);
  return bits;
}

#endif
