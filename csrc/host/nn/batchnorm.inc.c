/* batchnorm.inc.c: rows of batchnorm.c. Each works on planes first .. first+n-1 of (N, C, S): n is
 * 1 where S > 1, up to BLOCK where S is 1 and the planes are columns. */

/* sum += f(element) over images and positions; f 0: x, 1: (x - shift)^2, 2: (x - shift) * g */
static void FN(sums)(int f, const T *x, const T *g, const struct shape *a, int64_t first, int64_t n,
                     const double *shift, double *sum) {
  for (int64_t c = 0; c < n; c++) sum[c] = 0;
  for (int64_t i = 0; i < a->N; i++) {
    int64_t o = (i * a->C + first) * a->S, m = a->S == 1 ? n : a->S;
    if (a->S == 1) {
      for (int64_t c = 0; c < m; c++) {
        double v = x[o + c] - (f ? shift[c] : 0);
        sum[c] += f == 0 ? v : f == 1 ? v * v : v * g[o + c];
      }
    } else {
      double s = 0, d = f ? shift[0] : 0;
      if (f == 0) {
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < m; k++) s += x[o + k];
      } else if (f == 1) {
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < m; k++) s += (x[o + k] - d) * (x[o + k] - d);
      } else {
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < m; k++) s += (x[o + k] - d) * g[o + k];
      }
      sum[0] += s;
    }
  }
}

/* out = (x - mean) * factor + offset */
static void FN(normalize)(const T *x, T *out, const struct shape *a, int64_t first, int64_t n,
                          const double *mean, const double *factor, const double *offset) {
  T m[BLOCK], f[BLOCK], b[BLOCK];
  for (int64_t c = 0; c < n; c++) m[c] = (T)mean[c], f[c] = (T)factor[c], b[c] = (T)offset[c];
  for (int64_t i = 0; i < a->N; i++) {
    int64_t o = (i * a->C + first) * a->S;
    if (a->S == 1)
      for (int64_t c = 0; c < n; c++) out[o + c] = (x[o + c] - m[c]) * f[c] + b[c];
    else
      for (int64_t k = 0; k < a->S; k++) out[o + k] = (x[o + k] - m[0]) * f[0] + b[0];
  }
}

static void FN(forward)(const struct dpt__batchnorm_args *a, const struct shape *size,
                        int64_t first, int64_t n) {
  const T *x = a->in, *weight = a->weight, *bias = a->bias;
  T *running_mean = a->running_mean, *running_var = a->running_var;
  double mean[BLOCK], sum[BLOCK], factor[BLOCK], offset[BLOCK], count = (double)(a->N * a->S);
  if (a->train) {
    FN(sums)(0, x, NULL, size, first, n, NULL, mean);
    for (int64_t c = 0; c < n; c++) mean[c] /= count;
    FN(sums)(1, x, NULL, size, first, n, mean, sum);
  }
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
  struct shape size = {a->N, a->C, a->S};
  int64_t block = a->S == 1 ? BLOCK : 1;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(forward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}

/* gin = (g - mean of g - (x - mean) * k) * factor; factors k and mean of g are 0 in evaluation. */
static void FN(input_gradient)(const T *x, const T *g, T *gin, const struct shape *a, int64_t first,
                               int64_t n, const double *mean, const double *k, const double *gmean,
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
      for (int64_t j = 0; j < a->S; j++)
        gin[o + j] = (g[o + j] - b[0] - (x[o + j] - m[0]) * s[0]) * f[0];
  }
}

static void FN(backward)(const struct dpt__batchnorm_backward_args *a, const struct shape *size,
                         int64_t first, int64_t n) {
  const T *x = a->in, *g = a->gout, *weight = a->weight, *deviation = a->deviation;
  T *gweight = a->gweight, *gbias = a->gbias;
  double mean[BLOCK], factor[BLOCK], sum[BLOCK], dot[BLOCK], k[BLOCK], gmean[BLOCK];
  double count = (double)(a->N * a->S);
  for (int64_t c = 0; c < n; c++) mean[c] = ((const T *)a->mean)[first + c];
  FN(sums)(0, g, NULL, size, first, n, NULL, sum);
  FN(sums)(2, x, g, size, first, n, mean, dot);
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
  struct shape size = {a->N, a->C, a->S};
  int64_t block = a->S == 1 ? BLOCK : 1;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(backward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}
