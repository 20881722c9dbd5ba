/* element.h: element types in CUDA kernels: storage types, compute types, conversions.
 *
 * Invariant: conversions have the same bits as the host's: integers truncate through 32 bits (64
 * for i64), as x86 does; reduced types round once.
 */
#ifndef DPT_CUDA_ELEMENT_H
#define DPT_CUDA_ELEMENT_H
#include "cuda/cuda.h"
extern "C" {
#include "base/element.h"
}

template <typename T> struct dpt__wide { /* the type that a kernel computes with */
  typedef T type;
};
#define X(id, storage, ...)                                                                        \
  template <> struct dpt__wide<storage> { typedef float type; };
DPT_REDUCED_DTYPES(X)
#undef X

template <typename T> struct dpt__is_real_type { static const bool value = false; };
template <> struct dpt__is_real_type<float> { static const bool value = true; };
template <> struct dpt__is_real_type<double> { static const bool value = true; };

/* Conversions of each reduced type by the GPU's instructions; with the host's bits, except which
 * NaN it is. */
__device__ __forceinline__ float dpt__load(dpt__half x) {
  return __half2float(__ushort_as_half(x.bits));
}
__device__ __forceinline__ dpt__half dpt__near(float x, dpt__half) {
  return {__half_as_ushort(__float2half_rn(x))};
}
__device__ __forceinline__ dpt__half dpt__near(double x, dpt__half) {
  return {__half_as_ushort(__double2half(x))};
}
__device__ __forceinline__ float dpt__load(dpt__bfloat16 x) {
  return __bfloat162float(__ushort_as_bfloat16(x.bits));
}
__device__ __forceinline__ dpt__bfloat16 dpt__near(float x, dpt__bfloat16) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}
__device__ __forceinline__ dpt__bfloat16 dpt__near(double x, dpt__bfloat16) {
  return {__bfloat16_as_ushort(__double2bfloat16(x))};
}

template <typename T> __device__ __forceinline__ T dpt__load(T x) { return x; }

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
#define X(id, type, suffix, ...)                                                                   \
  __device__ __forceinline__ type dpt__near(int64_t x, type) {                                     \
    return dpt__##suffix##_from_whole(x);                                                          \
  }
DPT_REDUCED_DTYPES(X)
#undef X
template <typename T> struct dpt__store_reduced {
  template <typename From> static __device__ __forceinline__ T from(From x) {
    return sizeof x > 2 ? dpt__near((int64_t)x, T()) : dpt__near((float)x, T());
  }
  static __device__ __forceinline__ T from(float x) { return dpt__near(x, T()); }
  static __device__ __forceinline__ T from(double x) { return dpt__near(x, T()); }
};
#define X(id, type, ...)                                                                           \
  template <> struct dpt__store<type> : dpt__store_reduced<type> {};
DPT_REDUCED_DTYPES(X)
#undef X

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

/* Stores a number as a kernel that computes in floats does, whose results are then rounded to T. */
template <typename T> __device__ __forceinline__ T dpt__store_wide(double x) {
  return dpt__store<T>::from((typename dpt__wide<T>::type)x);
}

/* Call f(an element of that type), which returns a status: `[&](auto zero) { typedef decltype(zero)
 * T; ... }` is how kernels turn a type's number into the type. dpt__of_real takes the types that
 * kernels compute in, dpt__of_stored_real all real types. */
#define DPT__CASE(id, type, ...)                                                                   \
  case id:                                                                                         \
    return f(type());
template <typename F> int dpt__of_real(int dtype, F f) {
  switch (dtype) { DPT_REAL_DTYPES(DPT__CASE) }
  return dpt__cuda_fail("a kernel for float and double was called with element type %d", dtype);
}
template <typename F> int dpt__of_stored_real(int dtype, F f) {
  switch (dtype) { DPT_REDUCED_DTYPES(DPT__CASE) }
  return dpt__of_real(dtype, f);
}
template <typename F> int dpt__of_type(int dtype, F f) {
  switch (dtype) { DPT_INTEGER_DTYPES(DPT__CASE) }
  return dpt__of_stored_real(dtype, f);
}
#undef DPT__CASE

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
