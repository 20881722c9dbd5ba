/* plane_sum.inc.c: rows of plane_sum.c. */

/* Columns first .. first+n-1 of N rows of C elements, added up in double. */
static void FN(columns)(const T *in, int64_t N, int64_t C, int64_t first, int64_t n, double *sum) {
  for (int64_t c = 0; c < n; c++) sum[c] = 0;
  for (int64_t i = 0; i < N; i++) {
    const T *row = in + i * C + first;
    for (int64_t c = 0; c < n; c++) sum[c] += row[c];
  }
}

static double FN(plane)(const T *in, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += in[i];
  return sum;
}

static int FN(plane_sum)(dpt__context *context, const struct dpt__plane_sum_args *a) {
  const T *gout = a->gout;
  T *gb = a->gb;
  int64_t block = a->S == 1 ? BLOCK : 1, blocks = (a->C + block - 1) / block;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    double sum[BLOCK] = {0};
    int64_t first = b * block, n = block < a->C - first ? block : a->C - first;
    if (a->S == 1)
      FN(columns)(gout, a->N, a->C, first, n, sum);
    else
      for (int64_t i = 0; i < a->N; i++) sum[0] += FN(plane)(gout + (i * a->C + b) * a->S, a->S);
    for (int64_t c = 0; c < n; c++) gb[first + c] = (T)(gb[first + c] + a->scale * sum[c]);
  }
  return 0;
}
