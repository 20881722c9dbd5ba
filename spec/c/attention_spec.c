/* attention_spec.c: compares scaled dot-product attention with plain loops, whose gradients are
 * checked by finite differences.
 */
#include "base/philox.h"
#include "layer.h"

enum { NO_MASK, BYTES, NUMBERS, MASKS };

struct heads {
  int64_t N, H, G, L, S, E, V;
  int mask_kind;
  array q, k, v, mask; /* mask: (N or 1, H or 1, L or 1, S or 1) */
  dpt_attention options;
};

/* Returns the number that a score's mask adds, -infinity if the key takes no part. */
static double masked(const struct heads *a, int64_t n, int64_t h, int64_t l, int64_t s) {
  if (a->options.causal && s > l + a->options.offset) return -INFINITY;
  if (a->mask_kind == NO_MASK) return 0;
  const int64_t at[] = {n, h, l, s};
  int64_t i = 0;
  for (int d = 0; d < 4; d++) i = i * a->mask.size[d] + (a->mask.size[d] == 1 ? 0 : at[d]);
  double m = a->mask.v[i];
  return a->mask_kind == NUMBERS ? m : m != 0 ? 0 : -INFINITY;
}

/* Returns dropout's factor of a weight. */
static double kept(const struct heads *a, int64_t n, int64_t h, int64_t l, int64_t s) {
  const dpt_draw *draw = &a->options.draw;
  uint64_t at = (uint64_t)((((draw->first_row + n) * a->H + h) * a->L + l) * a->S + s);
  uint32_t words[4];
  if (a->options.dropout == 0) return 1;
  dpt__philox_at(draw->seed, draw->offset, at / 4, words);
  return words[at % 4] < (1 - a->options.dropout) * 4294967296.0 ? 1 / (1 - a->options.dropout) : 0;
}

/* Returns the first element of a row. */
static double *row(array x, int64_t n, int64_t h, int64_t r) {
  return x.v + ((n * x.size[1] + h) * x.size[2] + r) * x.size[3];
}

/* Writes the weights of a query before dropout; save receives the maximum of its scores and the
 * logarithm of their sum, unless it is NULL. */
static void weigh(const struct heads *a, int64_t n, int64_t h, int64_t l, double *weights,
                  double *save) {
  double max = -INFINITY, sum = 0;
  for (int64_t s = 0; s < a->S; s++) {
    const double *q = row(a->q, n, h, l), *k = row(a->k, n, h / (a->H / a->G), s);
    weights[s] = 0;
    for (int64_t e = 0; e < a->E; e++) weights[s] += q[e] * k[e] * a->options.scale;
    weights[s] += masked(a, n, h, l, s);
    max = fmax(max, weights[s]);
  }
  for (int64_t s = 0; s < a->S; s++)
    sum += weights[s] = max == -INFINITY ? 0 : exp(weights[s] - max);
  for (int64_t s = 0; s < a->S && sum > 0; s++) weights[s] /= sum;
  if (save) save[0] = max, save[1] = log(sum);
}

/* Computes out from v, and save unless it is NULL. */
static array attend(const struct heads *a, array v, double *save) {
  array out = ARRAY(a->N, a->H, a->L, a->V), weights = ARRAY(a->S);
  for (int64_t i = 0; i < a->N * a->H * a->L; i++) {
    int64_t n = i / a->L / a->H, h = i / a->L % a->H, l = i % a->L;
    weigh(a, n, h, l, weights.v, save ? save + 2 * i : NULL);
    for (int64_t s = 0; s < a->S; s++)
      for (int64_t e = 0; e < a->V; e++)
        row(out, n, h, l)[e] +=
            weights.v[s] * kept(a, n, h, l, s) * row(v, n, h / (a->H / a->G), s)[e];
  }
  free(weights.v);
  return out;
}
static array of_query(array q, const void *context) {
  struct heads a = *(const struct heads *)context;
  a.q = q;
  return attend(&a, a.v, NULL);
}
static array of_key(array k, const void *context) {
  struct heads a = *(const struct heads *)context;
  a.k = k;
  return attend(&a, a.v, NULL);
}

