/* pair_rows.inc.c: one run of two operands of one element type. */
#if REAL
#define V(part) ((part)->real)
#define MAGNITUDE_OF(x) fabs(x)
#else
#define V(part) ((part)->whole)
#define MAGNITUDE_OF(x) ((double)((x) < 0 ? -(x) : (x)))
#endif

static INLINE WRAP FN(term)(int kind, ACC x, ACC y, double p) {
  ACC d = (ACC)((WRAP)x - (WRAP)y);
  switch (kind) {
  case DOT:
    return (WRAP)x * (WRAP)y;
  case DIFFERENT:
    return x != y;
  case APART:
    return d != 0;
  case DISTANCE:
    return (WRAP)MAGNITUDE_OF(d);
  case SQUARE:
    return (WRAP)d * (WRAP)d;
  default:
    return (WRAP)pow(MAGNITUDE_OF(d), p);
  }
}

static INLINE ACC FN(add)(int kind, const T *x, int64_t xs, const T *y, int64_t ys, int64_t n,
                          double p) {
  WRAP s[SPREAD] = {0};
  int64_t i = 0;
  for (; i + SPREAD <= n; i += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++)
      s[j] += FN(term)(kind, LOAD(x[(i + j) * xs]), LOAD(y[(i + j) * ys]), p);
  for (int64_t j = 0; i + j < n; j++)
    s[j] += FN(term)(kind, LOAD(x[(i + j) * xs]), LOAD(y[(i + j) * ys]), p);
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return (ACC)s[0];
}

static INLINE ACC FN(by_kind)(int kind, const T *x, int64_t xs, const T *y, int64_t ys, int64_t n,
                              double p) {
  switch (kind) {
  case DOT:
    return FN(add)(DOT, x, xs, y, ys, n, p);
  case DIFFERENT:
    return FN(add)(DIFFERENT, x, xs, y, ys, n, p);
  case APART:
    return FN(add)(APART, x, xs, y, ys, n, p);
  case DISTANCE:
    return FN(add)(DISTANCE, x, xs, y, ys, n, p);
  case SQUARE:
    return FN(add)(SQUARE, x, xs, y, ys, n, p);
  default:
    return FN(add)(POWER, x, xs, y, ys, n, p);
  }
}

/* Adds a run to sum. */
DPT__CLONES static void FN(pair)(int kind, const void *x, int64_t xs, const void *y, int64_t ys,
                                 int64_t n, double p, part *sum) {
  ACC v = xs == 1 && ys == 1 ? FN(by_kind)(kind, x, 1, y, 1, n, p)
                             : FN(by_kind)(kind, x, xs, y, ys, n, p);
  V(sum) = (ACC)((WRAP)V(sum) + (WRAP)v);
}

#undef V
#undef MAGNITUDE_OF
