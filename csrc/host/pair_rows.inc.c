/* pair_rows.inc.c: one run of two operands of one element type. */
#if REAL
#define V(part) ((part)->real)
#define TERM(x, y) dpt__term_real(kind, dpt__pair_real(pairing, x, y), p)
#else
#define V(part) ((part)->whole)
#define TERM(x, y) dpt__term_whole(kind, dpt__pair_whole(pairing, (WRAP)(x), (WRAP)(y)))
#endif

static INLINE ACC FN(add)(int pairing, int kind, const T *x, int64_t xs, const T *y, int64_t ys,
                          int64_t n, double p) {
  WRAP s[SPREAD] = {0};
  int64_t i = 0;
  for (; i + SPREAD <= n; i += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) s[j] += TERM(LOAD(x[(i + j) * xs]), LOAD(y[(i + j) * ys]));
  for (int64_t j = 0; i + j < n; j++) s[j] += TERM(LOAD(x[(i + j) * xs]), LOAD(y[(i + j) * ys]));
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return (ACC)s[0];
}

static INLINE ACC FN(by_kind)(int pairing, int kind, const T *x, int64_t xs, const T *y, int64_t ys,
                              int64_t n, double p) {
  if (pairing == DPT__PAIR_dot) return FN(add)(DPT__PAIR_dot, DPT__SUM, x, xs, y, ys, n, p);
  if (pairing == DPT__PAIR_equal) return FN(add)(DPT__PAIR_equal, DPT__SUM, x, xs, y, ys, n, p);
#if REAL
  switch (kind) {
#define X(sum)                                                                                     \
  case sum:                                                                                        \
    return FN(add)(DPT__PAIR_dist, sum, x, xs, y, ys, n, p);
    DPT__REAL_SUMS(X)
#undef X
  }
#endif
  return 0;
}

/* Adds a run to sum. */
DPT__CLONES static void FN(pair)(int pairing, int kind, const void *x, int64_t xs, const void *y,
                                 int64_t ys, int64_t n, double p, part *sum) {
  ACC v = xs == 1 && ys == 1 ? FN(by_kind)(pairing, kind, x, 1, y, 1, n, p)
                             : FN(by_kind)(pairing, kind, x, xs, y, ys, n, p);
  V(sum) = (ACC)((WRAP)V(sum) + (WRAP)v);
}

#undef V
#undef TERM
