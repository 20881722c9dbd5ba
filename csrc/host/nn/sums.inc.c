/* sums.inc.c: sums and moments in double, in SPREAD partial sums that are added in a fixed order,
 * and updates of parameters. */
enum { FN(SPREAD) = 16 };

/* Returns the total of SPREAD sums, which it overwrites. */
static DPT__INLINE double FN(spread_total)(double *s) {
#pragma GCC unroll 4
  for (int h = FN(SPREAD) / 2; h; h /= 2)
#pragma GCC unroll 8
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return s[0];
}

/* Adds n elements of g, from element k on, to s, and (x - m) * g to d. If d is NULL, x is not read;
 * if s is NULL, g is not read, and x - m takes its place. */
static DPT__INLINE void FN(add_few)(const T *x, const T *g, int64_t k, int64_t n, double m,
                                    double *s, double *d) {
  for (int64_t j = 0; j < n; j++) {
    double u = d ? x[k + j] - m : 0, v = s ? g[k + j] : u;
    if (s) s[j] += v;
    if (d) d[j] += u * v;
  }
}
static DPT__INLINE void FN(add)(const T *x, const T *g, int64_t n, double m, double *s, double *d) {
  int64_t k = 0;
  for (; k + FN(SPREAD) <= n; k += FN(SPREAD)) FN(add_few)(x, g, k, FN(SPREAD), m, s, d);
  FN(add_few)(x, g, k, n - k, m, s, d);
}

/* Computes the mean of n elements and the sum of their squared differences from it; the second pass
 * reads them from L1. */
static DPT__INLINE void FN(piece_moments)(const T *x, int64_t n, double *mean, double *m2) {
  double s[FN(SPREAD)], q[FN(SPREAD)];
  for (int64_t j = 0; j < FN(SPREAD); j++) s[j] = q[j] = 0;
  FN(add)(NULL, x, n, 0, s, NULL);
  *mean = FN(spread_total)(s) / (double)n;
  FN(add)(x, NULL, n, *mean, NULL, q);
  *m2 = FN(spread_total)(q);
}

/* Stores element i of a parameter or statistic, rounded as T first. */
static void FN(put)(void *p, int type, int64_t i, double value) {
  dpt__put_element(type, (char *)p + i * (int64_t)dpt__dtype_size(type), (T)value);
}
/* Computes p[i] = p[i] * keep + more, if there is such an operand. */
static void FN(update)(void *p, int type, int64_t i, double keep, double more) {
  if (p) FN(put)(p, type, i, more + keep * dpt__index_number(p, type, i));
}
