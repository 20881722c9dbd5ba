/* softmax.inc.c: rows of softmax.c. */
#include "host/nn/total.inc.c"

static DPT__INLINE T FN(largest)(const T *in, int64_t n) {
  T max = in[0];
#pragma omp simd reduction(max : max)
  for (int64_t i = 1; i < n; i++) max = in[i] > max ? in[i] : max;
  return max;
}

/* Computes rows of C classes: one row, or at most TOGETHER elements; in may be out. */
DPT__CLONES
static void FN(some_rows)(int log_, const T *in, T *out, int64_t rows, int64_t C, T *restrict exps,
                          dpt__row_fn *exp_) {
  T max[TOGETHER];
  for (int64_t r = 0; r < rows; r++) {
    max[r] = FN(largest)(in + r * C, C);
    for (int64_t c = 0; c < C; c++) exps[r * C + c] = in[r * C + c] - max[r];
  }
  exp_(rows * C, exps, exps, NULL, NULL, 0, 0);
  for (int64_t r = 0; r < rows; r++, in += C, out += C, exps += C) {
    double sum = FN(total)(exps, NULL, C);
    T by = (T)(log_ ? max[r] + log(sum) : 1 / sum);
    if (log_)
      for (int64_t c = 0; c < C; c++) out[c] = in[c] - by;
    else
      for (int64_t c = 0; c < C; c++) out[c] = exps[c] * by;
  }
}

/* Computes n adjacent positions (at most BLOCK) of an image whose classes are S elements apart. */
DPT__CLONES
static void FN(positions)(int log_, const T *in, T *out, int64_t C, int64_t S, int64_t n, T *exps,
                          dpt__row_fn *exp_) {
  T max[BLOCK], shift[BLOCK];
  double sum[BLOCK] = {0};
  memcpy(max, in, (size_t)n * sizeof *max);
  for (int64_t c = 1; c < C; c++)
    for (int64_t s = 0; s < n; s++) max[s] = in[c * S + s] > max[s] ? in[c * S + s] : max[s];
  for (int64_t c = 0; c < C; c++) {
    T *e = exps + c * BLOCK;
    for (int64_t s = 0; s < n; s++) e[s] = in[c * S + s] - max[s];
    exp_(n, e, e, NULL, NULL, 0, 0);
    for (int64_t s = 0; s < n; s++) sum[s] += e[s];
  }
  for (int64_t s = 0; s < n; s++) shift[s] = (T)(log_ ? max[s] + log(sum[s]) : 1 / sum[s]);
  for (int64_t c = 0; c < C; c++)
    for (int64_t s = 0; s < n; s++)
      out[c * S + s] = log_ ? in[c * S + s] - shift[s] : exps[c * BLOCK + s] * shift[s];
}

DPT__CLONES
static void FN(some_rows_backward)(int log_, const T *gout, const T *out, T *gin, int64_t rows,
                                   int64_t C, T *restrict exps, dpt__row_fn *exp_) {
  if (log_) exp_(rows * C, exps, out, NULL, NULL, 0, 0);
  for (int64_t r = 0; r < rows; r++, gout += C, out += C, gin += C, exps += C) {
    T sum = (T)FN(total)(gout, log_ ? NULL : out, C);
    if (log_)
      for (int64_t c = 0; c < C; c++) gin[c] = gout[c] - exps[c] * sum;
    else
      for (int64_t c = 0; c < C; c++) gin[c] = out[c] * (gout[c] - sum);
  }
}

DPT__CLONES
static void FN(positions_backward)(int log_, const T *gout, const T *out, T *gin, int64_t C,
                                   int64_t S, int64_t n, dpt__row_fn *exp_) {
  double sum[BLOCK] = {0};
  T exps[BLOCK];
  for (int64_t c = 0; c < C; c++)
    for (int64_t s = 0; s < n; s++)
      sum[s] += log_ ? (double)gout[c * S + s] : (double)gout[c * S + s] * out[c * S + s];
  for (int64_t c = 0; c < C; c++) {
    if (log_) exp_(n, exps, out + c * S, NULL, NULL, 0, 0);
    for (int64_t s = 0; s < n; s++) {
      T g = gout[c * S + s];
      gin[c * S + s] = log_ ? g - exps[s] * (T)sum[s] : out[c * S + s] * (g - (T)sum[s]);
    }
  }
}

static int FN(softmax)(dpt__context *context, const struct dpt__softmax_args *a) {
  int threads = dpt__threads(context, a->N * a->C * a->S * 4), rows = a->S == 1;
  int64_t some = rows && a->C && a->C < TOGETHER ? TOGETHER / a->C : 1;
  int64_t each = rows ? some * a->C : a->gin ? 0 : a->C * BLOCK; /* exponentials of a thread */
  T *exps = dpt__scratch(context, (size_t)(each * threads + 1) * sizeof *exps);
  if (context->measures) return 0;
  dpt__row_fn *exp_ = dpt__rows_pick()->map[DPT__MAP_exp][a->type];
  int64_t blocks = rows ? 1 : (a->S + BLOCK - 1) / BLOCK;
  int64_t tasks = rows ? (a->N + some - 1) / some : a->N * blocks;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < tasks; i++) {
    int64_t first = i % blocks * BLOCK, n = BLOCK < a->S - first ? BLOCK : a->S - first;
    int64_t many = some < a->N - i * some ? some : a->N - i * some; /* rows */
    int64_t position = rows ? i * some * a->C : i / blocks * a->C * a->S + first;
    const T *from = (const T *)(a->gin ? a->gout : a->in) + position;
    T *out = (T *)a->out + position, *mine = exps + each * dpt__thread_number();
    if (a->gin && rows)
      FN(some_rows_backward)(a->log, from, out, (T *)a->gin + position, many, a->C, mine, exp_);
    else if (a->gin)
      FN(positions_backward)(a->log, from, out, (T *)a->gin + position, a->C, a->S, n, exp_);
    else if (rows)
      FN(some_rows)(a->log, from, out, many, a->C, mine, exp_);
    else
      FN(positions)(a->log, from, out, a->C, a->S, n, mine, exp_);
  }
  return 0;
}