static void gradients(const struct heads *a, array g, array gq, array gk, array gv) {
  array weights = ARRAY(a->S), d = ARRAY(a->S);
  for (int64_t i = 0; i < a->N * a->H * a->L; i++) {
    int64_t n = i / a->L / a->H, h = i / a->L % a->H, l = i % a->L, group = h / (a->H / a->G);
    const double *go = row(g, n, h, l);
    double dot = 0;
    weigh(a, n, h, l, weights.v, NULL);
    for (int64_t s = 0; s < a->S; s++) {
      double keep = kept(a, n, h, l, s);
      d.v[s] = 0;
      for (int64_t e = 0; e < a->V; e++) {
        d.v[s] += go[e] * row(a->v, n, group, s)[e] * keep;
        row(gv, n, group, s)[e] += weights.v[s] * keep * go[e];
      }
      dot += d.v[s] * weights.v[s];
    }
    for (int64_t s = 0; s < a->S; s++)
      for (int64_t e = 0; e < a->E; e++) {
        double gs = weights.v[s] * (d.v[s] - dot) * a->options.scale;
        row(gq, n, h, l)[e] += gs * row(a->k, n, group, s)[e];
        row(gk, n, group, s)[e] += gs * row(a->q, n, h, l)[e];
      }
  }
  free(weights.v), free(d.v);
}

/* Returns a view (N, H, L, E) of a tensor of size (N, L, H, E) with the values of x. */
static dpt_tensor turned(array x, int kind) {
  array y = ARRAY(x.size[0], x.size[2], x.size[1], x.size[3]);
  for (int64_t i = 0; i < x.n / (x.size[3] ? x.size[3] : 1); i++) {
    int64_t n = i / x.size[2] / x.size[1], h = i / x.size[2] % x.size[1], l = i % x.size[2];
    memcpy(row(y, n, l, h), row(x, n, h, l), (size_t)x.size[3] * sizeof *x.v);
  }
  dpt_tensor t = tensor_of(y, kind, 0), view = {.kind_ = kind};
  OK(dpt_transpose(&view, &t, 1, 2));
  dpt_tensor_free(&t);
  free(y.v);
  return view;
}

/* layout: 0 contiguous, 1 rows of other heads between rows, 2 columns that are not adjacent */
static dpt_tensor laid(array x, int kind, int layout) {
  return layout == 1 ? turned(x, kind) : tensor_of(x, kind, layout == 2);
}

