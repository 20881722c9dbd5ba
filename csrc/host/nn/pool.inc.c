/* pool.inc.c: rows of pool.c. A position is as wide as an element, so vectors of both are equal. */
typedef __typeof__(_Generic((T)0, float : (int32_t)0, double : (int64_t)0)) FN(position);

/* Computes fractional windows as Torch7 does, in the element type's arithmetic. */
static void FN(fractional)(const struct dpt__maxpool_args *a, struct range *r) {
  const struct dpt__slide *s = &a->slide;
  const T *samples = a->samples;
  for (int64_t p = 0; p < a->planes; p++)
    for (int d = 0; d < 3; d++) {
      int64_t n = s->out[d], slack = s->in[d] - s->kernel[d];
      T u = 2 - d < a->fractional ? samples[p * a->fractional + 2 - d] : 0;
      T step = n > 1 ? (T)slack / (T)(n - 1) : 0;
      for (int64_t o = 0; o < n; o++, r++) {
        int64_t first =
            o == n - 1 ? slack : dpt__long_number(trunc(((T)o + u) * step) - trunc(u * step));
        first = first < 0 ? 0 : first > slack ? slack : first;
        *r = (struct range){first, first + s->kernel[d], s->kernel[d]};
      }
    }
}

/* Finds the first largest element of one window; NaN is larger than all numbers. */
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

typedef T FN(V) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef FN(position) FN(M) __attribute__((vector_size(LANES * sizeof(T))));

/* Computes n <= LANES outputs of a row, from output k on, whose windows are `stride` elements
 * apart. Each step of the loops compares one element of every window. */
static DPT__INLINE void FN(max_lanes)(const T *in, const struct dpt__slide *s, int64_t stride,
                                      int64_t n, struct range t, struct range y,
                                      const struct range *x, int64_t k, T *out, int64_t *idx) {
  int64_t large = dpt__volume(s->in), first = (t.first * s->in[1] + y.first) * s->in[2];
  FN(V) value = {0}, v = {0};
  FN(M) best = {0}, ramp = {0}, take;
  for (int l = 0; l < LANES; l++) {
    value[l] = -INFINITY;
    best[l] = (FN(position))(first + x[l < n ? k + l : k].first);
    ramp[l] = (FN(position))(l * stride);
  }
  for (int64_t i = t.first; i < t.end; i += s->dilation[0])
    for (int64_t j = y.first; j < y.end; j += s->dilation[1])
      for (int64_t w = 0; w < s->kernel[2]; w++) {
        int64_t row = (i * s->in[1] + j) * s->in[2];
        int64_t from = k * s->stride[2] + w * s->dilation[2] - s->pad[2];
        const T *at = in + row + from;
        if (from < 0 || from + (n - 1) * stride >= s->in[2]) {
          for (int l = 0; l < LANES; l++) /* elements outside the row do not count */
            v[l] =
                from + l * stride >= 0 && from + l * stride < s->in[2] ? at[l * stride] : -INFINITY;
        } else if (stride == 1 && row + from + LANES <= large) {
          v = *(const FN(V) *)at;
        } else if (stride == 2 && row + from + 2 * LANES <= large) {
          v = __builtin_shufflevector(((const FN(V) *)at)[0], ((const FN(V) *)at)[1], 0, 2, 4, 6, 8,
                                      10, 12, 14);
        } else {
          for (int l = 0; l < n; l++) v[l] = at[l * stride];
        }
        take = (v > value) | ((v != v) & (value == value));
        value = (FN(V))(((FN(M))v & take) | ((FN(M))value & ~take));
        best = ((ramp + (FN(position))(row + from)) & take) | (best & ~take);
      }
  for (int l = 0; l < n; l++) {
    out[k + l] = value[l];
    idx[k + l] = (int64_t)best[l] + 1;
  }
}

/* Computes one row of outputs of sliding windows. Calls with constants compile to separate code. */
DPT__CLONES
static void FN(max_row)(const T *in, const struct dpt__slide *s, struct range t, struct range y,
                        const struct range *x, T *out, int64_t *idx) {
  int64_t k = 0, n = s->out[2], stride = s->stride[2];
  for (; k + LANES <= n; k += LANES)
    if (stride == 1)
      FN(max_lanes)(in, s, 1, LANES, t, y, x, k, out, idx);
    else if (stride == 2)
      FN(max_lanes)(in, s, 2, LANES, t, y, x, k, out, idx);
    else
      FN(max_lanes)(in, s, stride, LANES, t, y, x, k, out, idx);
  if (k < n && stride == 2)
    FN(max_lanes)(in, s, 2, n - k, t, y, x, k, out, idx);
  else
    for (; k < n; k++) FN(max_window)(in, s, t, y, x[k], out + k, idx + k);
}

