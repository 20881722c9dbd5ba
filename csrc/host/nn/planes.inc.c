/* planes.inc.c: rows of planes.c. */
#include "host/nn/sums.inc.c"

/* Computes out = g where in is positive, else slope * g. */
DPT__CLONES
static void FN(scale_row)(const T *in, const T *g, T *out, T slope, int64_t n) {
  for (int64_t s = 0; s < n; s++) {
    T scaled = slope * g[s];
    out[s] = in[s] > 0 ? g[s] : scaled;
  }
}

/* Scales negative elements, a piece of the whole at once. */
static int FN(scale_negative)(dpt__context *context, const struct dpt__prelu_args *a,
                              const void *gradients, void *outs) {
  if (context->measures) return 0;
  dpt__stored s = dpt__stored_of(a->type);
  int64_t count = a->N * a->C * a->S, slopes = a->shared ? 1 : a->C, run = count;
  if (!a->shared) run = a->S;
#pragma omp parallel for num_threads(dpt__threads(context, count)) schedule(static)
  for (int64_t first = 0; first < count; first += PIECE) {
    T rooms[2][PIECE];
    int64_t n = PIECE < count - first ? PIECE : count - first, left = run - first % run, m;
    const T *in = dpt__stored_read(&s, a->in, first, n, rooms[0]);
    const T *g = gradients == a->in ? in : dpt__stored_read(&s, gradients, first, n, rooms[1]);
    T *out = dpt__stored_place(&s, outs, first, rooms[1]);
    int64_t plane = first / run % slopes;
    for (int64_t i = 0; i < n; i += m, left = run, plane = (plane + 1) % slopes) {
      m = left < n - i ? left : n - i;
      T slope = (T)dpt__index_number(a->weight, a->type, plane);
      FN(scale_row)(in + i, g + i, out + i, slope, m);
    }
    dpt__stored_write(&s, outs, first, n, out);
  }
  return 0;
}

/* Returns the sum of in times gout where in is not positive. */
DPT__CLONES
static double FN(negative_sum)(const T *in, const T *gout, int64_t n) {
  double sum[SPREAD] = {0};
  for (int64_t i = 0; i < n; i += SPREAD) {
    int m = SPREAD < n - i ? SPREAD : (int)(n - i);
    for (int j = 0; j < (m == SPREAD ? SPREAD : m); j++) {
      double term = (double)in[i + j] * gout[i + j];
      sum[j] += in[i + j] > 0 ? 0 : term;
    }
  }
  for (int j = 1; j < SPREAD; j++) sum[0] += sum[j];
  return sum[0];
}

/* Computes a sum for each plane, over images in order, or for each piece of the whole. */
static int FN(prelu_weight)(dpt__context *context, const struct dpt__prelu_args *a) {
  int64_t count = a->N * a->C * a->S, sums = a->shared ? (count + PIECE - 1) / PIECE : a->C;
  double *sum = dpt__scratch(context, (size_t)(sums + 1) * sizeof *sum);
  if (context->measures) return 0;
  dpt__stored s = dpt__stored_of(a->type);
#pragma omp parallel for num_threads(dpt__threads(context, count)) schedule(static)
  for (int64_t c = 0; c < sums; c++) {
    T rooms[2][PIECE];
    sum[c] = 0;
    for (int64_t n = 0; n < (a->shared ? 1 : a->N); n++) {
      int64_t first = a->shared ? c * PIECE : (n * a->C + c) * a->S;
      int64_t size = !a->shared ? a->S : PIECE < count - first ? PIECE : count - first;
      int64_t m = s.widen ? PIECE : size; /* at once */
      for (int64_t i = 0; i < size; i += m) {
        if (m > size - i) m = size - i;
        sum[c] += FN(negative_sum)(dpt__stored_read(&s, a->in, first + i, m, rooms[0]),
                                   dpt__stored_read(&s, a->gout, first + i, m, rooms[1]), m);
      }
    }
  }
  for (int64_t c = 1; c < sums && a->shared; c++) sum[0] += sum[c];
  for (int64_t c = 0; c < (a->shared ? 1 : a->C) && sums; c++)
    FN(update)(a->gw, a->param_type, c, 1, a->scale * sum[c]);
  return 0;
}

