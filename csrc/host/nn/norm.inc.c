/* norm.inc.c: rows of norm.c. */
#include "host/nn/sums.inc.c"

/* Returns parameters as T: in place, or converted in `room`; NULL if there are none. */
static const T *FN(norm_parameters)(const void *p, int type, int64_t n, T *room) {
  if (!p || dpt__dtype_size(type) == sizeof(T)) return p;
  dpt__rows_pick()->convert[DPT_F32][type](n, room, p, NULL, NULL, 0, 0);
  return room;
}

/* Computes out = (x - mean) * factor * weight + bias; x may be out. */
DPT__CLONES static void FN(norm_row)(const struct norm_shape *a, const T *x, T *out,
                                     const T *weight, const T *bias, double eps, T *save) {
  double mean = 0, squares, s[FN(SPREAD)] = {0};
  if (a->rms) {
    FN(add)(x, NULL, a->D, 0, NULL, s);
    squares = FN(spread_total)(s);
  } else {
    FN(piece_moments)(x, a->D, &mean, &squares);
  }
  const T m = (T)mean, f = (T)(1 / sqrt(squares / (double)a->D + eps));
  save[0] = m, save[1] = f;
  if (a->S == 1) {
    for (int64_t k = 0; k < a->K; k++)
      out[k] = (x[k] - m) * f * (weight ? weight[k] : 1) + (bias ? bias[k] : 0);
    return;
  }
  for (int64_t k = 0; k < a->K; k++, x += a->S, out += a->S) {
    const T by = weight ? f * weight[k] : f, b = bias ? bias[k] : 0;
    for (int64_t i = 0; i < a->S; i++) out[i] = (x[i] - m) * by + b;
  }
}

static int FN(norm)(dpt__context *context, const struct dpt__norm_args *a) {
  const struct norm_shape size = norm_shape_of(a->type, a->rms, a->rows, a->groups, a->K, a->S);
  int threads = dpt__threads(context, a->rows * size.D);
  int64_t parameters = a->groups * a->K, row = size.stored.widen ? size.D : 0;
  T *room = dpt__scratch(context, (size_t)(2 * parameters + threads * row) * sizeof *room);
  if (context->measures) return 0;
  const T *weight = FN(norm_parameters)(a->weight, a->param_type, parameters, room);
  const T *bias = FN(norm_parameters)(a->bias, a->param_type, parameters, room + parameters);
  T *rooms = room + 2 * parameters;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < a->rows; r++) {
    int64_t first = r % a->groups * a->K;
    T *own = rooms + dpt__thread_number() * row;
    const T *x = dpt__stored_read(&size.stored, a->in, r * size.D, size.D, own);
    T *out = dpt__stored_place(&size.stored, a->out, r * size.D, own);
    FN(norm_row)
    (&size, x, out, weight ? weight + first : NULL, bias ? bias + first : NULL, a->eps,
     (T *)a->save + 2 * r);
    dpt__stored_write(&size.stored, a->out, r * size.D, size.D, out);
  }
  return 0;
}

/* Sums over a row of S > 1: adds those of plane k, of g and of the normalized x * g, to sums[2 * k]
 * and sums[2 * k + 1], and their totals over planes, times weights, to *h and *d. */
static DPT__INLINE void FN(norm_planes)(const struct norm_shape *a, const T *x, const T *g,
                                        const T *weight, const T *save, double *sums, double *h,
                                        double *d) {
  for (int64_t k = 0; k < a->K; k++, x += a->S, g += a->S) {
    double s[FN(SPREAD)] = {0}, q[FN(SPREAD)] = {0};
    FN(add)(x, g, a->S, save[0], s, q);
    double sum = FN(spread_total)(s), dot = FN(spread_total)(q) * save[1];
    if (sums) sums[2 * k] += sum, sums[2 * k + 1] += dot;
    *h += weight ? sum * weight[k] : sum;
    *d += weight ? dot * weight[k] : dot;
  }
}

/* Computes gin = (h - mean(h) - n * mean(n * h)) * factor, with h = g * weight and the normalized
 * n; without mean(h) if rms. gin may be g. If S > 1, updates sums as norm_planes does. */
DPT__CLONES static void FN(norm_row_backward)(const struct norm_shape *a, const T *x, const T *g,
                                              const T *weight, const T *save, T *gin, T *products,
                                              double *sums) {
  const T m = save[0], f = save[1];
  double h = 0, d = 0, s[FN(SPREAD)] = {0}, q[FN(SPREAD)] = {0};
  if (a->S > 1) {
    FN(norm_planes)(a, x, g, weight, save, sums, &h, &d);
  } else if (gin) {
    if (weight)
      for (int64_t k = 0; k < a->K; k++) products[k] = g[k] * weight[k];
    FN(add)(x, weight ? products : g, a->K, m, s, q);
    h = FN(spread_total)(s), d = FN(spread_total)(q) * f;
  }
  if (!gin) return;
  const T b = a->rms ? 0 : (T)(h / (double)a->D), by = (T)(d / (double)a->D * f);
  if (a->S == 1) {
    const T *from = weight ? products : g;
    for (int64_t k = 0; k < a->K; k++) gin[k] = (from[k] - b - (x[k] - m) * by) * f;
    return;
  }
  for (int64_t k = 0; k < a->K; k++, x += a->S, g += a->S, gin += a->S) {
    const T w = weight ? weight[k] : 1;
    for (int64_t i = 0; i < a->S; i++) gin[i] = (g[i] * w - b - (x[i] - m) * by) * f;
  }
}

