/* total.inc.c: sums in double, in the same order for all instruction sets: a few numbers
 * sequentially, more numbers in parallel accumulators. */
enum { FN(SPREAD) = 16 };

/* Returns the sum of in[i], or of in[i] * by[i] if `by` is not NULL. */
static DPT__INLINE double FN(total)(const T *in, const T *by, int64_t n) {
  double sum[FN(SPREAD)] = {0};
  int64_t i = 0;
  if (n < FN(SPREAD)) {
    double few = 0;
    for (; i < n; i++) few += by ? (double)in[i] * by[i] : in[i];
    return few;
  }
  for (; i + FN(SPREAD) <= n; i += FN(SPREAD))
    for (int j = 0; j < FN(SPREAD); j++) sum[j] += by ? (double)in[i + j] * by[i + j] : in[i + j];
  for (int j = 0; i + j < n; j++) sum[j] += by ? (double)in[i + j] * by[i + j] : in[i + j];
  for (int h = FN(SPREAD) / 2; h; h /= 2)
    for (int j = 0; j < h; j++) sum[j] += sum[j + h];
  return sum[0];
}