static int FN(maxpool)(dpt__context *context, const struct dpt__maxpool_args *a) {
  const struct dpt__slide *s = &a->slide;
  int64_t small = dpt__volume(s->out), large = dpt__volume(s->in),
          n = s->out[0] + s->out[1] + s->out[2];
  struct range *ranges = pool_ranges_of(context, s, a->samples ? a->planes : 1);
  int slides = !a->samples && !a->adaptive && large < INT32_MAX;
  if (context->measures) return 0;
  if (a->samples)
    FN(fractional)(a, ranges);
  else
    pool_compute_windows(s, a->adaptive, 0, ranges);
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t p = 0; p < a->planes; p++) {
    const struct range *t = ranges + (a->samples ? p * n : 0), *y = t + s->out[0];
    const struct range *x = y + s->out[1];
    const T *in = (const T *)a->in + p * large;
    T *out = (T *)a->out + p * small;
    int64_t *idx = a->idx + p * small;
    for (int64_t i = 0; i < s->out[0]; i++)
      for (int64_t j = 0; j < s->out[1]; j++, out += s->out[2], idx += s->out[2])
        if (slides)
          FN(max_row)(in, s, t[i], y[j], x, out, idx);
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

/* Sums one window, or spreads its gradient. */
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

/* Sums a row of n windows `stride` apart, or adds their gradients, in order for each element. */
static DPT__INLINE void FN(avg_line)(T *row, int64_t stride, int64_t width, int64_t n, double *sum,
                                     const T *gradient) {
  for (int64_t w = 0; w < width && sum; w++)
    for (int64_t k = 0; k < n; k++) sum[k] += row[k * stride + w];
  for (int64_t w = width - 1; w >= 0 && !sum; w--)
    for (int64_t k = 0; k < n; k++) row[k * stride + w] += gradient[k];
}

/* Computes the means of n <= OUTPUTS adjacent windows that are entirely inside, or adds their
 * gradients to in. */
DPT__CLONES
static void FN(avg_windows)(const struct dpt__slide *s, int backward, struct range t,
                            struct range y, struct range x, int64_t n, T *in, T *out) {
  double sums[OUTPUTS], *sum = backward ? NULL : sums;
  double count = (double)(t.count * y.count * x.count);
  T gradient[OUTPUTS];
  for (int64_t k = 0; k < n; k++)
    if (backward)
      gradient[k] = (T)(out[k] / count);
    else
      sums[k] = 0;
  for (int64_t i = t.first; i < t.end; i++)
    for (int64_t j = y.first; j < y.end; j++) {
      T *row = in + (i * s->in[1] + j) * s->in[2] + x.first;
      if (s->stride[2] == 1)
        FN(avg_line)(row, 1, s->kernel[2], n, sum, gradient);
      else if (s->stride[2] == 2)
        FN(avg_line)(row, 2, s->kernel[2], n, sum, gradient);
      else
        FN(avg_line)(row, s->stride[2], s->kernel[2], n, sum, gradient);
    }
  for (int64_t k = 0; k < n && !backward; k++) out[k] = (T)(sums[k] / count);
}

static int FN(avgpool)(dpt__context *context, const struct dpt__avgpool_args *a) {
  const struct dpt__slide *s = &a->slide;
  struct range *t = pool_ranges_of(context, s, 1);
  if (context->measures) return 0;
  pool_compute_windows(s, a->adaptive, a->count_pad, t);
  const struct range *y = t + s->out[0], *x = y + s->out[1];
  int64_t small = dpt__volume(s->out), large = dpt__volume(s->in);
  int64_t first = 0, last; /* windows first .. last-1 of a row are whole; none if few */
  while (first < s->out[2] && (a->adaptive || x[first].end - x[first].first < s->kernel[2]))
    first++;
  for (last = first; last < s->out[2]; last++)
    if (x[last].end - x[last].first < s->kernel[2]) break;
  if (last - first < FEW) last = first;
#pragma omp parallel for num_threads(dpt__threads(context, a->planes *large)) schedule(static)
  for (int64_t p = 0; p < a->planes; p++) {
    T *in = (T *)a->in + p * large, *out = (T *)a->out + p * small;
    if (a->backward) memset(in, 0, (size_t)large * sizeof *in);
    for (int64_t i = 0; i < s->out[0]; i++)
      for (int64_t j = 0; j < s->out[1]; j++, out += s->out[2])
        for (int64_t k = 0, n; k < s->out[2]; k += n) {
          n = k < first || k >= last ? 1 : dpt__min(OUTPUTS, last - k);
          double count = (double)(t[i].count * y[j].count * x[k].count);
          if (k >= first && k < last)
            FN(avg_windows)(s, a->backward, t[i], y[j], x[k], n, in, out + k);
          else if (a->backward)
            FN(window_add)(in, s, t[i], y[j], x[k], (T)(out[k] / count));
          else
            out[k] = (T)(FN(window_sum)(in, s, t[i], y[j], x[k]) / count);
        }
  }
  return 0;
}
