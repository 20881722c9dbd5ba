/* pool.inc.c: rows of pool.c. A position is as wide as an element, to fill equal vectors. */
typedef __typeof__(_Generic((T)0, float : (int32_t)0, double : (int64_t)0)) FN(position);

/* Fractional windows, as Torch7 lays them: in the element type's arithmetic. */
static void FN(fractional)(const struct dpt__maxpool_args *a, struct range *r) {
  const struct dpt__slide *s = &a->slide;
  const T *samples = a->samples;
  for (int64_t p = 0; p < a->planes; p++)
    for (int d = 0; d < 3; d++) {
      int64_t n = s->out[d], slack = s->in[d] - s->kernel[d];
      T u = 2 - d < a->fractional ? samples[p * a->fractional + 2 - d] : 0;
      T step = n > 1 ? (T)slack / (T)(n - 1) : 0;
      for (int64_t o = 0; o < n; o++, r++) {
        int64_t first = o == n - 1 ? slack : (int64_t)(((T)o + u) * step) - (int64_t)(u * step);
        first = first < 0 ? 0 : first > slack ? slack : first;
        *r = (struct range){first, first + s->kernel[d], s->kernel[d]};
      }
    }
}

/* The first largest element of one window; NaN is larger than all. */
static void FN(max_window)(const T *in, const struct dpt__slide *s, struct range t, struct range y,
                           struct range x, T *out, int64_t *idx) {
  int64_t best = (t.first * s->in[1] + y.first) * s->in[2] + x.first;
  T value = in[best];
  for (int64_t i = t.first; i < t.end && value == value; i += s->dilation[0])
    for (int64_t j = y.first; j < y.end && value == value; j += s->dilation[1]) {
      const T *row = in + (i * s->in[1] + j) * s->in[2];
      for (int64_t k = x.first; k < x.end; k += s->dilation[2])
        if (!(row[k] <= value)) {
          value = row[k];
          best = row + k - in;
          if (value != value) break;
        }
    }
  *out = value;
  *idx = best + 1;
}

/* Positions x0 .. x1-1 of a row of outputs meet one element of their windows; value and best keep
 * the largest so far. The stride is a constant in every call. */
static inline __attribute__((always_inline)) void FN(meet)(const T *in, int64_t stride,
                                                           FN(position) position, int64_t x0,
                                                           int64_t x1, T *restrict value,
                                                           FN(position) *restrict best) {
  in += position + x0 * stride;
  position += (FN(position))(x0 * stride);
  value += x0, best += x0;
  for (FN(position) x = 0; x < (FN(position))(x1 - x0); x++) {
    T v = in[x * stride], old = value[x];
    FN(position) take = -((v > old) | ((v != v) & (old == old)));
    value[x] = take ? v : old;
    best[x] = (take & (position + x * (FN(position))stride)) | (~take & best[x]);
  }
}

static inline __attribute__((always_inline)) void FN(meet_row)(const T *in, int64_t stride,
                                                               FN(position) position, int64_t x0,
                                                               int64_t x1, T *value,
                                                               FN(position) * best) {
  if (stride == 1)
    FN(meet)(in, 1, position, x0, x1, value, best);
  else if (stride == 2)
    FN(meet)(in, 2, position, x0, x1, value, best);
  else
    FN(meet)(in, stride, position, x0, x1, value, best);
}

/* One row of outputs of sliding windows: every element of the window at a time, for all outputs
 * that have it. best: memory for a row. */
DPT__CLONES
static void FN(max_row)(const T *in, const struct dpt__slide *s, struct range t, struct range y,
                        const struct range *x, T *out, int64_t *idx, FN(position) * best) {
  int64_t first = (t.first * s->in[1] + y.first) * s->in[2], n = s->out[2];
  for (int64_t k = 0; k < n; k++) {
    best[k] = (FN(position))(first + x[k].first);
    out[k] = in[best[k]];
  }
  for (int64_t i = t.first; i < t.end; i += s->dilation[0])
    for (int64_t j = y.first; j < y.end; j += s->dilation[1])
      for (int64_t k = 0; k < s->kernel[2]; k++) {
        int64_t shift = k * s->dilation[2] - s->pad[2],
                position = (i * s->in[1] + j) * s->in[2] + shift;
        int64_t x0 = shift < 0 ? (-shift + s->stride[2] - 1) / s->stride[2] : 0;
        int64_t x1 = s->in[2] > shift ? (s->in[2] - 1 - shift) / s->stride[2] + 1 : 0;
        if (x0 < x1)
          FN(meet_row)(in, s->stride[2], (FN(position))position, x0, x1 < n ? x1 : n, out, best);
      }
  for (int64_t k = 0; k < n; k++) idx[k] = (int64_t)best[k] + 1;
}

