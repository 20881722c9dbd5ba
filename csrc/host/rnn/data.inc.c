/* data.inc.c: the steps of data.c. */

/* Computes gx = or += the sum over the gates of the input, for layers without input matrices. */
static void FN(skipped)(const dpt__rnn_pass *s, T *gx) {
  const dpt__rnn_plan *p = s->plan;
  for (int64_t i = 0; i < p->N; i++)
    for (int64_t j = 0; j < p->H; j++) {
      T sum = s->direction ? gx[i * p->H + j] : 0;
      for (int64_t g = j; g < p->gates; g += p->H) sum += ((const T *)s->gates)[i * p->row + g];
      gx[i * p->H + j] = sum;
    }
}

/* Converts one row of gates to gradients with respect to their sums, from dh (with respect to h, or
 * to the projection's input) and dc, which becomes the gradient with respect to the previous c; t:
 * tanh of c. */
DPT__CLONES
static void FN(lstm)(int64_t H, T *restrict g, const T *restrict dh, const T *restrict c_before,
                     const T *restrict t, T *restrict dc) {
  for (int64_t j = 0; j < H; j++) {
    T i = g[j], f = g[H + j], n = g[2 * H + j], o = g[3 * H + j];
    T d = dc[j] + dh[j] * o * (1 - t[j] * t[j]);
    g[j] = d * n * i * (1 - i);
    g[H + j] = c_before ? d * c_before[j] * f * (1 - f) : 0;
    g[2 * H + j] = d * i * (1 - n * n);
    g[3 * H + j] = dh[j] * t[j] * o * (1 - o);
    dc[j] = d * f;
  }
}

/* Converts gates as above; dh becomes the part of the previous h's gradient that needs no
 * product. */
DPT__CLONES
static void FN(gru)(int64_t H, T *restrict g, const T *restrict before, T *restrict dh) {
  for (int64_t j = 0; j < H; j++) {
    T n = g[j], r = g[H + j], z = g[2 * H + j], nh = g[3 * H + j];
    T dn = dh[j] * (1 - z) * (1 - n * n);
    g[j] = dn;
    g[H + j] = dn * nh * r * (1 - r);
    g[2 * H + j] = dh[j] * (before[j] - n) * z * (1 - z);
    g[3 * H + j] = dn * r;
    dh[j] *= z;
  }
}

DPT__CLONES
static void FN(plain)(int64_t H, int relu, T *restrict g, const T *restrict dh) {
  for (int64_t j = 0; j < H; j++) g[j] = relu ? (g[j] > 0 ? dh[j] : 0) : dh[j] * (1 - g[j] * g[j]);
}

DPT__CLONES
static void FN(add)(int64_t n, T *restrict r, const T *restrict a) {
  for (int64_t j = 0; j < n; j++) r[j] += a[j];
}

/* Sets the gradients of the states that end at this step: those that the user passed, or 0. */
static void FN(begin)(const T *given, T *way, int64_t columns, const int32_t *order,
                      dpt__rnn_span span) {
  size_t bytes = (size_t)columns * sizeof *way;
  for (int64_t i = span.stay; i < span.n; i++)
    if (given)
      memcpy(way + i * columns, given + order[i] * columns, bytes);
    else
      memset(way + i * columns, 0, bytes);
}

/* Copies the gradients of the states that begin at this step to the user's tensor. */
static void FN(finish)(T *to, const T *way, int64_t columns, const int32_t *order,
                       dpt__rnn_span span) {
  for (int64_t i = span.came; to && i < span.n; i++)
    memcpy(to + order[i] * columns, way + i * columns, (size_t)columns * sizeof *way);
}

/* Computes one row; dm: gradient with respect to h, or to the projection's input. */
static void FN(cell)(const dpt__rnn_pass *s, T *g, const T *before, const T *c_before, const T *c,
                     T *dm, T *dc, T *tanh) {
  int64_t H = s->plan->H;
  switch (s->cell) {
  case DPT_RNN_LSTM:
    s->tanh(H, tanh, c, NULL, NULL, 0, 0);
    FN(lstm)(H, g, dm, c_before, tanh, dc);
    break;
  case DPT_RNN_GRU:
    FN(gru)(H, g, before, dm);
    break;
  default:
    FN(plain)(H, s->cell == DPT_RNN_RELU, g, dm);
  }
}

static int FN(step)(const dpt__rnn_pass *s, int64_t t, int64_t first, dpt__rnn_span span) {
  const dpt__rnn_plan *p = s->plan;
  const int32_t *order = p->order + first;
  int64_t row = p->first[t] + first, H = p->H, O = p->O, lstm = s->cell == DPT_RNN_LSTM;
  int64_t past = span.came ? p->first[t - s->step] + first : 0;
  T *g = (T *)s->gates + row * p->row, *dh = (T *)s->dh + first * O;
  T *dc = (T *)s->dc + first * H, *dm = s->projection.b ? (T *)s->dm + first * H : dh;
  FN(begin)(s->hn, dh, O, order, span);
  if (lstm) FN(begin)(s->cn, dc, H, order, span);
  for (int64_t i = 0; i < span.n; i++) FN(add)(O, dh + i * O, (T *)s->out + (row + i) * p->columns);
  if (s->projection.b) {
    memcpy((T *)s->given + row * O, dh, (size_t)(span.n * O) * sizeof *dh);
    DPT__TRY(dpt__rnn_multiply(s, &s->projection, dm, H, dh, O, span.n, 0));
  }
  for (int64_t i = 0; i < span.n; i++) {
    const T *cells = s->cells, *c_before = NULL;
    if (lstm)
      c_before = i < span.came     ? cells + (past + i) * H
                 : s->cells_before ? (T *)s->cells_before + order[i] * H
                                   : NULL;
    FN(cell)
    (s, g + i * p->row, (T *)s->before + (row + i) * O, c_before,
     lstm ? cells + (row + i) * H : NULL, dm + i * H, dc + i * H, (T *)s->tanhs + first * H);
  }
  if (span.came || s->h0) /* otherwise it is not needed */
    DPT__TRY(dpt__rnn_multiply(s, &s->recurrent, dh, O, g + p->shift, p->row, span.n,
                               s->cell == DPT_RNN_GRU));
  FN(finish)(s->h0, dh, O, order, span);
  if (lstm) FN(finish)(s->c0, dc, H, order, span);
  return 0;
}

static int FN(run)(const dpt__rnn_pass *s, int64_t first, int64_t end) {
  const dpt__rnn_plan *p = s->plan;
  for (int64_t k = 0; k < p->steps; k++) {
    int64_t t = s->direction ? k : p->steps - 1 - k;
    dpt__rnn_span span = dpt__rnn_span_at(s, t, first, end);
    if (span.n) DPT__TRY(FN(step)(s, t, first, span));
  }
  return 0;
}