/* Adds the sums of g, and of the normalized x * g, over n rows of S == 1, to sums; x[i], g[i] and
 * save[i]: of row i. */
DPT__CLONES static void FN(norm_columns)(const struct norm_shape *a, const T *const *x,
                                         const T *const *g, const T *const *save, int64_t n,
                                         double *sums) {
  for (int64_t first = 0; first < a->K; first += FN(SPREAD)) {
    double s[FN(SPREAD)] = {0}, d[FN(SPREAD)] = {0};
    int64_t some = a->K - first < FN(SPREAD) ? a->K - first : FN(SPREAD);
    for (int64_t i = 0; i < n; i++) {
      const T *xs = x[i] + first, *gs = g[i] + first;
      const double m = save[i][0], f = save[i][1];
      if (some == FN(SPREAD))
        for (int j = 0; j < FN(SPREAD); j++) s[j] += gs[j], d[j] += (xs[j] - m) * f * gs[j];
      else
        for (int64_t j = 0; j < some; j++) s[j] += gs[j], d[j] += (xs[j] - m) * f * gs[j];
    }
    for (int64_t j = 0; j < some; j++)
      sums[2 * (first + j)] += s[j], sums[2 * (first + j) + 1] += d[j];
  }
}

/* Computes the rows of a chunk of a group; sums: of the chunk, or NULL; room: of the thread. */
static void FN(norm_chunk)(const struct dpt__norm_backward_args *a, const struct norm_shape *size,
                           int64_t chunk, int64_t group, const T *weight, double *sums, T *room) {
  int64_t from = chunk * size->chunk, end = from + size->chunk, all = a->rows / a->groups;
  const dpt__stored *as = &size->stored;
  int64_t row = as->widen ? size->D : 0;
  T *products = room, *rooms = room + size->D;
  const T *x[TOGETHER], *g[TOGETHER], *save[TOGETHER];
  if (end > all) end = all;
  for (int64_t i = 0; sums && i < 2 * a->K; i++) sums[i] = 0;
  for (int64_t first = from; first < end; first += size->together) {
    int64_t n = end - first < size->together ? end - first : size->together;
    for (int64_t i = 0; i < n; i++) {
      int64_t r = (first + i) * a->groups + group;
      x[i] = dpt__stored_read(as, a->in, r * size->D, size->D, rooms + 2 * i * row);
      g[i] = dpt__stored_read(as, a->gout, r * size->D, size->D, rooms + (2 * i + 1) * row);
      save[i] = (const T *)a->save + 2 * r;
    }
    if (sums && a->S == 1) FN(norm_columns)(size, x, g, save, n, sums);
    for (int64_t i = 0; i < n; i++) {
      int64_t at = ((first + i) * a->groups + group) * size->D;
      T *gin = a->gin ? dpt__stored_place(as, a->gin, at, rooms + (2 * i + 1) * row) : NULL;
      FN(norm_row_backward)(size, x[i], g[i], weight, save[i], gin, products, sums);
      if (gin) dpt__stored_write(as, a->gin, at, size->D, gin);
    }
  }
}

static int FN(norm_backward)(dpt__context *context, const struct dpt__norm_backward_args *a) {
  const struct norm_shape size = norm_shape_of(a->type, a->rms, a->rows, a->groups, a->K, a->S);
  int threads = dpt__threads(context, a->rows * size.D), some = a->gweight || a->gbias;
  int64_t parameters = a->groups * a->K, tasks = size.chunks * a->groups;
  int64_t row = size.D + (size.stored.widen ? 2 * size.D * size.together : 0);
  size_t doubles = some ? (size_t)(2 * tasks * a->K) : 0;
  double *sums = dpt__scratch(context, doubles * sizeof *sums);
  T *room = dpt__scratch(context, (size_t)(parameters + threads * row) * sizeof *room);
  if (context->measures) return 0;
  const T *weight = FN(norm_parameters)(a->weight, a->param_type, parameters, room);
  T *rooms = room + parameters;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t task = 0; task < tasks; task++) {
    int64_t chunk = task / a->groups, group = task % a->groups;
    FN(norm_chunk)
    (a, &size, chunk, group, weight ? weight + group * a->K : NULL,
     some ? sums + 2 * task * a->K : NULL, rooms + dpt__thread_number() * row);
  }
  for (int64_t k = 0; some && k < parameters; k++) {
    double sum = 0, dot = 0;
    for (int64_t chunk = 0; chunk < size.chunks; chunk++) {
      const double *own = sums + 2 * (chunk * parameters + k);
      sum += own[0], dot += own[1];
    }
    FN(update)(a->gweight, a->param_type, k, 1, a->scale * dot);
    FN(update)(a->gbias, a->param_type, k, 1, a->scale * sum);
  }
  return 0;
}
