/* forward.inc.c: the steps of forward.c. */

/* Computes the sum of the two biases in the layout of a row of gates. The two biases of a GRU's n
 * stay separate, the input's at the front. */
static void FN(bias)(const dpt__rnn_plan *p, T *bias, const T *in, const T *rec) {
  for (int64_t j = 0; j < p->row; j++) bias[j] = 0;
  for (int64_t j = 0; j < p->gates; j++) {
    if (in) bias[(j + p->shift) % p->gates] += in[j];
    if (rec) bias[j + p->shift] += rec[j];
  }
}

DPT__CLONES
static void FN(add)(int64_t n, T *restrict r, const T *restrict a) {
  for (int64_t j = 0; j < n; j++) r[j] += a[j];
}

DPT__CLONES
static void FN(lstm_cell)(int64_t H, const T *restrict g, const T *restrict before, T *restrict c) {
  for (int64_t j = 0; j < H; j++) c[j] = g[H + j] * (before ? before[j] : 0) + g[j] * g[2 * H + j];
}

DPT__CLONES
static void FN(multiply)(int64_t n, T *restrict r, const T *restrict a) {
  for (int64_t j = 0; j < n; j++) r[j] *= a[j];
}

/* Layout of g: n of the input, r, z, n of h. */
DPT__CLONES
static void FN(gru_new)(int64_t H, T *restrict g) {
  for (int64_t j = 0; j < H; j++) g[j] += g[H + j] * g[3 * H + j];
}
DPT__CLONES
static void FN(gru_out)(int64_t H, const T *restrict g, const T *restrict before, T *restrict h) {
  for (int64_t j = 0; j < H; j++) h[j] = g[j] + g[2 * H + j] * (before[j] - g[j]);
}

/* Computes the gates of one row from their sums, then h (or the projection's input) from the gates.
 * c: where the cell state is stored. */
static void FN(cell)(const dpt__rnn_pass *s, T *g, const T *before, const T *c_before, T *c, T *h) {
  int64_t H = s->plan->H;
  FN(add)(s->plan->row, g, s->bias);
  switch (s->cell) {
  case DPT_RNN_LSTM:
    s->sigmoid(2 * H, g, g, NULL, NULL, 0, 0);
    s->tanh(H, g + 2 * H, g + 2 * H, NULL, NULL, 0, 0);
    s->sigmoid(H, g + 3 * H, g + 3 * H, NULL, NULL, 0, 0);
    FN(lstm_cell)(H, g, c_before, c);
    s->tanh(H, h, c, NULL, NULL, 0, 0);
    FN(multiply)(H, h, g + 3 * H);
    break;
  case DPT_RNN_GRU:
    s->sigmoid(2 * H, g + H, g + H, NULL, NULL, 0, 0);
    FN(gru_new)(H, g);
    s->tanh(H, g, g, NULL, NULL, 0, 0);
    FN(gru_out)(H, g, before, h);
    break;
  case DPT_RNN_TANH:
    s->tanh(H, g, g, NULL, NULL, 0, 0);
    memcpy(h, g, (size_t)H * sizeof *h);
    break;
  default:
    for (int64_t j = 0; j < H; j++) h[j] = g[j] = g[j] > 0 ? g[j] : 0;
  }
}

/* Completes h before step t: sequences that continue have it from the step before; sequences that
 * begin here copy h0. */
static void FN(begin)(const dpt__rnn_pass *s, T *before, int64_t first, dpt__rnn_span span) {
  const dpt__rnn_plan *p = s->plan;
  size_t bytes = (size_t)p->O * sizeof *before;
  for (int64_t i = span.came; i < span.n; i++)
    if (s->h0)
      memcpy(before + i * p->O, (const T *)s->h0 + p->order[first + i] * p->O, bytes);
    else
      memset(before + i * p->O, 0, bytes);
}

/* Copies h (a row of out) to the next step or, at the sequence's end, to hn; at the end also copies
 * c to cn. */
static void FN(hand_on)(const dpt__rnn_pass *s, const T *h, int64_t t, int64_t i, int stays) {
  const dpt__rnn_plan *p = s->plan;
  T *to = stays   ? (T *)s->before + (p->first[t + s->step] + i) * p->O
          : s->hn ? (T *)s->hn + p->order[i] * p->O
                  : NULL;
  if (to) memcpy(to, h, (size_t)p->O * sizeof *h);
  if (!stays && s->cn)
    memcpy((T *)s->cn + p->order[i] * p->H, (const T *)s->cells + (p->first[t] + i) * p->H,
           (size_t)p->H * sizeof *h);
}

static int FN(step)(const dpt__rnn_pass *s, int64_t t, int64_t first, dpt__rnn_span span) {
  const dpt__rnn_plan *p = s->plan;
  int64_t row = p->first[t] + first;
  T *g = (T *)s->gates + row * p->row, *before = (T *)s->before + row * p->O;
  T *c = s->cells ? (T *)s->cells + row * p->H : NULL, *out = (T *)s->out + row * p->columns;
  T *whole = s->whole ? (T *)s->whole + row * p->H : NULL;
  int64_t past = span.came ? p->first[t - s->step] + first : 0;
  FN(begin)(s, before, first, span);
  if (p->shift)
    for (int64_t i = 0; i < span.n; i++)
      memset(g + i * p->row + p->gates, 0, (size_t)(p->row - p->gates) * sizeof *g);
  DPT__TRY(dpt__rnn_multiply(s, &s->recurrent, g + p->shift, p->row, before, p->O, span.n, 1));
  for (int64_t i = 0; i < span.n; i++) {
    const T *c_before = i < span.came ? (T *)s->cells + (past + i) * p->H
                        : s->c0       ? (T *)s->c0 + p->order[first + i] * p->H
                                      : NULL;
    FN(cell)
    (s, g + i * p->row, before + i * p->O, s->cells ? c_before : NULL, c ? c + i * p->H : NULL,
     whole ? whole + i * p->H : out + i * p->columns);
  }
  if (whole)
    DPT__TRY(dpt__rnn_multiply(s, &s->projection, out, p->columns, whole, p->H, span.n, 0));
  for (int64_t i = 0; i < span.n; i++)
    FN(hand_on)(s, out + i * p->columns, t, first + i, i < span.stay);
  return 0;
}

static int FN(run)(const dpt__rnn_pass *s, int64_t first, int64_t end) {
  const dpt__rnn_plan *p = s->plan;
  for (int64_t k = 0; k < p->steps; k++) {
    int64_t t = s->direction ? p->steps - 1 - k : k;
    dpt__rnn_span span = dpt__rnn_span_at(s, t, first, end);
    if (span.n) DPT__TRY(FN(step)(s, t, first, span));
  }
  return 0;
}
