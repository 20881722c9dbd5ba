/* batchnorm.inc.c: rows of batchnorm.c. Each function works on planes first .. first+n-1 of (N, C,
 * S), n up to BLOCK, image by image as in memory; if S is 1, the planes are columns. */

/* Computes the mean of n elements and the sum of their squared differences from it; the second pass
 * reads them from L1. */
static DPT__INLINE void FN(piece_moments)(const T *x, int64_t n, double *mean, double *m2) {
  double s[SPREAD] = {0}, q[SPREAD] = {0};
  int64_t k = 0;
  for (; k + SPREAD <= n; k += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) s[j] += x[k + j];
  for (int64_t j = 0; k + j < n; j++) s[j] += x[k + j];
  *mean = batchnorm_total(s) / (double)n;
  double shift = *mean;
  for (k = 0; k + SPREAD <= n; k += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) q[j] += (x[k + j] - shift) * (x[k + j] - shift);
  for (int64_t j = 0; k + j < n; j++) q[j] += (x[k + j] - shift) * (x[k + j] - shift);
  *m2 = batchnorm_total(q);
}

/* Computes means, and sums of squared differences from them, over images and positions. */
DPT__CLONES static void FN(moments)(const T *x, const struct shape *a, int64_t first, int64_t n,
                                    double *mean, double *m2) {
  for (int64_t c = 0; c < n; c++) mean[c] = m2[c] = 0;
  if (a->S == 1) {
    for (int64_t i = 0; i < a->N; i++)
      for (int64_t c = 0; c < n; c++) mean[c] += x[i * a->C + first + c];
    for (int64_t c = 0; c < n; c++) mean[c] /= (double)a->N;
    for (int64_t i = 0; i < a->N; i++)
      for (int64_t c = 0; c < n; c++) {
        double d = x[i * a->C + first + c] - mean[c];
        m2[c] += d * d;
      }
    return;
  }
  for (int64_t i = 0; i < a->N; i++)
    for (int64_t c = 0; c < n; c++) {
      const T *plane = x + (i * a->C + first + c) * a->S;
      for (int64_t k = 0; k < a->S; k += PIECE) {
        int64_t size = a->S - k < PIECE ? a->S - k : PIECE;
        double own, squares;
        FN(piece_moments)(plane + k, size, &own, &squares);
        dpt__join_variance(&mean[c], &m2[c], (double)(i * a->S + k), own, squares, (double)size);
      }
    }
}

/* Sums over images and positions; sum: of g; dot: of (x - shift) * g. */
DPT__CLONES static void FN(products)(const T *x, const T *g, const struct shape *a, int64_t first,
                                     int64_t n, const double *shift, double *sum, double *dot) {
  for (int64_t c = 0; c < n; c++) sum[c] = dot[c] = 0;
  for (int64_t i = 0; i < a->N; i++) {
    int64_t o = (i * a->C + first) * a->S;
    for (int64_t c = 0; c < n && a->S == 1; c++) {
      sum[c] += g[o + c];
      dot[c] += (x[o + c] - shift[c]) * g[o + c];
    }
    for (int64_t c = 0; c < n && a->S > 1; c++, o += a->S) {
      double s[SPREAD] = {0}, d[SPREAD] = {0}, m = shift[c];
      int64_t k = 0;
      for (; k + SPREAD <= a->S; k += SPREAD)
        for (int64_t j = 0; j < SPREAD; j++) {
          s[j] += g[o + k + j];
          d[j] += (x[o + k + j] - m) * g[o + k + j];
        }
      for (int64_t j = 0; k + j < a->S; j++) {
        s[j] += g[o + k + j];
        d[j] += (x[o + k + j] - m) * g[o + k + j];
      }
      sum[c] += batchnorm_total(s);
      dot[c] += batchnorm_total(d);
    }
  }
}

/* Computes out = (x - mean) * factor + offset. */
DPT__CLONES static void FN(normalize)(const T *x, T *out, const struct shape *a, int64_t first,
                                      int64_t n, const double *mean, const double *factor,
                                      const double *offset) {
  T m[BLOCK], f[BLOCK], b[BLOCK];
  for (int64_t c = 0; c < n; c++) m[c] = (T)mean[c], f[c] = (T)factor[c], b[c] = (T)offset[c];
  for (int64_t i = 0; i < a->N; i++) {
    int64_t o = (i * a->C + first) * a->S;
    if (a->S == 1)
      for (int64_t c = 0; c < n; c++) out[o + c] = (x[o + c] - m[c]) * f[c] + b[c];
    else
      for (int64_t c = 0; c < n; c++, o += a->S)
        for (int64_t k = 0; k < a->S; k++) out[o + k] = (x[o + k] - m[c]) * f[c] + b[c];
  }
}