static void compare(int kind, int mask_kind, int layout, int64_t longest) {
  struct heads a = {.N = whole(1, 2),
                    .G = whole(1, 2),
                    .L = whole(1, longest),
                    .S = whole(1, longest),
                    .E = whole(1, 20),
                    .V = whole(1, 20)};
  a.H = a.G * whole(1, 2);
  a.mask_kind = mask_kind;
  a.options = (dpt_attention){.causal = (int)whole(0, 1),
                              .offset = whole(-3, 3),
                              .scale = 0.25,
                              .dropout = whole(0, 1) * 0.25,
                              .draw = {.seed = 7, .offset = 5, .first_row = whole(0, 3)}};
  a.q = array_fill(ARRAY(a.N, a.H, a.L, a.E), -1, 1);
  a.k = array_fill(ARRAY(a.N, a.G, a.S, a.E), -1, 1);
  a.v = array_fill(ARRAY(a.N, a.G, a.S, a.V), -1, 1);
  a.mask = ARRAY(whole(0, 1) ? a.N : 1, whole(0, 1) ? a.H : 1, whole(0, 1) ? a.L : 1,
                 whole(0, 1) ? a.S : 1);
  for (int64_t i = 0; i < a.mask.n; i++)
    a.mask.v[i] = mask_kind == BYTES ? whole(0, 3) > 0 : whole(0, 4) ? 0.5 : -INFINITY;
  array save = ARRAY(a.N, a.H, a.L, 2), out = attend(&a, a.v, save.v);
  array g = array_fill(array_like(out), -1, 1);
  array gq = array_like(a.q), gk = array_like(a.k), gv = array_like(a.v);
  gradients(&a, g, gq, gk, gv);
  int64_t at = whole(0, a.q.n - 1), k_at = whole(0, a.k.n - 1);
  CHECK(fabs(numeric(of_query, a.q, g, at, &a) - gq.v[at]) < 1e-6);
  CHECK(fabs(numeric(of_key, a.k, g, k_at, &a) - gk.v[k_at]) < 1e-6);
  dpt_tensor q = laid(a.q, kind, layout), k = laid(a.k, kind, layout), v = laid(a.v, kind, layout);
  dpt_tensor go = laid(g, kind, layout), y = empty(kind), ls = empty(kind);
  dpt_tensor mask =
      tensor_of(a.mask, mask_kind == BYTES ? DPT_U8 | (kind & DPT_ON_DEVICE) : kind, layout == 2);
  const dpt_tensor *m = mask_kind == NO_MASK ? NULL : &mask;
  ls.kind_ = dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE);
  /* gradients that have a layout, too: rows of other heads between rows */
  array fq = array_fill(array_like(a.q), 5, 6), fv = array_fill(array_like(a.v), 5, 6);
  dpt_tensor tq = laid(fq, kind, layout), tk = empty(kind), tv = laid(fv, kind, layout);
  OK(dpt_attention_forward(&y, &ls, &q, &k, &v, m, &a.options));
  OK(dpt_attention_backward(&tq, &tk, &tv, &q, &k, &v, m, &y, &go, &ls, &a.options));
  same(&y, out, 1e-12, "attention out");
  same(&tq, gq, 1e-12, "attention gq");
  same(&tk, gk, 1e-12, "attention gk");
  same(&tv, gv, 1e-12, "attention gv");
  array sums = array_of(&ls);
  for (int64_t i = 0; i < save.n; i++)
    CHECK(sums.v[i] == save.v[i] || fabs(sums.v[i] - save.v[i]) < (kind == F64 ? 1e-12 : 2e-2));
  dpt_tensor *tensors[] = {&q, &k, &v, &go, &mask};
  for (int i = 0; i < 5; i++) dpt_tensor_free(tensors[i]);
  double *own[] = {a.q.v, a.k.v, a.v.v, a.mask.v, save.v, out.v, g.v,
                   gq.v,  gk.v,  gv.v,  sums.v,   fq.v,   fv.v};
  for (int i = 0; i < 13; i++) free(own[i]);
}

/* Gradients may be interleaved views of one tensor, as for projections that are one product. */
static void interleaved(int kind) {
  const int64_t N = 2, L = 3, H = 2, E = 4;
  array q = array_fill(ARRAY(N, H, L, E), -1, 1), zero = ARRAY(N, L, 3, H, E);
  dpt_tensor x = tensor_of(q, kind, 0), y = empty(kind), save = empty(kind);
  save.kind_ = dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE);
  dpt_tensor all = tensor_of(zero, kind, 0), part[3], own[3];
  dpt_attention options = {.scale = 0.5};
  for (int i = 0; i < 3; i++) {
    part[i] = own[i] = empty(kind);
    dpt_tensor rows = empty(kind);
    OK(dpt_select(&rows, &all, 2, i));
    OK(dpt_transpose(&part[i], &rows, 1, 2));
    dpt_tensor_free(&rows);
  }
  OK(dpt_attention_forward(&y, &save, &x, &x, &x, NULL, &options));
  OK(dpt_attention_backward(&own[0], &own[1], &own[2], &x, &x, &x, NULL, &y, &x, &save, &options));
  OK(dpt_attention_backward(&part[0], &part[1], &part[2], &x, &x, &x, NULL, &y, &x, &save,
                            &options));
  for (int i = 0; i < 3; i++) {
    array wanted = array_of(&own[i]);
    same(&part[i], wanted, 1e-12, "interleaved gradients");
    free(wanted.v);
  }
  dpt_tensor *tensors[] = {&x, &y, &save, &all};
  for (int i = 0; i < 4; i++) dpt_tensor_free(tensors[i]);
  free(q.v), free(zero.v);
}

