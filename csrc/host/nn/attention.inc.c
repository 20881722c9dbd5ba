/* attention.inc.c: rows of attention.c. */
#include "host/nn/total.inc.c"

/* ---- rows of operands ---- */

/* Returns rows of an operand, *apart elements apart: in place, or converted in `room`. */
static T *FN(attention_rows)(const attention *t, const void *x, const struct dpt__heads *heads,
                             int64_t n, int64_t h, int64_t first, int64_t rows, int64_t width,
                             T *room, int64_t *apart) {
  int64_t at = attention_at(heads, n, h, first);
  *apart = t->stored.widen ? width : heads->row;
  if (!t->stored.widen) return (T *)x + at;
  for (int64_t i = 0; i < rows; i++)
    dpt__stored_read(&t->stored, x, at + i * heads->row, width, room + i * width);
  return room;
}

/* Returns zeroed rows for sums that attention_store writes to a result. */
static T *FN(attention_sums)(const attention *t, void *r, const struct dpt__heads *heads, int64_t n,
                             int64_t h, int64_t first, int64_t rows, int64_t width, T *room,
                             int64_t *apart) {
  *apart = t->stored.narrow ? width : heads->row;
  T *sums = t->stored.narrow ? room : (T *)r + attention_at(heads, n, h, first);
  for (int64_t i = 0; i < rows && width; i++)
    memset(sums + i * *apart, 0, (size_t)width * sizeof(T));
  return sums;
}
static void FN(attention_store)(const attention *t, void *r, const struct dpt__heads *heads,
                                int64_t n, int64_t h, int64_t first, int64_t rows, int64_t width,
                                const T *sums) {
  int64_t at = attention_at(heads, n, h, first);
  for (int64_t i = 0; i < rows && t->stored.narrow; i++)
    dpt__stored_write(&t->stored, r, at + i * heads->row, width, sums + i * width);
}

/* Applies the mask to `count` scores, `apart` elements apart in the mask, from element `at` on. */
static DPT__INLINE void FN(attention_apply)(const struct dpt__attention_args *a, int64_t at,
                                            int64_t apart, int64_t count, T *restrict scores) {
  const int64_t width = (int64_t)dpt__dtype_size(a->mask_type);
  const char *mask = (const char *)a->mask + at * width;
  if (a->mask_type == DPT_U8)
    for (int64_t j = 0; j < count; j++) scores[j] = mask[j * apart] ? scores[j] : -(T)INFINITY;
  else if (dpt__is_reduced(a->type))
    for (int64_t j = 0; j < count; j++)
      scores[j] += (T)dpt__get_element(a->type, mask + j * apart * width);
  else
    for (int64_t j = 0; j < count; j++) scores[j] += ((const T *)mask)[j * apart];
}
DPT__CLONES static void FN(attention_mask)(const struct dpt__attention_args *a, int64_t at,
                                           int64_t apart, int64_t count, T *restrict scores) {
  if (apart == 1)
    FN(attention_apply)(a, at, 1, count, scores);
  else
    FN(attention_apply)(a, at, apart, count, scores);
}

/* Computes dropout's factors of `count` weights of query l, from key `first` on. */
DPT__CLONES static void FN(attention_keep)(const attention *t, int64_t n, int64_t h, int64_t l,
                                           int64_t first, int64_t count, T *factors) {
  const struct dpt__attention_args *a = t->a;
  const dpt_draw *draw = &a->options.draw;
  uint64_t seed = dpt__draw_seed(draw), offset = dpt__draw_offset(draw), keep = t->keep;
  uint64_t at = (uint64_t)((((draw->first_row + n) * a->H + h) * a->L + l) * a->S + first);
  const T kept = (T)(1 / (1 - a->options.dropout));
  T block[KEYS + 8];
  int64_t skip = (int64_t)(at % 4), blocks = (skip + count + 3) / 4;
  for (int64_t b = 0; b < blocks; b++) {
    uint32_t words[4];
    dpt__philox_at(seed, offset, at / 4 + (uint64_t)b, words);
    for (int i = 0; i < 4; i++) block[4 * b + i] = words[i] < keep ? kept : 0;
  }
  memcpy(factors, block + skip, (size_t)count * sizeof(T));
}

