/* rows_reduced.inc.c: rows of one reduced type for cheap operations: the formulas of floats, with
 * conversions in registers.
 *
 * Invariant: included with T, SUFFIX (both are undefined at the end), LOAD(from), STORE(floats)
 * for W elements in order, LOADS(from), STORES(pair) for 2 * W elements defined, after the rows of
 * float; STORE and STORES expect one_nan's NaNs. The bits are those of the conversion to float, the
 * row of floats and the conversion back.
 */
/* Computes the last elements of a row of n, from number i on: fewer than 2 * W, padded. */
static void FN(rest)(dpt__row_fn *row, int operands, int64_t i, int64_t n, T *r, const T *a,
                     const T *b, const T *c, double p, double q) {
  T end[4][2 * W] = {{{0}}};
  const T *from[] = {NULL, a, b, c};
  size_t left = (size_t)(n - i) * sizeof(T);
  for (int k = 1; k <= operands; k++) memcpy(end[k], from[k] + i, left);
  row(2 * W, end[0], end[1], end[2], end[3], p, q);
  memcpy(r + i, end[0], left);
}

static inline __attribute__((always_inline)) void FN(loop)(formula_f32 *f, dpt__row_fn *row,
                                                           int operands, int past, int64_t n, T *r,
                                                           const T *a, const T *b, const T *c,
                                                           double p_, double q_) {
  V_f32 p = (float)p_ - (V_f32){0}, q = (float)q_ - (V_f32){0};
  pair x, y = {p, p}, z = {p, p};
  int64_t i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    x = LOADS(a + i);
    if (operands > 1) y = LOADS(b + i);
    if (operands > 2) z = LOADS(c + i);
    x = (pair){f(x.a, y.a, z.a, p, q), f(x.b, y.b, z.b, p, q)};
    if (UNORDERED(x.a, x.b)) x = (pair){one_nan(x.a), one_nan(x.b)};
    if (past)
      STREAM(r + i, STORES(x));
    else
      *(bytes *)(r + i) = (bytes)STORES(x);
  }
  if (i < n) FN(rest)(row, operands, i, n, r, a, b, c, p_, q_);
}

#define REDUCED_plain(name, operands)                                                              \
  ROW(name) { FN(loop)(f_##name##_f32, FN(row_##name), operands, 0, n, r, a, b, c, p, q); }        \
  ROW(past_##name) { FN(loop)(f_##name##_f32, NULL, operands, 1, n, r, a, b, c, p, q); }
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
  for (; i + W <= n; i += W) {
    V_f32 x = *(const vector_f32 *)(from + i);
    if (UNORDERED(x, x)) x = one_nan(x);
    *(shorts *)(to + i) = STORE(x);
  }
  return i;
}

/* Products of a matrix and a vector of floats, rounded as floats: SUMS elements at a time. */
static inline const T *FN(padded)(T end[SUMS], const T *from, int64_t n) {
  return n < SUMS ? memcpy(end, from, (size_t)n * sizeof(T)) : from;
}
static float FN(dot)(const void *x, const float *y, int64_t n) {
  float s[SUMS] = {0}, wide[SUMS] = {0};
  vector_f32 sum[SUMS / W] = {{0}};
  T end[SUMS] = {{0}};
  for (int64_t i = 0; i < n; i += SUMS) { /* a cache line */
    const T *from = FN(padded)(end, (const T *)x + i, n - i);
    const float *by = n - i < SUMS ? memcpy(wide, y + i, (size_t)(n - i) * sizeof *y) : y + i;
    __builtin_prefetch(from + AHEAD);
    for (int k = 0; k < SUMS / W; k++)
      sum[k] += LOAD(from + k * W) * *(const vector_f32 *)(by + k * W);
  }
  memcpy(s, sum, sizeof s);
  for (int h = SUMS / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return s[0];
}
static void FN(add_rows)(float *r, const void *x, int64_t rows, int64_t row_stride, const float *y,
                         int64_t n) {
  T end[SUMS] = {{0}};
  for (int64_t i = 0; i < n; i += SUMS) {
    vector_f32 *to = (vector_f32 *)(r + i), sum[SUMS / W];
    for (int k = 0; k < SUMS / W; k++) sum[k] = to[k];
    for (int64_t j = 0; j < rows; j++) {
      const T *from = FN(padded)(end, (const T *)x + j * row_stride + i, n - i);
      for (int k = 0; k < SUMS / W; k++) sum[k] += LOAD(from + k * W) * y[j];
    }
    for (int k = 0; k < SUMS / W; k++) to[k] = sum[k];
  }
}

#undef T
#undef SUFFIX
#undef LOAD
#undef STORE
#undef LOADS
#undef STORES
