/* element.h: single elements in memory: copies by width, conversions from numbers, tests for 0.
 *
 * Invariant: `width` is 1, 2, 4 or 8; called with a constant, each function compiles to one move.
 */
#ifndef DPT_BASE_ELEMENT_H
#define DPT_BASE_ELEMENT_H
#include "base/dtype.h"
#include "base/reduced.h"

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

/* Convert a number to an element of each type, named by suffix: integers as above, reals rounded
 * once. */
#define X(id, type, suffix, ...)                                                                   \
  static DPT__EVERYWHERE inline type dpt__##suffix##_of_number(double x) {                         \
    return sizeof(type) > 4 ? (type)dpt__long_number(x) : (type)dpt__narrow_number(x);             \
  }
DPT_INTEGER_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  static DPT__EVERYWHERE inline type dpt__##suffix##_of_number(double x) {                         \
    return dpt__##suffix##_from_double(x);                                                         \
  }
DPT_REDUCED_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  static DPT__EVERYWHERE inline type dpt__##suffix##_of_number(double x) { return (type)x; }
DPT_REAL_DTYPES(X)
#undef X

/* Stores value as an element: the only conversion of Lua numbers to elements. */
static DPT__EVERYWHERE inline void dpt__put_element(int dtype, void *to, double value) {
  switch (dtype) {
#define X(id, type, suffix, ...)                                                                   \
  case id:                                                                                         \
    *(type *)to = dpt__##suffix##_of_number(value);                                                \
    break;
    DPT_DTYPES(X)
#undef X
  }
}

/* Stores an integer as an element; integers wrap. */
static DPT__EVERYWHERE inline void dpt__put_whole(int dtype, void *to, int64_t value) {
  switch (dtype) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    *(type *)to = (type)value;                                                                     \
    break;
    DPT_INTEGER_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  case id:                                                                                         \
    *(type *)to = dpt__##suffix##_from_whole(value);                                               \
    break;
    DPT_REDUCED_DTYPES(X)
#undef X
  }
}

/* Returns an element as a Lua number. */
static DPT__EVERYWHERE inline double dpt__get_element(int dtype, const void *from) {
  switch (dtype) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    return (double)*(const type *)from;
    DPT_INTEGER_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  case id:                                                                                         \
    return (double)dpt__##suffix##_to_float(*(const type *)from);
    DPT_REDUCED_DTYPES(X)
#undef X
  }
  return 0;
}

/* Returns a value that is safe in Lua. LuaJIT keeps the types of its values in the bits of NaNs, so
 * a NaN whose bits come from a file or from uninitialized memory must not reach it. */
static inline double dpt__plain(double value) { return value == value ? value : (double)NAN; }

/* Returns true if an element is nonzero; -0 is 0, NaN is not. */
static DPT__EVERYWHERE DPT__INLINE int dpt__element_set(int dtype, const void *at) {
  switch (dtype) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    return *(const type *)at != 0;
    DPT_INTEGER_DTYPES(X)
    DPT_REAL_DTYPES(X)
#undef X
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    return (((const type *)at)->bits & 0x7fff) != 0;
    DPT_REDUCED_DTYPES(X)
#undef X
  }
  return 0;
}

#endif