static int FN(prelu)(dpt__context *context, const struct dpt__prelu_args *a) {
  if (a->gw) return FN(prelu_weight)(context, a);
  return a->gin ? FN(scale_negative)(context, a, a->gout, a->gin)
                : FN(scale_negative)(context, a, a->in, a->out);
}

/* Computes r[s], the sum of in (or its squares) over the `size` planes around c, at n positions. */
static void FN(around)(const T *in, double *r, int64_t C, int64_t S, int64_t size, int64_t c,
                       int64_t n, int square) {
  int64_t first = c - size / 2 < 0 ? 0 : c - size / 2, end = c + size / 2 + 1;
  if (end > C) end = C;
  for (int64_t s = 0; s < n; s++) r[s] = 0;
  for (int64_t k = first; k < end; k++)
    for (int64_t s = 0; s < n; s++) {
      double v = in[k * S + s];
      r[s] += square ? v * v : v;
    }
}

static int FN(lrn_forward)(dpt__context *context, const struct dpt__lrn_args *a) {
  if (context->measures) return 0;
  int64_t blocks = (a->S + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t i = 0; i < a->N * blocks; i++) {
    int64_t first = i % blocks * BLOCK, n = BLOCK < a->S - first ? BLOCK : a->S - first;
    int64_t position = i / blocks * a->C * a->S + first;
    const T *in = (const T *)a->in + position;
    T *denom = (T *)a->denom + position, *out = (T *)a->out + position;
    double sum[BLOCK];
    for (int64_t c = 0; c < a->C; c++) {
      FN(around)(in, sum, a->C, a->S, a->size, c, n, 1);
      for (int64_t s = 0; s < n; s++) {
        double d = a->k + a->alpha / (double)a->size * sum[s];
        denom[c * a->S + s] = (T)d;
        out[c * a->S + s] = (T)(in[c * a->S + s] * pow(d, -a->beta));
      }
    }
  }
  return 0;
}

static int FN(lrn_backward)(dpt__context *context, const struct dpt__lrn_args *a) {
  int threads = dpt__threads(context, a->N * a->C * a->S);
  /* gout * out / denom: C * BLOCK elements for each thread */
  T *ratios = dpt__scratch(context, (size_t)(threads * a->C * BLOCK) * sizeof *ratios);
  if (context->measures) return 0;
  int64_t blocks = (a->S + BLOCK - 1) / BLOCK;
  double factor = 2 * a->alpha * a->beta / (double)a->size;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < a->N * blocks; i++) {
    int64_t first = i % blocks * BLOCK, n = BLOCK < a->S - first ? BLOCK : a->S - first;
    int64_t position = i / blocks * a->C * a->S + first;
    const T *in = (const T *)a->in + position, *out = (const T *)a->out + position;
    const T *gout = (const T *)a->gout + position, *denom = (const T *)a->denom + position;
    T *gin = (T *)a->gin + position, *ratio = ratios + dpt__thread_number() * a->C * BLOCK;
    double sum[BLOCK];
    for (int64_t c = 0; c < a->C; c++)
      for (int64_t s = 0; s < n; s++) {
        int64_t o = c * a->S + s;
        ratio[c * BLOCK + s] = gout[o] * out[o] / denom[o];
      }
    for (int64_t c = 0; c < a->C; c++) {
      FN(around)(ratio, sum, a->C, BLOCK, a->size, c, n, 0);
      for (int64_t s = 0; s < n; s++) {
        int64_t o = c * a->S + s;
        gin[o] = (T)(gout[o] * pow(denom[o], -a->beta) - factor * in[o] * sum[s]);
      }
    }
  }
  return 0;
}

static int FN(lrn)(dpt__context *context, const struct dpt__lrn_args *a) {
  return a->gin ? FN(lrn_backward)(context, a) : FN(lrn_forward)(context, a);
}
