/* rows_reduced.inc.c: rows of one reduced type for cheap operations: the formulas of floats, with
 * conversions in registers.
 *
 * Invariant: included with T, SUFFIX (both are undefined at the end), LOAD(from) and STORE(floats)
 * defined, after the rows of float. The bits are those of the conversion to float, the row of
 * floats and the conversion back.
 */
static inline __attribute__((always_inline)) void FN(loop)(formula_f32 *f, int operands, int past,
                                                           int64_t n, T *r, const T *a, const T *b,
                                                           const T *c, double p_, double q_) {
  V_f32 p = (float)p_ - (V_f32){0}, q = (float)q_ - (V_f32){0}, x, y = {0}, z = {0};
  int64_t i = 0, rest = n % W;
  for (; i + W <= n; i += W) {
    x = LOAD(a + i);
    if (operands > 1) y = LOAD(b + i);
    if (operands > 2) z = LOAD(c + i);
    shorts w = STORE(f(x, y, z, p, q));
    if (past)
      STREAM_SHORTS(r + i, w);
    else
      *(shorts *)(r + i) = w;
  }
  if (!rest) return;
  T end[4][W] = {{{0}}};
  const T *from[] = {NULL, a, b, c};
  for (int k = 1; k <= operands; k++) memcpy(end[k], from[k] + i, (size_t)rest * sizeof(T));
  *(shorts *)end[0] = STORE(f(LOAD(end[1]), LOAD(end[2]), LOAD(end[3]), p, q));
  memcpy(r + i, end[0], (size_t)rest * sizeof(T));
}

#define REDUCED_plain(name, operands)                                                              \
  ROW(name) { FN(loop)(f_##name##_f32, operands, 0, n, r, a, b, c, p, q); }                        \
  ROW(past_##name) { FN(loop)(f_##name##_f32, operands, 1, n, r, a, b, c, p, q); }
#define REDUCED_divides(name, operands) REDUCED_plain(name, operands)
#define REDUCED_calls(name, operands)
#define REDUCED_calls_divides(name, operands)
#define DPT_REAL(name, known, operands, trait, formula) REDUCED_##trait(name, operands)
#define DPT_MAP(name, known, operands, trait, real, integer) REDUCED_##trait(name, operands)
#include "ops/map.def"
#undef REDUCED_plain
#undef REDUCED_divides
#undef REDUCED_calls
#undef REDUCED_calls_divides

/* Convert rows, W elements at a time; return the number of converted elements. */
static int64_t FN(widen)(float *to, const T *from, int64_t n) {
  int64_t i = 0;
  for (; i + W <= n; i += W) *(vector_f32 *)(to + i) = LOAD(from + i);
  return i;
}
static int64_t FN(narrow)(T *to, const float *from, int64_t n) {
  int64_t i = 0;
  for (; i + W <= n; i += W) *(shorts *)(to + i) = STORE(*(const vector_f32 *)(from + i));
  return i;
}

#undef T
#undef SUFFIX
#undef LOAD
#undef STORE
