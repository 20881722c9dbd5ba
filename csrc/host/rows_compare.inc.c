/* rows_compare.inc.c: the loop of comparisons LOOP with results of type R; see rows_any.inc.c. */
static inline __attribute__((always_inline)) void LOOP(FN(condition) * f, int operands, int64_t n,
                                                       R *r, const T *a, const T *b, double p_) {
  const T p = NUMBER(p_);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) r[i] = (R)f(a[i], operands > 1 ? b[i] : 0, p);
}
