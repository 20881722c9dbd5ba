/* planes.inc.c: rows of planes.c. */

/* out = g where in is positive, else slope * g. */
static int FN(scale_negative)(dpt__context *context, const struct dpt__prelu_args *a,
                              const T *gradients, T *outs) {
  if (context->measures) return 0;
  const T *weight = a->weight;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t i = 0; i < a->N * a->C; i++) {
    const T *in = (const T *)a->in + i * a->S, *g = gradients + i * a->S;
    T *out = outs + i * a->S, slope = weight[a->shared ? 0 : i % a->C];
    for (int64_t s = 0; s < a->S; s++) out[s] = in[s] > 0 ? g[s] : slope * g[s];
  }
  return 0;
}

/* A sum for each plane, over images in their order. */
static int FN(prelu_weight)(dpt__context *context, const struct dpt__prelu_args *a) {
  double *sum = dpt__scratch(context, (size_t)a->C * sizeof *sum);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t c = 0; c < a->C; c++) {
    sum[c] = 0;
    for (int64_t n = 0; n < a->N; n++) {
      int64_t position = (n * a->C + c) * a->S;
      const T *in = (const T *)a->in + position, *gout = (const T *)a->gout + position;
      for (int64_t s = 0; s < a->S; s++) sum[c] += in[s] > 0 ? 0 : (double)in[s] * gout[s];
    }
  }
  T *gw = a->gw;
  if (a->shared)
    for (int64_t c = 1; c < a->C; c++) sum[0] += sum[c];
  for (int64_t c = 0; c < (a->shared ? 1 : a->C); c++) gw[c] = (T)(gw[c] + a->scale * sum[c]);
  return 0;
}

static int FN(prelu)(dpt__context *context, const struct dpt__prelu_args *a) {
  if (a->gw) return FN(prelu_weight)(context, a);
  return a->gin ? FN(scale_negative)(context, a, a->gout, a->gin)
                : FN(scale_negative)(context, a, a->in, a->out);
}

/* r[c] = the sum over the `size` planes around c of in (squared) at one row of positions. */
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