static void FN(forward)(const struct dpt__batchnorm_args *a, const struct shape *size,
                        int64_t first, int64_t n) {
  const T *x = a->in, *weight = a->weight, *bias = a->bias;
  T *running_mean = a->running_mean, *running_var = a->running_var;
  double mean[BLOCK], sum[BLOCK], factor[BLOCK], offset[BLOCK], count = (double)(a->N * a->S);
  if (a->train) FN(moments)(x, size, first, n, mean, sum);
  for (int64_t c = 0; c < n; c++) {
    int64_t k = first + c;
    if (a->train) {
      double var = sum[c] / count, unbiased = sum[c] / (count > 1 ? count - 1 : 1);
      factor[c] = var == 0 && a->eps == 0 ? 0 : 1 / sqrt(var + a->eps);
      ((T *)a->save_mean)[k] = (T)mean[c];
      ((T *)a->save_std)[k] = (T)factor[c];
      if (running_mean)
        running_mean[k] = (T)(a->momentum * mean[c] + (1 - a->momentum) * running_mean[k]);
      if (running_var)
        running_var[k] = (T)(a->momentum * unbiased + (1 - a->momentum) * running_var[k]);
    } else {
      mean[c] = running_mean[k];
      factor[c] = 1 / sqrt(running_var[k] + a->eps);
    }
    if (weight) factor[c] *= weight[k];
    offset[c] = bias ? bias[k] : 0;
  }
  FN(normalize)(x, a->out, size, first, n, mean, factor, offset);
}

static int FN(batchnorm)(dpt__context *context, const struct dpt__batchnorm_args *a) {
  if (context->measures) return 0;
  struct shape size = {a->N, a->C, a->S};
  int threads = dpt__threads(context, a->N * a->C * a->S);
  int64_t block = batchnorm_block(&size, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(forward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}

/* Computes gin = (g - gmean - (x - mean) * k) * factor; k and gmean are 0 in evaluation. */
DPT__CLONES static void FN(input_gradient)(const T *x, const T *g, T *gin, const struct shape *a,
                                           int64_t first, int64_t n, const double *mean,
                                           const double *k, const double *gmean,
                                           const double *factor) {
  T m[BLOCK], s[BLOCK], b[BLOCK], f[BLOCK];
  for (int64_t c = 0; c < n; c++) {
    m[c] = (T)mean[c], s[c] = (T)k[c], b[c] = (T)gmean[c], f[c] = (T)factor[c];
  }
  for (int64_t i = 0; i < a->N; i++) {
    int64_t o = (i * a->C + first) * a->S;
    if (a->S == 1)
      for (int64_t c = 0; c < n; c++)
        gin[o + c] = (g[o + c] - b[c] - (x[o + c] - m[c]) * s[c]) * f[c];
    else
      for (int64_t c = 0; c < n; c++, o += a->S)
        for (int64_t j = 0; j < a->S; j++)
          gin[o + j] = (g[o + j] - b[c] - (x[o + j] - m[c]) * s[c]) * f[c];
  }
}

static void FN(backward)(const struct dpt__batchnorm_backward_args *a, const struct shape *size,
                         int64_t first, int64_t n) {
  const T *x = a->in, *g = a->gout, *weight = a->weight, *deviation = a->deviation;
  T *gweight = a->gweight, *gbias = a->gbias;
  double mean[BLOCK] = {0}, factor[BLOCK], sum[BLOCK], dot[BLOCK], k[BLOCK], gmean[BLOCK];
  double count = (double)(a->N * a->S);
  for (int64_t c = 0; c < n; c++) mean[c] = ((const T *)a->mean)[first + c];
  FN(products)(x, g, size, first, n, mean, sum, dot);
  for (int64_t c = 0; c < n; c++) {
    double d = deviation[first + c], inverse = a->train ? d : 1 / sqrt(d + a->eps);
    k[c] = a->train ? dot[c] * inverse * inverse / count : 0;
    gmean[c] = a->train ? sum[c] / count : 0;
    factor[c] = inverse * (weight ? weight[first + c] : 1);
    if (gweight) gweight[first + c] = (T)(gweight[first + c] + a->scale * dot[c] * inverse);
    if (gbias) gbias[first + c] = (T)(gbias[first + c] + a->scale * sum[c]);
  }
  if (a->gin) FN(input_gradient)(x, g, a->gin, size, first, n, mean, k, gmean, factor);
}

static int FN(batchnorm_backward)(dpt__context *context,
                                  const struct dpt__batchnorm_backward_args *a) {
  if (context->measures) return 0;
  struct shape size = {a->N, a->C, a->S};
  int threads = dpt__threads(context, a->N * a->C * a->S);
  int64_t block = batchnorm_block(&size, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(backward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}