/* ---- forward ---- */

/* Returns the maximum of a row of scores, -infinity if there are none; NaN are ignored. */
DPT__CLONES static T FN(attention_most)(const T *scores, int64_t n) {
  T most = -(T)INFINITY;
#pragma omp simd reduction(max : most)
  for (int64_t j = 0; j < n; j++) most = scores[j] > most ? scores[j] : most;
  return most;
}

DPT__CLONES static void FN(attention_subtract)(T *scores, int64_t n, T by) {
  for (int64_t j = 0; j < n; j++) scores[j] -= by;
}

DPT__CLONES static double FN(attention_sum)(const T *x, int64_t n) {
  T sums[LANES] = {0};
  int64_t j = 0;
  for (; j + LANES <= n; j += LANES)
    for (int i = 0; i < LANES; i++) sums[i] += x[j + i];
  for (int i = 0; j + i < n; i++) sums[i] += x[j + i];
  for (int half = LANES / 2; half; half /= 2)
    for (int i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
}

DPT__CLONES static void FN(attention_multiply)(T *x, const T *by, int64_t n, T factor) {
  if (by)
    for (int64_t j = 0; j < n; j++) x[j] *= by[j];
  else
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

static int FN(attention_any_nan)(const T *x, int64_t n) {
  int any = 0;
  for (int64_t j = 0; j < n; j++) any |= x[j] != x[j];
  return any;
}

/* A row of queries between blocks of keys. */
typedef struct FN(attention_state) {
  T max;
  double sum; /* of exp(score - max) */
} FN(attention_state);

/* Turns scores of n keys, from key `first` on, into weights exp(score - max), updates the state,
 * and scales the sums of values so far. Weights up to number `all` that take no part are 0. */
static void FN(attention_weights)(const attention *t, int64_t n, int64_t h, int64_t l,
                                  int64_t first, int64_t seen, int64_t all, T *scores,
                                  FN(attention_state) * state, T *sums) {
  const struct dpt__attention_args *a = t->a;
  FN(attention_multiply)(scores, NULL, seen, (T)a->options.scale);
  if (a->mask)
    FN(attention_mask)(a, attention_mask_at(a, n, h, l, first), a->mask_column, seen, scores);
  T max = FN(attention_most)(scores, seen);
  if (max < state->max) max = state->max;
  if (max == -(T)INFINITY && FN(attention_any_nan)(scores, seen)) max = 0;
  if (max == -(T)INFINITY) {
    memset(scores, 0, (size_t)all * sizeof(T));
    return;
  }
  FN(attention_subtract)(scores, seen, max);
  t->exp(seen, scores, scores, NULL, NULL, 0, 0);
  memset(scores + seen, 0, (size_t)(all - seen) * sizeof(T));
  if (state->max != max && state->max != -(T)INFINITY) {
    T factor = REAL(exp)(state->max - max);
    state->sum *= factor;
    FN(attention_multiply)(sums, NULL, a->V, factor);
  }
  state->max = max;
  state->sum += FN(attention_sum)(scores, seen);
  if (a->options.dropout > 0 && seen) {
    T factors[KEYS];
    FN(attention_keep)(t, n, h, l, first, seen, factors);
    FN(attention_multiply)(scores, factors, seen, 0);
  }
}

/* Offsets in a thread's memory. */
struct FN(attention_room) {
  int64_t scores, keys, values, queries, sums, size;
};

static struct FN(attention_room) FN(attention_room_of)(const attention *t) {
  const struct dpt__attention_args *a = t->a;
  struct FN(attention_room) r = {0};
  int64_t wide = t->stored.widen != NULL, rows = FEW * QUERIES;
  r.scores = attention_room(&r.size, QUERIES * KEYS);
  r.keys = attention_room(&r.size, dpt__panels_size(t->panels, a->E, KEYS));
  r.values = attention_room(&r.size, KEYS / CHUNK * dpt__panels_size(t->panels, CHUNK, a->V));
  r.queries = attention_room(&r.size, wide * QUERIES * a->E);
  r.sums = attention_room(&r.size, wide * rows * a->V);
  return r;
}

/* Packs w keys and values, from key `first` on. */
static void FN(attention_pack)(const attention *t, const struct FN(attention_room) * r, T *room,
                               int64_t n, int64_t g, int64_t first, int64_t w) {
  const struct dpt__attention_args *a = t->a;
  const int64_t chunk = dpt__panels_size(t->panels, CHUNK, a->V), width = t->stored.width;
  const char *k = (const char *)a->k + attention_at(&a->k_at, n, g, first) * width;
  t->given->pack(room + r->keys, k, a->E, w, 1, a->k_at.row);
  const char *v = (const char *)a->v + attention_at(&a->v_at, n, g, first) * width;
  for (int64_t c = 0; c < w; c += CHUNK)
    t->given->pack(room + r->values + c / CHUNK * chunk, v + c * a->v_at.row * width,
                   dpt__min(CHUNK, w - c), a->V, a->v_at.row, 1);
}

/* Adds the values of w keys, which are packed, to m rows of sums. */
static void FN(attention_block)(const attention *t, const struct FN(attention_room) * r, T *room,
                                int64_t n, int64_t h, int64_t l, int64_t m, int64_t first,
                                int64_t w, FN(attention_state) * states, T *sums,
                                int64_t sums_apart) {
  const struct dpt__attention_args *a = t->a;
  const int64_t chunk = dpt__panels_size(t->panels, CHUNK, a->V);
  const int64_t seen = attention_seen(a, l + m - 1, first, w);
  const int64_t all = dpt__min(w, dpt__ceil_div(seen, CHUNK) * CHUNK);
  T *scores = room + r->scores;
  int64_t apart;
  if (!seen) return;
  const T *q = FN(attention_rows)(t, a->q, &a->q_at, n, h, l, m, a->E, room + r->queries, &apart);
  t->panels->run(scores, KEYS, q, apart, room + r->keys, m, a->E, seen, 0);
  for (int64_t i = 0; i < m; i++) FN(attention_weights)
  (t, n, h, l + i, first, attention_seen(a, l + i, first, seen), all, scores + i * KEYS, &states[i],
   sums + i * sums_apart);
  for (int64_t c = 0; c < all; c += CHUNK)
    t->panels->run(sums, sums_apart, scores + c, KEYS, room + r->values + c / CHUNK * chunk, m,
                   dpt__min(CHUNK, w - c), a->V, 1);
}

/* Computes up to FEW blocks of queries of a head, from query l on. */
static void FN(attention_rows_forward)(const attention *t, const struct FN(attention_room) * r,
                                       T *room, int64_t n, int64_t h, int64_t l) {
  const struct dpt__attention_args *a = t->a;
  const int64_t rows = dpt__min(FEW * QUERIES, a->L - l), g = h / (a->H / a->G);
  const int64_t keys = attention_seen(a, l + rows - 1, 0, a->S);
  FN(attention_state) states[FEW * QUERIES];
  int64_t apart;
  T *sums = FN(attention_sums)(t, a->out, &a->out_at, n, h, l, rows, a->V, room + r->sums, &apart);
  T *save = (T *)a->save + 2 * ((n * a->H + h) * a->L + l);
  for (int64_t i = 0; i < rows; i++) states[i] = (FN(attention_state)){-(T)INFINITY, 0};
  for (int64_t first = 0; first < keys; first += KEYS) {
    int64_t w = dpt__min(KEYS, keys - first);
    FN(attention_pack)(t, r, room, n, g, first, w);
    for (int64_t i = 0; i < rows; i += QUERIES) FN(attention_block)
    (t, r, room, n, h, l + i, dpt__min(QUERIES, rows - i), first, w, states + i, sums + i * apart,
     apart);
  }
  for (int64_t i = 0; i < rows; i++) {
    save[2 * i] = states[i].max;
    save[2 * i + 1] = (T)log(states[i].sum);
    if (states[i].sum != 0)
      FN(attention_multiply)(sums + i * apart, NULL, a->V, (T)(1 / states[i].sum));
  }
  FN(attention_store)(t, a->out, &a->out_at, n, h, l, rows, a->V, sums);
}

static int FN(attention_forward)(dpt__context *context, const struct dpt__attention_args *a) {
  const attention t = attention_of(a);
  const struct FN(attention_room) r = FN(attention_room_of)(&t);
  const int64_t parts = dpt__ceil_div(a->L, FEW * QUERIES), tasks = a->N * a->H * parts;
  int threads = dpt__threads(context, tasks * dpt__min(a->L, QUERIES) * a->S * (a->E + a->V));
  threads = (int)dpt__min(threads, tasks);
  T *rooms = dpt__scratch(context, (size_t)(threads * r.size) * sizeof(T));
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t i = 0; i < tasks; i++) /* the longest rows of causal attention first */
    FN(attention_rows_forward)
  (&t, &r, rooms + dpt__thread_number() * r.size, i / parts / a->H, i / parts % a->H,
   (parts - 1 - i % parts) * FEW * QUERIES);
  return 0;
}

/* ---- backward ---- */

/* A task of backward: keys k0 to k1 of queries l0 to l1 of the heads of a group. */
typedef struct FN(attention_part) {
  int64_t n, g, k0, k1, l0, l1;
  int data, weights; /* gq; gk and gv */
} FN(attention_part);

/* Offsets in a thread's memory. The scores are transposed: a row for each key. */
struct FN(attention_back) {
  int64_t scores, products, keep, turned, keys, q[2], g[2], wide_keys, wide_values;
  int64_t wide_q, wide_g, wide_out, sums_q, sums_k, sums_v, size;
};

static struct FN(attention_back) FN(attention_back_of)(const attention *t) {
  const struct dpt__attention_args *a = t->a;
  struct FN(attention_back) r = {0};
  int64_t wide = t->stored.widen != NULL, blocks = dpt__ceil_div(a->S, BACK);
  r.scores = attention_room(&r.size, QUERIES * BACK);
  r.products = attention_room(&r.size, QUERIES * BACK);
  r.turned = attention_room(&r.size, QUERIES * BACK);
  r.keep = attention_room(&r.size, a->options.dropout > 0 ? QUERIES * BACK : 0);
  r.keys = attention_room(&r.size, blocks * dpt__panels_size(t->panels, BACK, a->E));
  r.q[0] = attention_room(&r.size, dpt__panels_size(t->panels, a->E, QUERIES));
  r.q[1] = attention_room(&r.size, dpt__panels_size(t->panels, QUERIES, a->E));
  r.g[0] = attention_room(&r.size, dpt__panels_size(t->panels, a->V, QUERIES));
  r.g[1] = attention_room(&r.size, dpt__panels_size(t->panels, QUERIES, a->V));
  r.wide_keys = attention_room(&r.size, wide * a->S * a->E);
  r.wide_values = attention_room(&r.size, wide * a->S * a->V);
  r.wide_q = attention_room(&r.size, wide * QUERIES * a->E);
  r.wide_g = attention_room(&r.size, wide * QUERIES * a->V);
  r.wide_out = attention_room(&r.size, wide * QUERIES * a->V);
  r.sums_q = attention_room(&r.size, wide * QUERIES * a->E);
  r.sums_k = attention_room(&r.size, wide * a->S * a->E);
  r.sums_v = attention_room(&r.size, wide * a->S * a->V);
  return r;
}

/* A block of queries of backward: rows of q, and of the gradient of the output; apart: of these
 * rows. */
typedef struct FN(attention_queries) {
  int64_t n, h, l, m;
  const T *q, *g;
  int64_t q_apart, g_apart;
  T max[QUERIES], log[QUERIES]; /* of a row's scores; of its sum */
  T dot[QUERIES];               /* sum of output * gradient */
} FN(attention_queries);

static void FN(attention_read)(const attention *t, const struct FN(attention_back) * r, T *room,
                               int64_t h, const FN(attention_part) * part,
                               FN(attention_queries) * b) {
  const struct dpt__attention_args *a = t->a;
  const T *save = (const T *)a->save + 2 * ((b->n * a->H + h) * a->L + b->l);
  int64_t apart;
  b->q = FN(attention_rows)(t, a->q, &a->q_at, b->n, h, b->l, b->m, a->E, room + r->wide_q,
                            &b->q_apart);
  b->g = FN(attention_rows)(t, a->gout, &a->gout_at, b->n, h, b->l, b->m, a->V, room + r->wide_g,
                            &b->g_apart);
  const T *out = FN(attention_rows)(t, a->out, &a->out_at, b->n, h, b->l, b->m, a->V,
                                    room + r->wide_out, &apart);
  for (int64_t i = 0; i < b->m; i++) {
    const int none = save[2 * i] == -(T)INFINITY;
    b->max[i] = none ? (T)INFINITY : save[2 * i];
    b->log[i] = none ? 0 : save[2 * i + 1];
    b->dot[i] = (T)FN(total)(out + i * apart, b->g + i * b->g_apart, a->V);
  }
  t->panels->pack(room + r->q[0], b->q, a->E, b->m, 1, b->q_apart);
  t->panels->pack(room + r->g[0], b->g, a->V, b->m, 1, b->g_apart);
  if (!part->weights) return;
  t->panels->pack(room + r->q[1], b->q, b->m, a->E, b->q_apart, 1);
  t->panels->pack(room + r->g[1], b->g, b->m, a->V, b->g_apart, 1);
}

/* Turns the scores of a key, one for each of m queries, into logarithms of weights. The maximum is
 * subtracted first: next to a large one, the logarithm of the sum would be rounded away. */
DPT__CLONES static void FN(attention_logs)(T *scores, const T *max, const T *log, int64_t m,
                                           T scale) {
  for (int64_t i = 0; i < m; i++) scores[i] = scores[i] * scale - max[i] - log[i];
}

/* Computes the gradients of n scores from the weights p and the gradients d of the weights, whose
 * factors of dropout are keep or NULL; p becomes the weights after dropout. */
DPT__CLONES static void FN(attention_gradients)(T *d, T *p, const T *keep, const T *dot, int64_t m,
                                                T scale) {
  if (keep)
    for (int64_t i = 0; i < m; i++) {
      d[i] = p[i] * (d[i] * keep[i] - dot[i]) * scale;
      p[i] *= keep[i];
    }
  else
    for (int64_t i = 0; i < m; i++) d[i] = p[i] * (d[i] - dot[i]) * scale;
}

/* Turns the scores (w, m) of w keys, from key `first` on, into the weights of a block of queries.
 */
static void FN(attention_again)(const attention *t, const FN(attention_queries) * b, int64_t first,
                                int64_t w, T *scores) {
  const struct dpt__attention_args *a = t->a;
  const T scale = (T)a->options.scale;
  for (int64_t j = 0; j < w; j++) {
    T *row = scores + j * b->m;
    int64_t key = first + j, blind = a->options.causal ? key - a->options.offset - b->l : 0;
    if (a->mask) {
      FN(attention_multiply)(row, NULL, b->m, scale);
      FN(attention_mask)
      (a, attention_mask_at(a, b->n, b->h, b->l, key), a->mask_at.row, b->m, row);
    }
    FN(attention_logs)(row, b->max, b->log, b->m, a->mask ? 1 : scale);
    for (int64_t i = 0; i < dpt__min(blind, b->m); i++) row[i] = -(T)INFINITY;
  }
  t->exp(w * b->m, scores, scores, NULL, NULL, 0, 0);
}

/* Sets keep (w, m) to dropout's factors; `turned` is overwritten. */
static void FN(attention_keep_turned)(const attention *t, const FN(attention_queries) * b,
                                      int64_t first, int64_t w, T *turned, T *keep) {
  for (int64_t i = 0; i < b->m; i++)
    FN(attention_keep)(t, b->n, b->h, b->l + i, first, w, turned + i * w);
  t->panels->turn(keep, b->m, turned, w, b->m, w, 1);
}

/* Rows of keys and values of a part, and the sums of their gradients. */
typedef struct FN(attention_keys) {
  const T *k, *v;
  T *gk, *gv;
  int64_t k_apart, v_apart, gk_apart, gv_apart;
} FN(attention_keys);

/* Adds what a block of queries and w keys, from key `first` on, add to the gradients. gq: rows of
 * sums, or NULL. */
static void FN(attention_block_backward)(const attention *t, const struct FN(attention_back) * r,
                                         T *room, const FN(attention_part) * part,
                                         const FN(attention_queries) * b,
                                         const FN(attention_keys) * keys, int64_t first, int64_t w,
                                         T *gq, int64_t gq_apart) {
  const struct dpt__attention_args *a = t->a;
  const dpt__panels *panels = t->panels;
  const int64_t m = b->m, at = first - part->k0, size = dpt__panels_size(panels, BACK, a->E);
  T *p = room + r->scores, *d = room + r->products, *turned = room + r->turned;
  T *keep = a->options.dropout > 0 ? room + r->keep : NULL;
  panels->run(p, m, keys->k + at * keys->k_apart, keys->k_apart, room + r->q[0], w, a->E, m, 0);
  FN(attention_again)(t, b, first, w, p);
  if (keep) FN(attention_keep_turned)(t, b, first, w, turned, keep);
  panels->run(d, m, keys->v + at * keys->v_apart, keys->v_apart, room + r->g[0], w, a->V, m, 0);
  for (int64_t j = 0; j < w; j++) FN(attention_gradients)
  (d + j * m, p + j * m, keep ? keep + j * m : NULL, b->dot, m, (T)a->options.scale);
  if (part->weights) {
    panels->run(keys->gv + at * keys->gv_apart, keys->gv_apart, p, m, room + r->g[1], w, m, a->V,
                1);
    panels->run(keys->gk + at * keys->gk_apart, keys->gk_apart, d, m, room + r->q[1], w, m, a->E,
                1);
  }
  if (!part->data) return;
  panels->turn(turned, w, d, m, w, m, 1);
  panels->run(gq, gq_apart, turned, w, room + r->keys + at / BACK * size, m, w, a->E, 1);
}

/* Computes a block of queries of head h, from query l on. */
static void FN(attention_queries_backward)(const attention *t, const struct FN(attention_back) * r,
                                           T *room, const FN(attention_part) * part,
                                           const FN(attention_keys) * keys, int64_t h, int64_t l) {
  const struct dpt__attention_args *a = t->a;
  FN(attention_queries) b = {.n = part->n, .h = h, .l = l, .m = dpt__min(QUERIES, part->l1 - l)};
  const int64_t end = dpt__min(part->k1, attention_seen(a, l + b.m - 1, 0, a->S));
  int64_t apart = 0;
  T *gq = part->data ? FN(attention_sums)(t, a->gq, &a->gq_at, b.n, h, l, b.m, a->E,
                                          room + r->sums_q, &apart)
                     : NULL;
  if (end > part->k0) FN(attention_read)(t, r, room, h, part, &b);
  for (int64_t first = part->k0; first < end; first += BACK) FN(attention_block_backward)
  (t, r, room, part, &b, keys, first, dpt__min(BACK, part->k1 - first), gq, apart);
  if (part->data) FN(attention_store)(t, a->gq, &a->gq_at, b.n, h, l, b.m, a->E, gq);
}

static void FN(attention_part_backward)(const attention *t, const struct FN(attention_back) * r,
                                        T *room, const FN(attention_part) * part) {
  const struct dpt__attention_args *a = t->a;
  const int64_t n = part->n, g = part->g, heads = a->H / a->G, rows = part->k1 - part->k0;
  const int64_t size = dpt__panels_size(t->panels, BACK, a->E);
  FN(attention_keys) keys = {0};
  keys.k = FN(attention_rows)(t, a->k, &a->k_at, n, g, part->k0, rows, a->E, room + r->wide_keys,
                              &keys.k_apart);
  keys.v = FN(attention_rows)(t, a->v, &a->v_at, n, g, part->k0, rows, a->V, room + r->wide_values,
                              &keys.v_apart);
  if (part->weights) {
    keys.gk = FN(attention_sums)(t, a->gk, &a->gk_at, n, g, part->k0, rows, a->E, room + r->sums_k,
                                 &keys.gk_apart);
    keys.gv = FN(attention_sums)(t, a->gv, &a->gv_at, n, g, part->k0, rows, a->V, room + r->sums_v,
                                 &keys.gv_apart);
  }
  for (int64_t i = 0; i < rows && part->data; i += BACK)
    t->panels->pack(room + r->keys + i / BACK * size, keys.k + i * keys.k_apart,
                    dpt__min(BACK, rows - i), a->E, keys.k_apart, 1);
  for (int64_t h = g * heads; h < (g + 1) * heads; h++)
    for (int64_t l = part->l0; l < part->l1; l += QUERIES)
      FN(attention_queries_backward)(t, r, room, part, &keys, h, l);
  if (!part->weights) return;
  FN(attention_store)(t, a->gk, &a->gk_at, n, g, part->k0, rows, a->E, keys.gk);
  FN(attention_store)(t, a->gv, &a->gv_at, n, g, part->k0, rows, a->V, keys.gv);
}

/* Returns part i of a group: all of it if it is the only one; otherwise the first `parts` are
 * ranges of keys, the others of queries. */
static FN(attention_part) FN(attention_part_of)(const struct dpt__attention_args *a, int64_t parts,
                                                int64_t group, int64_t i) {
  FN(attention_part) part = {group / a->G, group % a->G, 0, a->S, 0, a->L, 1, 1};
  if (parts == 1) return part;
  part.weights = i < parts;
  part.data = !part.weights;
  int64_t count = part.weights ? a->S : a->L, block = part.weights ? BACK : QUERIES;
  int64_t size = dpt__ceil_div(dpt__ceil_div(count, block), parts) * block;
  int64_t from = dpt__min(count, i % parts * size), to = dpt__min(count, from + size);
  if (part.weights)
    part.k0 = from, part.k1 = to;
  else
    part.l0 = from, part.l1 = to;
  return part;
}

/* One thread computes a head; if heads are fewer than threads, several do, and compute the scores
 * twice. */
static int FN(attention_backward)(dpt__context *context, const struct dpt__attention_args *a) {
  const attention t = attention_of(a);
  const struct FN(attention_back) r = FN(attention_back_of)(&t);
  const int64_t groups = a->N * a->G;
  int threads = dpt__threads(context, a->N * a->H * a->L * a->S * (a->E + a->V));
  const int64_t parts = dpt__ceil_div(threads, groups), each = parts == 1 ? 1 : 2 * parts;
  threads = (int)dpt__min(threads, groups * each);
  T *rooms = dpt__scratch(context, (size_t)(threads * r.size) * sizeof(T));
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t i = 0; i < groups * each; i++) {
    FN(attention_part) part = FN(attention_part_of)(a, parts, i / each, i % each);
    FN(attention_part_backward)(&t, &r, rooms + dpt__thread_number() * r.size, &part);
  }
  return 0;
}

static int FN(attention)(dpt__context *context, const struct dpt__attention_args *a) {
  return (a->backward ? FN(attention_backward) : FN(attention_forward))(context, a);
}
