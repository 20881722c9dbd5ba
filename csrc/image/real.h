/* real.h: element types of pictures, for the .inc.c files that are included once for each.
 *
 * Invariant: the including file has defined T, the element type; NAME(f), the name of a function
 * for it; and A, the type of sums (double for doubles, otherwise float).
 */
#include <math.h>

#undef IS_BYTE
#define IS_BYTE (sizeof(T) == 1)

/* Converts a number to an element: bytes are rounded and saturate, and NaN becomes 0. */
static inline T NAME(element)(A x) {
  if (!IS_BYTE) return (T)x;
  x += (A)0.5;
  return (T)(x >= 255 ? 255 : x > 0 ? x : 0);
}

static inline const T *NAME(at)(const dpt_image *m, int64_t k, int64_t y, int64_t x) {
  return (const T *)m->data + (k * m->stride[0] + y * m->stride[1] + x * m->stride[2]);
}
