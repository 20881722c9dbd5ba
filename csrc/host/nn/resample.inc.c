/* resample.inc.c: rows of resample.c. */

/* A row of in that contributes to a row of out. */
struct FN(line) {
  T *row;
  double weight;
};

/* Computes one row of out: a weighted sum of up to two elements of each of its lines. backward:
 * adds its gradient to them. */
static DPT__INLINE void FN(upsample_row)(int linear, int backward, const struct FN(line) * line,
                                         int lines, const struct tap *x, int64_t n, T *out) {
  for (int64_t k = 0; k < n; k++) {
    double sum = 0;
    for (int l = 0; l < lines; l++)
      for (int c = 0; c <= linear; c++) {
        double w = linear ? line[l].weight * x[k].weight[c] : 1;
        T *at = line[l].row + x[k].at[c];
        if (w == 0) continue;
        if (backward)
          *at += (T)w * out[k];
        else
          sum += w * *at;
      }
    if (!backward) out[k] = (T)sum;
  }
}

static void FN(upsample_plane)(const struct dpt__upsample_args *a, const struct tap *t, T *in,
                               T *out) {
  const struct tap *y = t + a->outsize[0], *x = y + a->outsize[1];
  int64_t n = a->outsize[2];
  if (a->backward) memset(in, 0, (size_t)dpt__volume(a->insize) * sizeof *in);
  for (int64_t i = 0; i < a->outsize[0]; i++)
    for (int64_t j = 0; j < a->outsize[1]; j++, out += n) {
      struct FN(line) line[4];
      int lines = 0;
      for (int corner = 0; corner < 4; corner++) {
        int c0 = corner >> 1, c1 = corner & 1;
        double w = t[i].weight[c0] * y[j].weight[c1];
        T *row = in + (t[i].at[c0] * a->insize[1] + y[j].at[c1]) * a->insize[2];
        if (w != 0) line[lines++] = (struct FN(line)){row, w};
      }
      if (a->linear && a->backward)
        FN(upsample_row)(1, 1, line, lines, x, n, out);
      else if (a->linear)
        FN(upsample_row)(1, 0, line, lines, x, n, out);
      else if (a->backward)
        FN(upsample_row)(0, 1, line, 1, x, n, out);
      else
        FN(upsample_row)(0, 0, line, 1, x, n, out);
    }
}

/* Pads one plane. t: along each dimension, the index in `in` of every element of out; -1: a
 * zero. */
static void FN(pad_plane)(const struct dpt__pad_args *a, const int64_t *t, T *in, T *out) {
  const int64_t *y = t + a->outsize[0], *x = y + a->outsize[1];
  if (a->backward) memset(in, 0, (size_t)dpt__volume(a->insize) * sizeof *in);
  for (int64_t i = 0; i < a->outsize[0]; i++)
    for (int64_t j = 0; j < a->outsize[1]; j++, out += a->outsize[2]) {
      int outside = t[i] < 0 || y[j] < 0;
      T *row = outside ? NULL : in + (t[i] * a->insize[1] + y[j]) * a->insize[2];
      for (int64_t k = 0; k < a->outsize[2]; k++) {
        int zero = outside || x[k] < 0;
        if (!a->backward)
          out[k] = zero ? 0 : row[x[k]];
        else if (!zero)
          row[x[k]] += out[k];
      }
    }
}

static int FN(upsample)(dpt__context *context, const struct dpt__upsample_args *a) {
  int64_t n = a->outsize[0] + a->outsize[1] + a->outsize[2];
  int64_t large = dpt__volume(a->outsize), small = dpt__volume(a->insize);
  struct tap *taps = dpt__scratch(context, (size_t)n * sizeof *taps);
  if (context->measures) return 0;
  resample_lay_taps(a, taps);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t i = 0; i < a->planes; i++)
    FN(upsample_plane)(a, taps, (T *)a->in + i * small, (T *)a->out + i * large);
  return 0;
}

static int FN(pad)(dpt__context *context, const struct dpt__pad_args *a) {
  int64_t n = a->outsize[0] + a->outsize[1] + a->outsize[2];
  int64_t large = dpt__volume(a->outsize), small = dpt__volume(a->insize);
  int64_t *from = dpt__scratch(context, (size_t)n * sizeof *from);
  if (context->measures) return 0;
  resample_lay_pads(a, from);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t i = 0; i < a->planes; i++)
    FN(pad_plane)(a, from, (T *)a->in + i * small, (T *)a->out + i * large);
  return 0;
}