static int FN(maxpool)(dpt__context *context, const struct dpt__maxpool_args *a) {
  const struct dpt__slide *s = &a->slide;
  int64_t small = dpt__volume(s->out), large = dpt__volume(s->in),
          n = s->out[0] + s->out[1] + s->out[2];
  struct range *ranges = pool_ranges_of(context, s, a->samples ? a->planes : 1);
  FN(position) *best = NULL; /* a row of outputs for each thread, if windows slide */
  if (!a->samples && !a->adaptive && large < INT32_MAX)
    best = dpt__scratch(context, (size_t)(s->out[2] * context->threads) * sizeof *best);
  if (context->measures) return 0;
  if (a->samples)
    FN(fractional)(a, ranges);
  else
    pool_lay(s, a->adaptive, 0, ranges);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t p = 0; p < a->planes; p++) {
    const struct range *t = ranges + (a->samples ? p * n : 0), *y = t + s->out[0];
    const struct range *x = y + s->out[1];
    const T *in = (const T *)a->in + p * large;
    T *out = (T *)a->out + p * small;
    int64_t *idx = a->idx + p * small;
    for (int64_t i = 0; i < s->out[0]; i++)
      for (int64_t j = 0; j < s->out[1]; j++, out += s->out[2], idx += s->out[2])
        if (best)
          FN(max_row)(in, s, t[i], y[j], x, out, idx, best + dpt__thread_number() * s->out[2]);
        else
          for (int64_t k = 0; k < s->out[2]; k++)
            FN(max_window)(in, s, t[i], y[j], x[k], out + k, idx + k);
  }
  return 0;
}

static int FN(unpool)(dpt__context *context, const struct dpt__unpool_args *a) {
  int64_t bad = INT64_MAX, read = a->scatters ? a->small : a->large;
  int64_t written = a->scatters ? a->large : a->small;
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *written)) schedule(static)   \
    reduction(min                                                                                  \
              : bad)
  for (int64_t p = 0; p < a->planes; p++) {
    const T *from = (const T *)a->from + p * read;
    const int64_t *idx = a->idx + p * a->small;
    T *to = (T *)a->to + p * written;
    if (a->scatters) memset(to, 0, (size_t)written * sizeof *to);
    for (int64_t i = 0; i < a->small; i++) {
      uint64_t position = (uint64_t)idx[i] - 1;
      int good = position < (uint64_t)a->large;
      if (!good && p * a->small + i < bad) bad = p * a->small + i;
      if (!a->scatters)
        to[i] = good ? from[position] : 0;
      else if (good)
        to[position] = a->adds ? to[position] + from[i] : from[i];
    }
  }
  return pool_check_found(a->idx, bad, a->planes * a->small, a->large);
}

/* The sum or the spread gradient of one window. */
static double FN(window_sum)(const T *in, const struct dpt__slide *s, struct range t,
                             struct range y, struct range x) {
  double sum = 0;
  for (int64_t i = t.first; i < t.end; i++)
    for (int64_t j = y.first; j < y.end; j++) {
      const T *row = in + (i * s->in[1] + j) * s->in[2];
      for (int64_t k = x.first; k < x.end; k++) sum += row[k];
    }
  return sum;
}

static void FN(window_add)(T *in, const struct dpt__slide *s, struct range t, struct range y,
                           struct range x, T value) {
  for (int64_t i = t.first; i < t.end; i++)
    for (int64_t j = y.first; j < y.end; j++) {
      T *row = in + (i * s->in[1] + j) * s->in[2];
      for (int64_t k = x.first; k < x.end; k++) row[k] += value;
    }
}

static int FN(avgpool)(dpt__context *context, const struct dpt__avgpool_args *a) {
  const struct dpt__slide *s = &a->slide;
  struct range *t = pool_ranges_of(context, s, 1);
  if (context->measures) return 0;
  pool_lay(s, a->adaptive, a->count_pad, t);
  const struct range *y = t + s->out[0], *x = y + s->out[1];
  int64_t small = dpt__volume(s->out), large = dpt__volume(s->in);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t p = 0; p < a->planes; p++) {
    T *in = (T *)a->in + p * large, *out = (T *)a->out + p * small;
    if (a->backward) memset(in, 0, (size_t)large * sizeof *in);
    for (int64_t i = 0; i < s->out[0]; i++)
      for (int64_t j = 0; j < s->out[1]; j++)
        for (int64_t k = 0; k < s->out[2]; k++, out++) {
          double count = (double)(t[i].count * y[j].count * x[k].count);
          if (a->backward)
            FN(window_add)(in, s, t[i], y[j], x[k], (T)(*out / count));
          else
            *out = (T)(FN(window_sum)(in, s, t[i], y[j], x[k]) / count);
        }
  }
  return 0;
}