/* Without queries, keys, heads or columns there is nothing to add up. */
static void nothing(int kind) {
  for (int which = 0; which < 6; which++) {
    int64_t size[] = {2, 2, 3, 4, 2, 2}; /* N, H, L, S, E, V */
    size[which] = 0;
    int64_t N = size[0], H = size[1], L = size[2], S = size[3], E = size[4], V = size[5];
    array q = ARRAY(N, H, L, E), k = ARRAY(N, H, S, E), v = ARRAY(N, H, S, V);
    array g = array_fill(ARRAY(N, H, L, V), 1, 2), gv = array_like(v), out = array_like(g);
    array_fill(v, 1, 1);
    for (int64_t i = 0; i < out.n && S; i++) out.v[i] = 1;
    for (int64_t i = 0; i < N * H * S; i++)
      for (int64_t l = 0; l < L; l++)
        for (int64_t e = 0; e < V; e++) gv.v[i * V + e] += g.v[(i / S * L + l) * V + e] / (double)S;
    dpt_tensor tq = tensor_of(q, kind, 0), tk = tensor_of(k, kind, 0), tv = tensor_of(v, kind, 0);
    dpt_tensor tg = tensor_of(g, kind, 0), y = empty(kind), save = empty(kind);
    dpt_tensor rq = empty(kind), rk = empty(kind), rv = empty(kind);
    save.kind_ = dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE);
    dpt_attention options = {.scale = 1};
    OK(dpt_attention_forward(&y, &save, &tq, &tk, &tv, NULL, &options));
    OK(dpt_attention_backward(&rq, &rk, &rv, &tq, &tk, &tv, NULL, &y, &tg, &save, &options));
    same(&y, out, 1e-12, "empty out");
    same(&rq, q, 1e-12, "empty gq");
    same(&rk, k, 1e-12, "empty gk");
    same(&rv, gv, 1e-12, "empty gv");
    dpt_tensor *tensors[] = {&tq, &tk, &tv, &tg, &save};
    for (int i = 0; i < 5; i++) dpt_tensor_free(tensors[i]);
    double *own[] = {q.v, k.v, v.v, g.v, gv.v, out.v};
    for (int i = 0; i < 6; i++) free(own[i]);
  }
}

/* A NaN in a query or in a key that takes part makes the row NaN; a masked key is not read. */
static void nan_rows(int kind) {
  array q = ARRAY(1, 1, 3, 2), k = ARRAY(1, 1, 2, 2), mask = ARRAY(1, 1, 3, 2);
  q.v[0] = NAN, k.v[3] = NAN;
  for (int i = 0; i < 6; i++) mask.v[i] = i != 3; /* row 1 does not see key 1 */
  dpt_tensor tq = tensor_of(q, kind, 0), tk = tensor_of(k, kind, 0), y = empty(kind);
  array value = array_fill(ARRAY(1, 1, 2, 2), 1, 1);
  dpt_tensor v = tensor_of(value, kind, 0), save = empty(kind);
  dpt_tensor m = tensor_of(mask, DPT_U8 | (kind & DPT_ON_DEVICE), 0);
  save.kind_ = dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE);
  dpt_attention options = {.scale = 1};
  OK(dpt_attention_forward(&y, &save, &tq, &tk, &v, &m, &options));
  array got = array_of(&y);
  CHECK(isnan(got.v[0]) && isnan(got.v[1]));
  CHECK(got.v[2] == 1 && got.v[3] == 1);
  CHECK(isnan(got.v[4]) && isnan(got.v[5]));
  dpt_tensor *tensors[] = {&tq, &tk, &v, &m, &save};
  for (int i = 0; i < 5; i++) dpt_tensor_free(tensors[i]);
  free(q.v), free(k.v), free(mask.v), free(value.v), free(got.v);
}

/* Computes r: the output, the gradients and save, of keys that are the values. */
static int passes(dpt_tensor *r, const dpt_tensor *q, const dpt_tensor *k,
                  const dpt_attention *options) {
  return dpt_attention_forward(&r[0], &r[4], q, k, k, NULL, options) ||
         dpt_attention_backward(&r[1], &r[2], &r[3], q, k, k, NULL, &r[0], q, &r[4], options);
}

