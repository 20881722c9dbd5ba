/* rows_any.inc.c: rows of any type except f16: comparisons, and fill.
 *
 * Invariant: included with T, NUMBER(x), ROW(name) and FN(name) defined. Each comparison has two
 * rows: with results in T, and in bytes.
 */
typedef int FN(condition)(T a, T b, T p);

#define R T
#define LOOP FN(compare_own)
#define DPT_COMPARE(name, known, operands, trait, condition)                                       \
  static inline int FN(c_##name)(T a, T b, T p) { return (condition); }                            \
  ROW(name) { FN(compare_own)(FN(c_##name), operands, n, r, a, b, p); }
#include "host/rows_compare.inc.c"
#include "ops/map.def"
#undef R
#undef LOOP

#define R uint8_t
#define LOOP FN(compare_byte)
#define DPT_COMPARE(name, known, operands, trait, condition)                                       \
  ROW(byte_##name) { FN(compare_byte)(FN(c_##name), operands, n, r, a, b, p); }
#include "host/rows_compare.inc.c"
#include "ops/map.def"
#undef R
#undef LOOP

ROW(fill) {
  const T value = NUMBER(p);
  T *to = r;
  for (int64_t i = 0; i < n; i++) to[i] = value;
}
