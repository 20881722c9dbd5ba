/* element.h: single elements in memory: copies by width, conversions from numbers, tests for 0.
 *
 * Invariant: `width` is 1, 2, 4 or 8; called with a constant, each function compiles to one move.
 */
#ifndef DPT_BASE_ELEMENT_H
#define DPT_BASE_ELEMENT_H
#include "base/dtype.h"
#include "base/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DPT__INLINE inline __attribute__((always_inline))

/* Calls f(width, ...) with a constant width. */
#define DPT__BY_WIDTH(width, f, ...)                                                               \
  ((width) == 1   ? f(1, __VA_ARGS__)                                                              \
   : (width) == 2 ? f(2, __VA_ARGS__)                                                              \
   : (width) == 4 ? f(4, __VA_ARGS__)                                                              \
                  : f(8, __VA_ARGS__))

/* Copies n elements from one strided row to another; strides in elements. */
static DPT__INLINE void dpt__move_by(int width, char *to, int64_t to_stride, const char *from,
                                     int64_t from_stride, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    memcpy(to + i * to_stride * width, from + i * from_stride * width, (size_t)width);
}

static inline void dpt__move(size_t width, char *to, int64_t to_stride, const char *from,
                             int64_t from_stride, int64_t n) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, (size_t)n * width);
    return;
  }
  DPT__BY_WIDTH(width, dpt__move_by, to, to_stride, from, from_stride, n);
}

/* Convert a number to an integer of 32 bits or fewer, and of 64: truncated toward zero. A number
 * that does not fit becomes the least integer, as with x86's conversions, and is then truncated to
 * the element's bits. */
static DPT__EVERYWHERE inline int32_t dpt__narrow_number(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
static DPT__EVERYWHERE inline int64_t dpt__long_number(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

/* Formats an index or a class for a message into the caller's buffer. number: the element that
 * `index` was read from; INT64_MIN is the conversion of NaN and of large reals. */
enum { DPT__INDEX_TEXT = 64 };
static inline const char *dpt__index_text(char *text, int64_t index, double number) {
  if (index != INT64_MIN)
    snprintf(text, DPT__INDEX_TEXT, "%lld", (long long)index);
  else if (number == (double)INT64_MIN)
    snprintf(text, DPT__INDEX_TEXT, "%lld (NaN or too large)", (long long)index);
  else if (number != number)
    snprintf(text, DPT__INDEX_TEXT, "NaN");
  else
    snprintf(text, DPT__INDEX_TEXT, "%.14g", number);
  return text;
}

/* Stores value as an element: the only conversion of Lua numbers to elements. */
static DPT__EVERYWHERE inline void dpt__put_element(int dtype, void *to, double value) {
  switch (dtype) {
  case DPT_I64:
    *(int64_t *)to = dpt__long_number(value);
    break;
  case DPT_I32:
    *(int32_t *)to = dpt__narrow_number(value);
    break;
  case DPT_I16:
    *(int16_t *)to = (int16_t)dpt__narrow_number(value);
    break;
  case DPT_U8:
  case DPT_I8:
    *(uint8_t *)to = (uint8_t)dpt__narrow_number(value);
    break;
  case DPT_F32:
    *(float *)to = (float)value;
    break;
  case DPT_F64:
    *(double *)to = value;
    break;
  default:
    *(dpt__half *)to = dpt__half_from_double(value);
  }
}

/* Stores an integer as an element; integers wrap. */
static DPT__EVERYWHERE inline void dpt__put_whole(int dtype, void *to, int64_t value) {
  switch (dtype) {
#define X(id, type, acc, suffix, name)                                                             \
  case id:                                                                                         \
    *(type *)to = (type)value;                                                                     \
    break;
    DPT_INTEGER_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
  default:
    *(dpt__half *)to = dpt__half_from_float((float)value);
  }
}

/* Return an element of a real type, and of any type, as a Lua number. */
static inline double dpt__get_real(int dtype, const void *from) {
  if (dtype == DPT_F32) return *(const float *)from;
  if (dtype == DPT_F64) return *(const double *)from;
  return dpt__half_to_float(*(const dpt__half *)from);
}
static inline double dpt__get_element(int dtype, const void *from) {
  switch (dtype) {
#define X(id, type, acc, suffix, name)                                                             \
  case id:                                                                                         \
    return (double)*(const type *)from;
    DPT_INTEGER_DTYPES(X)
#undef X
  default:
    return dpt__get_real(dtype, from);
  }
}

/* Returns a value that is safe in Lua. LuaJIT keeps the types of its values in the bits of NaNs, so
 * a NaN whose bits come from a file or from uninitialized memory must not reach it. */
static inline double dpt__plain(double value) { return value == value ? value : (double)NAN; }

/* Returns true if an element is nonzero; -0 is 0, NaN is not. */
static DPT__EVERYWHERE DPT__INLINE int dpt__element_set(int dtype, const void *at) {
  switch (dtype) {
  case DPT_U8:
  case DPT_I8:
    return *(const uint8_t *)at != 0;
  case DPT_I16:
    return *(const uint16_t *)at != 0;
  case DPT_I32:
    return *(const uint32_t *)at != 0;
  case DPT_I64:
    return *(const uint64_t *)at != 0;
  case DPT_F16:
    return (*(const uint16_t *)at & 0x7fff) != 0;
  case DPT_F32:
    return *(const float *)at != 0;
  default:
    return *(const double *)at != 0;
  }
}

#endif
