/* plane_sum.inc.c: rows of plane_sum.c. */
#include "host/nn/total.inc.c"

/* Adds n columns of rows that are C elements apart to sum. */
DPT__CLONES
static void FN(columns)(const T *restrict in, int64_t rows, int64_t C, int64_t n,
                        double *restrict sum) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < n; j++) sum[j] += in[i * C + j];
}

DPT__CLONES
static double FN(plane)(const T *in, int64_t n) { return FN(total)(in, NULL, n); }

static int FN(plane_sum)(dpt__context *context, const struct dpt__plane_sum_args *a) {
  if (context->measures) return 0;
  const T *gout = a->gout;
  T *gb = a->gb;
  int threads = dpt__threads(context, a->N * a->C * a->S);
  int64_t block = a->S == 1 ? plane_sum_block(a->C, threads) : 1;
  int64_t blocks = (a->C + block - 1) / block;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    double sum[BLOCK] = {0};
    int64_t first = b * block, n = block < a->C - first ? block : a->C - first;
    if (a->S == 1)
      FN(columns)(gout + first, a->N, a->C, n, sum);
    else
      for (int64_t i = 0; i < a->N; i++) sum[0] += FN(plane)(gout + (i * a->C + b) * a->S, a->S);
    for (int64_t c = 0; c < n; c++) gb[first + c] = (T)(gb[first + c] + a->scale * sum[c]);
  }
  return 0;
}
