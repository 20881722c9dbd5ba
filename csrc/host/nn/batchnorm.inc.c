/* batchnorm.inc.c: rows of batchnorm.c. Each function works on planes first .. first+n-1 of (N, C,
 * S), n up to BLOCK, image by image as in memory; if S is 1, the planes are columns. */
#include "host/nn/sums.inc.c"

/* Computes means, and sums of squared differences from them, over images and positions. */
DPT__CLONES static void FN(moments)(const void *in, const struct shape *a, int64_t first, int64_t n,
                                    double *mean, double *m2) {
  T room[PIECE];
  for (int64_t c = 0; c < n; c++) mean[c] = m2[c] = 0;
  if (a->S == 1) {
    for (int64_t i = 0, rows, apart; i < a->N; i += rows) {
      rows = batchnorm_count(a, n, PIECE, a->N - i);
      const T *x = batchnorm_rows(a, in, first, n, i, rows, room, &apart);
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < n; c++) mean[c] += x[r * apart + c];
    }
    for (int64_t c = 0; c < n; c++) mean[c] /= (double)a->N;
    for (int64_t i = 0, rows, apart; i < a->N; i += rows) {
      rows = batchnorm_count(a, n, PIECE, a->N - i);
      const T *x = batchnorm_rows(a, in, first, n, i, rows, room, &apart);
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < n; c++) {
          double d = x[r * apart + c] - mean[c];
          m2[c] += d * d;
        }
    }
    return;
  }
  for (struct part p = {0}; batchnorm_next(a, first, n, PIECE, &p);) {
    const T *x = dpt__stored_read(&a->stored, in, p.o, p.planes * p.size, room);
    for (int64_t c = p.c; c < p.c + p.planes; c++, x += p.size) {
      double own, squares;
      FN(piece_moments)(x, p.size, &own, &squares);
      dpt__join_variance(&mean[c], &m2[c], (double)(p.i * a->S + p.k), own, squares,
                         (double)p.size);
    }
  }
}

/* Sums over images and positions; sum: of g; dot: of (x - shift) * g. */
DPT__CLONES static void FN(products)(const void *in, const void *gout, const struct shape *a,
                                     int64_t first, int64_t n, const double *shift, double *sum,
                                     double *dot) {
  T room[2][ROW];
  double s[FN(SPREAD)], d[FN(SPREAD)];
  for (int64_t c = 0; c < n; c++) sum[c] = dot[c] = 0;
  for (int64_t i = 0, rows, apart; i < a->N && a->S == 1; i += rows) {
    rows = batchnorm_count(a, n, ROW, a->N - i);
    const T *x = batchnorm_rows(a, in, first, n, i, rows, room[0], &apart);
    const T *g = batchnorm_rows(a, gout, first, n, i, rows, room[1], &apart);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < n; c++) {
        sum[c] += g[r * apart + c];
        dot[c] += (x[r * apart + c] - shift[c]) * g[r * apart + c];
      }
  }
  for (struct part p = {0}; a->S > 1 && batchnorm_next(a, first, n, ROW, &p);) {
    const T *x = dpt__stored_read(&a->stored, in, p.o, p.planes * p.size, room[0]);
    const T *g = dpt__stored_read(&a->stored, gout, p.o, p.planes * p.size, room[1]);
    for (int64_t c = p.c; c < p.c + p.planes; c++, x += p.size, g += p.size) {
      if (p.k == 0)
        for (int64_t j = 0; j < FN(SPREAD); j++) s[j] = d[j] = 0;
      FN(add)(x, g, p.size, shift[c], s, d);
      if (p.k + p.size < a->S) continue;
      sum[c] += FN(spread_total)(s);
      dot[c] += FN(spread_total)(d);
    }
  }
}

/* Computes out = (x - mean) * factor + offset. */
DPT__CLONES static void FN(normalize)(const void *in, void *out, const struct shape *a,
                                      int64_t first, int64_t n, const double *mean,
                                      const double *factor, const double *offset) {
  T m[BLOCK], f[BLOCK], b[BLOCK], room[2][ROW];
  for (int64_t c = 0; c < n; c++) m[c] = (T)mean[c], f[c] = (T)factor[c], b[c] = (T)offset[c];
  for (struct part p = {0}; batchnorm_next(a, first, n, ROW, &p);) {
    const T *x = dpt__stored_read(&a->stored, in, p.o, p.planes * p.size, room[0]);
    T *const to = dpt__stored_place(&a->stored, out, p.o, room[1]), *r = to;
    for (int64_t c = 0; c < n && a->S == 1; c++) r[c] = (x[c] - m[c]) * f[c] + b[c];
    for (int64_t c = p.c; c < p.c + p.planes && a->S > 1; c++, x += p.size, r += p.size)
      for (int64_t j = 0; j < p.size; j++) r[j] = (x[j] - m[c]) * f[c] + b[c];
    dpt__stored_write(&a->stored, out, p.o, p.planes * p.size, to);
  }
}