/* Every allocation of a call may fail; the next call has the same results. */
static void short_of_memory(int kind) {
  array x = array_fill(ARRAY(2, 2, 9, 4), -1, 1), wanted[4];
  dpt_tensor q = turned(x, kind), k = tensor_of(x, kind, 1); /* columns are not adjacent */
  dpt_attention options = {.causal = 1, .scale = 0.5, .dropout = 0.25, .draw = {.seed = 3}};
  for (int n = 0, failed = 1; failed; n++) {
    dpt_tensor r[5] = {empty(kind), empty(kind), empty(kind), empty(kind), empty(kind)};
    r[4].kind_ = dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE);
    if (n) {
      char fault[32];
      snprintf(fault, sizeof fault, "malloc:%d", n);
      OK(dpt_fault_set(fault));
      failed = passes(r, &q, &k, &options);
      OK(dpt_fault_set(""));
      CHECK(failed ? strstr(dpt_message(), "memory") != NULL : n > 9);
    }
    OK(passes(r, &q, &k, &options));
    for (int i = 0; i < 4; i++)
      if (n)
        same(&r[i], wanted[i], 0, "attention after a failure");
      else
        wanted[i] = array_of(&r[i]);
    dpt_tensor_free(&r[4]);
  }
  dpt_tensor_free(&q), dpt_tensor_free(&k);
  for (int i = 0; i < 4; i++) free(wanted[i].v);
  free(x.v);
}

static void rejects(void) {
  array four = ARRAY(2, 4, 3, 5), other = ARRAY(2, 3, 3, 5), less = ARRAY(2, 4, 3);
  dpt_tensor x = tensor_of(four, F32, 0), o = tensor_of(other, F32, 0), t = tensor_of(less, F32, 0);
  dpt_tensor y = empty(F32), s = empty(F32), d = empty(F64), *q = &x;
  dpt_attention options = {.scale = 1}, high = {.dropout = 1};
  FAILS(dpt_attention_forward(&y, &s, NULL, q, q, NULL, &options), "'query' is missing");
  FAILS(dpt_attention_forward(&y, &s, q, q, q, NULL, NULL), "'options' is missing");
  FAILS(dpt_attention_forward(&y, &s, q, q, q, NULL, &high), "'dropout' is 1, wanted 0");
  FAILS(dpt_attention_forward(&y, &s, &t, q, q, NULL, &options), "'query' is a torch.FloatTensor");
  FAILS(dpt_attention_forward(&y, &s, q, &o, &o, NULL, &options), "'key' has 3 heads, wanted a");
  FAILS(dpt_attention_forward(&y, &s, q, q, &o, NULL, &options), "'value' is a torch.FloatTensor");
  FAILS(dpt_attention_forward(&y, &s, q, q, q, &o, &options), "'mask' is a torch.FloatTensor");
  FAILS(dpt_attention_forward(&y, &s, q, q, q, &t, &options), "'mask' is a torch.FloatTensor");
  FAILS(dpt_attention_forward(&d, &s, q, q, q, NULL, &options), "'output' is a torch.DoubleTensor");
  OK(dpt_attention_forward(&y, &s, q, q, q, NULL, &options));
  FAILS(dpt_attention_backward(&y, &y, &y, q, q, q, NULL, &y, &o, &s, &options), "'gradOutput'");
  FAILS(dpt_attention_backward(&y, &y, &y, q, q, q, NULL, &y, q, &s, &options),
        "two results share");
  FAILS(dpt_attention_backward(&y, &y, &y, q, q, q, NULL, &y, q, q, &options), "'save'");
  dpt_tensor *tensors[] = {&x, &o, &t, &y, &s};
  for (int i = 0; i < 5; i++) dpt_tensor_free(tensors[i]);
  free(four.v), free(other.v), free(less.v);
}

int main(void) {
  layer_start();
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < torture(90); i++) compare(kinds[k], i % MASKS, i / MASKS % 3, 12);
    for (int i = 0; i < 3; i++) compare(kinds[k], i, i, 400); /* several blocks */
    interleaved(kinds[k]);
    nothing(kinds[k]);
    nan_rows(kinds[k]);
    short_of_memory(kinds[k]);
  }
  rejects();
  return check_end();
}