static void FN(forward)(const struct dpt__batchnorm_args *a, const struct shape *size,
                        int64_t first, int64_t n) {
  int type = a->param_type;
  double mean[BLOCK], sum[BLOCK], factor[BLOCK], offset[BLOCK], count = (double)(a->N * a->S);
  if (a->train) FN(moments)(a->in, size, first, n, mean, sum);
  for (int64_t c = 0; c < n; c++) {
    int64_t k = first + c;
    if (a->train) {
      double var = sum[c] / count, unbiased = sum[c] / (count > 1 ? count - 1 : 1);
      factor[c] = var == 0 && a->eps == 0 ? 0 : 1 / sqrt(var + a->eps);
      FN(put)(a->save_mean, type, k, mean[c]);
      FN(put)(a->save_std, type, k, factor[c]);
      FN(update)(a->running_mean, type, k, 1 - a->momentum, a->momentum * mean[c]);
      FN(update)(a->running_var, type, k, 1 - a->momentum, a->momentum * unbiased);
    } else {
      mean[c] = dpt__index_number(a->running_mean, type, k);
      factor[c] = 1 / sqrt(dpt__index_number(a->running_var, type, k) + a->eps);
    }
    if (a->weight) factor[c] *= dpt__index_number(a->weight, type, k);
    offset[c] = a->bias ? dpt__index_number(a->bias, type, k) : 0;
  }
  FN(normalize)(a->in, a->out, size, first, n, mean, factor, offset);
}

static int FN(batchnorm)(dpt__context *context, const struct dpt__batchnorm_args *a) {
  if (context->measures) return 0;
  struct shape size = batchnorm_shape(a->type, a->N, a->C, a->S);
  int threads = dpt__threads(context, a->N * a->C * a->S);
  int64_t block = batchnorm_block(&size, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(forward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}

/* Computes gin = (g - gmean - (x - mean) * k) * factor; k and gmean are 0 in evaluation. */
DPT__CLONES static void FN(input_gradient)(const void *in, const void *gout, void *gin,
                                           const struct shape *a, int64_t first, int64_t n,
                                           const double *mean, const double *k, const double *gmean,
                                           const double *factor) {
  T m[BLOCK], s[BLOCK], b[BLOCK], f[BLOCK], room[3][ROW];
  for (int64_t c = 0; c < n; c++) {
    m[c] = (T)mean[c], s[c] = (T)k[c], b[c] = (T)gmean[c], f[c] = (T)factor[c];
  }
  for (struct part p = {0}; batchnorm_next(a, first, n, ROW, &p);) {
    const T *x = dpt__stored_read(&a->stored, in, p.o, p.planes * p.size, room[0]);
    const T *g = dpt__stored_read(&a->stored, gout, p.o, p.planes * p.size, room[1]);
    T *const to = dpt__stored_place(&a->stored, gin, p.o, room[2]), *r = to;
    for (int64_t c = 0; c < n && a->S == 1; c++) r[c] = (g[c] - b[c] - (x[c] - m[c]) * s[c]) * f[c];
    for (int64_t c = p.c; c < p.c + p.planes && a->S > 1;
         c++, x += p.size, g += p.size, r += p.size)
      for (int64_t j = 0; j < p.size; j++) r[j] = (g[j] - b[c] - (x[j] - m[c]) * s[c]) * f[c];
    dpt__stored_write(&a->stored, gin, p.o, p.planes * p.size, to);
  }
}

static void FN(backward)(const struct dpt__batchnorm_backward_args *a, const struct shape *size,
                         int64_t first, int64_t n) {
  int type = a->param_type;
  double mean[BLOCK] = {0}, factor[BLOCK], sum[BLOCK], dot[BLOCK], k[BLOCK], gmean[BLOCK];
  double count = (double)(a->N * a->S);
  for (int64_t c = 0; c < n; c++) mean[c] = dpt__index_number(a->mean, type, first + c);
  FN(products)(a->in, a->gout, size, first, n, mean, sum, dot);
  for (int64_t c = 0; c < n; c++) {
    double d = dpt__index_number(a->deviation, type, first + c);
    double inverse = a->train ? d : 1 / sqrt(d + a->eps);
    k[c] = a->train ? dot[c] * inverse * inverse / count : 0;
    gmean[c] = a->train ? sum[c] / count : 0;
    factor[c] = inverse * (a->weight ? dpt__index_number(a->weight, type, first + c) : 1);
    FN(update)(a->gweight, type, first + c, 1, a->scale * dot[c] * inverse);
    FN(update)(a->gbias, type, first + c, 1, a->scale * sum[c]);
  }
  if (a->gin) FN(input_gradient)(a->in, a->gout, a->gin, size, first, n, mean, k, gmean, factor);
}

static int FN(batchnorm_backward)(dpt__context *context,
                                  const struct dpt__batchnorm_backward_args *a) {
  if (context->measures) return 0;
  struct shape size = batchnorm_shape(a->type, a->N, a->C, a->S);
  int threads = dpt__threads(context, a->N * a->C * a->S);
  int64_t block = batchnorm_block(&size, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < a->C; first += block)
    FN(backward)(a, &size, first, block < a->C - first ? block : a->C - first);
  return 0;
}
