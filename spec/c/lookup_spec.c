/* lookup_spec.c: compares lookup tables, dropout's mask and optimizer steps with plain loops. */
#include "layer.h"

static void compare_lookup(int kind, int type, int by_frequency) {
  if (dpt__is_reduced(type) && !(kind & DPT_ON_DEVICE)) return;
  int64_t V = whole(1, 9), D = whole(1, 100), n = whole(1, 12), padding = whole(0, V);
  array w = array_fill(ARRAY(V, D), -1, 1), idx = array_whole(ARRAY(n, 2), 1, V);
  array y = ARRAY(n, 2, D), gy = array_fill(array_like(y), -1, 1), gw = array_like(w);
  array zero = array_like(w);
  for (int64_t i = 0; i < n * 2; i++) {
    int64_t row = (int64_t)idx.v[i] - 1, count = 0;
    for (int64_t k = 0; k < n * 2; k++) count += idx.v[k] == idx.v[i];
    for (int64_t d = 0; d < D; d++) {
      y.v[i * D + d] = w.v[row * D + d];
      if (row + 1 != padding)
        gw.v[row * D + d] += 0.5 * gy.v[i * D + d] / (double)(by_frequency ? count : 1);
    }
  }
  dpt_tensor tw = tensor_of(w, kind, 0), tg = tensor_of(gy, kind, 1), out = empty(kind);
  dpt_tensor ti = tensor_of(idx, type | (kind & DPT_ON_DEVICE), 1), tgw = tensor_of(zero, kind, 1);
  OK(dpt_lookup_forward(&out, &tw, &ti));
  OK(dpt_lookup_backward(&tgw, &ti, &tg, padding, by_frequency, 0.5));
  same(&out, y, 0, "lookup out");
  same(&tgw, gw, 1e-12, "lookup gw");
  OK(dpt_lookup_renorm(&tw, &ti, 0.5, 2));
  for (int64_t v = 0; v < V; v++) {
    double norm = 0;
    int named = 0;
    for (int64_t i = 0; i < n * 2; i++) named = named || (int64_t)idx.v[i] == v + 1;
    for (int64_t d = 0; d < D; d++) norm += w.v[v * D + d] * w.v[v * D + d];
    norm = sqrt(norm);
    for (int64_t d = 0; d < D && named && norm > 0.5; d++) w.v[v * D + d] *= 0.5 / (norm + 1e-7);
  }
  same(&tw, w, 1e-12, "lookup renorm");
  dpt_tensor_free(&tg), dpt_tensor_free(&ti);
  free(w.v), free(idx.v), free(y.v), free(gy.v), free(gw.v), free(zero.v);
}

/* A mask does not depend on how the rows are split, and keeps the given fraction. */
static void dropout(int kind) {
  int64_t rows = 50, n = 77;
  array whole_mask = ARRAY(rows, n);
  dpt_tensor all = tensor_of(whole_mask, kind, 0), other = tensor_of(whole_mask, kind, 1);
  dpt_draw draw = {.seed = 42, .offset = 3}, next = {.seed = 42, .offset = 4};
  OK(dpt_dropout_mask(&all, &draw, 0.25, 2));
  for (int64_t first = 0; first < rows;) {
    int64_t m = whole(1, rows - first);
    dpt_tensor part = empty(kind);
    OK(dpt_narrow(&part, &other, 0, first, m));
    draw.first_row = first;
    OK(dpt_dropout_mask(&part, &draw, 0.25, 2));
    dpt_tensor_free(&part);
    first += m;
  }
  array a = array_of(&all);
  double sum = 0;
  for (int64_t i = 0; i < a.n; i++) {
    CHECK(a.v[i] == 0 || a.v[i] == 2);
    sum += a.v[i] / 2;
  }
  CHECK(fabs(sum / (double)a.n - 0.75) < 0.03);
  same(&other, a, 0, "dropout");
  dpt_tensor none = tensor_of(whole_mask, kind, 0), every = tensor_of(whole_mask, kind, 0);
  OK(dpt_dropout_mask(&none, &draw, 1, 2));
  OK(dpt_dropout_mask(&every, &next, 0, 2));
  for (int64_t i = 0; i < a.n; i++) a.v[i] = 0;
  same(&none, a, 0, "dropout of all");
  for (int64_t i = 0; i < a.n; i++) a.v[i] = 2;
  same(&every, a, 0, "dropout of none");
  free(a.v), free(whole_mask.v);
}

static void compare_sgd(int kind, int form) {
  int64_t n = form & 1 ? whole(1, 9) : whole(2000, 5000);
  int momentum = form & 2, nesterov = form & 4, vectors = form & 8, first = form & 16;
  double rate = 0.25, decay = 0.125, keep = 0.75;
  array x = array_fill(ARRAY(n), -1, 1), g = array_fill(ARRAY(n), -1, 1);
  array v = array_fill(ARRAY(n), -1, 1), r = array_fill(ARRAY(n), 0, 1);
  array d = array_fill(ARRAY(n), 0, 1);
  dpt_tensor tx = tensor_of(x, kind, 0), tg = tensor_of(g, kind, 0), tv = tensor_of(v, kind, 0);
  dpt_tensor tr = tensor_of(r, kind, 1), td = tensor_of(d, kind, 0);
  OK(dpt_sgd_step(&tx, &tg, momentum ? &tv : NULL, vectors ? &tr : NULL, vectors ? &td : NULL, rate,
                  decay, 0.5, keep, nesterov, first));
  for (int64_t i = 0; i < n; i++) {
    g.v[i] += (vectors ? d.v[i] : decay) * x.v[i];
    double step = g.v[i];
    if (momentum) {
      v.v[i] = first ? g.v[i] : v.v[i] * 0.5 + keep * g.v[i];
      step = v.v[i];
      if (nesterov) step = g.v[i] += 0.5 * v.v[i];
    }
    x.v[i] -= rate * (vectors ? r.v[i] : 1) * step;
  }
  same(&tx, x, 1e-12, "sgd x");
  same(&tg, g, 1e-12, "sgd g");
  same(&tv, v, 1e-12, "sgd v");
  dpt_tensor_free(&tr), dpt_tensor_free(&td);
  free(x.v), free(g.v), free(v.v), free(r.v), free(d.v);
}

static void compare_adam(int kind, int vectors) {
  array x = array_fill(ARRAY(3000), -1, 1), g = array_fill(ARRAY(3000), -1, 1);
  array m = array_fill(ARRAY(3000), -1, 1), v = array_fill(ARRAY(3000), 0.5, 1);
  dpt_tensor tx = tensor_of(x, kind, 1), tg = tensor_of(g, kind, 0);
  array r = array_fill(ARRAY(3000), 0, 1), d = array_fill(ARRAY(3000), 0, 1);
  dpt_tensor tm = tensor_of(m, kind, 0), tv = tensor_of(v, kind, 0);
  dpt_tensor tr = tensor_of(r, kind, 1), td = tensor_of(d, kind, 0);
  OK(dpt_adam_step(&tx, &tg, &tm, &tv, vectors ? &tr : NULL, vectors ? &td : NULL, 0.01, 0.1, 0.9,
                   0.999, 1e-8));
  for (int64_t i = 0; i < x.n; i++) {
    g.v[i] += (vectors ? d.v[i] : 0.1) * x.v[i];
    m.v[i] = 0.9 * m.v[i] + (1 - 0.9) * g.v[i];
    v.v[i] = 0.999 * v.v[i] + (1 - 0.999) * g.v[i] * g.v[i];
    x.v[i] -= (vectors ? r.v[i] : 1) * 0.01 * m.v[i] / (sqrt(v.v[i]) + 1e-8);
  }
  same(&tx, x, 1e-12, "adam x");
  same(&tg, g, 1e-12, "adam g");
  same(&tm, m, 1e-12, "adam m");
  same(&tv, v, 1e-12, "adam v");
  dpt_tensor_free(&tr), dpt_tensor_free(&td);
  free(x.v), free(g.v), free(m.v), free(v.v), free(r.v), free(d.v);
}

/* AdamW with the largest v so far. */
static void compare_adamw(int kind, int vectors) {
  array x = array_fill(ARRAY(3000), -1, 1), g = array_fill(ARRAY(3000), -1, 1);
  array m = array_fill(ARRAY(3000), -1, 1), v = array_fill(ARRAY(3000), 0.5, 1);
  array most = array_fill(ARRAY(3000), 0.5, 1);
  array r = array_fill(ARRAY(3000), 0, 1), d = array_fill(ARRAY(3000), 0, 1);
  int wide = dpt__compute_dtype(kind & ~DPT_ON_DEVICE) | (kind & DPT_ON_DEVICE);
  dpt_tensor tx = tensor_of(x, kind, 1), tg = tensor_of(g, kind, 0), tm = tensor_of(m, wide, 0);
  dpt_tensor tv = tensor_of(v, wide, 1), tmost = tensor_of(most, wide, 1);
  dpt_tensor tr = tensor_of(r, wide, 1), td = tensor_of(d, wide, 0);
  OK(dpt_adam_mixed(&tx, &tg, &tm, &tv, &tmost, vectors & 1 ? &tr : NULL, vectors & 2 ? &td : NULL,
                    0.01, 0.1, 0.9, 0.999, 1e-8, 1, 0.5, NULL, NULL, NULL, 0));
  for (int64_t i = 0; i < x.n; i++) {
    double rate = vectors & 1 ? r.v[i] : 1;
    m.v[i] = 0.9 * m.v[i] + (1 - 0.9) * g.v[i];
    v.v[i] = 0.999 * v.v[i] + (1 - 0.999) * g.v[i] * g.v[i];
    if (v.v[i] > most.v[i]) most.v[i] = v.v[i];
    x.v[i] *= 1 - 0.5 * rate * (vectors & 2 ? d.v[i] : 0.1);
    x.v[i] -= rate * 0.01 * m.v[i] / (sqrt(most.v[i]) + 1e-8);
  }
  same(&tx, x, 1e-12, "adamw x");
  same(&tg, g, 1e-12, "adamw g");
  same(&tm, m, 1e-12, "adamw m");
  same(&tv, v, 1e-12, "adamw v");
  same(&tmost, most, 1e-12, "adamw vmax");
  dpt_tensor_free(&tr), dpt_tensor_free(&td);
  free(x.v), free(g.v), free(m.v), free(v.v), free(most.v), free(r.v), free(d.v);
}

/* The copy receives the first elements of x; x, g, m and v have the bits of steps without one. */
static void compare_copy(int kind, int type, int64_t n, int64_t copies) {
  array x = array_fill(ARRAY(n), -1, 1), g = array_fill(ARRAY(n), -1, 1), m = array_like(x);
  array zeros = ARRAY(copies);
  int device = kind & DPT_ON_DEVICE, adam = (int)(n % 2);
  dpt_tensor t[2][4], copy = tensor_of(zeros, type | device, 0), wanted = {0};
  for (int i = 0; i < 2; i++) {
    dpt_tensor *c = i ? &copy : NULL, *own = t[i];
    own[0] = tensor_of(x, kind, 0), own[1] = tensor_of(g, kind, 0);
    own[2] = tensor_of(m, kind, 0), own[3] = tensor_of(m, kind, 0);
    if (adam)
      OK(dpt_adam_mixed(own, own + 1, own + 2, own + 3, NULL, NULL, NULL, 0.1, 0.1, 0.9, 0.99, 1e-8,
                        0, 0, c, NULL, NULL, 0));
    else if (n % 4)
      OK(dpt_sgd_mixed(own, own + 1, own + 2, NULL, NULL, 0.1, 0.1, 0.9, 0.5, 1, 0, c, NULL, NULL,
                       0));
    else
      OK(dpt_sgd_mixed(own, own + 1, NULL, NULL, NULL, 0.1, 0, 0, 0, 0, 0, c, NULL, NULL, 0));
  }
  OK(dpt_tensor_new(&wanted, type | device, 1, &copies));
  if (copies) {
    dpt_tensor head = {.kind_ = kind};
    OK(dpt_narrow(&head, &t[1][0], 0, 0, copies));
    OK(dpt_copy(&wanted, &head));
    dpt_tensor_free(&head);
  }
  array bits = array_of(&wanted);
  same(&copy, bits, 0, "copy");
  free(bits.v);
  for (int i = 0; i < 4; i++) {
    bits = array_of(&t[0][i]);
    array got = array_of(&t[1][i]);
    CHECK(!memcmp(bits.v, got.v, (size_t)n * sizeof *bits.v));
    free(bits.v), free(got.v);
  }
  free(x.v), free(g.v), free(m.v), free(zeros.v);
}

static void refuse_copies(void) {
  array w = ARRAY(3, 2), big = ARRAY(7);
  dpt_tensor x = tensor_of(w, F32, 0), half = tensor_of(w, DPT_F16, 0), c = tensor_of(w, CUDA, 0);
  dpt_tensor wide = tensor_of(w, F64, 0), longer = tensor_of(big, DPT_F16, 0);
  dpt_tensor every = tensor_of(w, DPT_F16, 1), there = tensor_of(w, DPT_F16 | DPT_ON_DEVICE, 0);
  struct {
    dpt_tensor *x, *copy;
    const char *text;
  } cases[] = {{&x, &x, "sgd: argument 'copy' is a torch.FloatTensor of size 3x2, wanted a"},
               {&x, &longer, "no longer than x"},
               {&x, &every, "contiguous"},
               {&x, &there, "argument 'copy' is a torch.CudaHalfTensor"},
               {&wide, &half, "argument 'x' is a torch.DoubleTensor of size 3x2, wanted floats"},
               {&half, &half, "argument 'x' is a torch.HalfTensor of size 3x2, wanted floats"}};
  for (int i = 0; i < 6; i++)
    CHECK(dpt_sgd_mixed(cases[i].x, cases[i].x, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0, cases[i].copy,
                        NULL, NULL, 0) &&
          strstr(dpt_message(), cases[i].text));
  CHECK(dpt_step_copies(&x) && dpt_step_copies(&c));
  dpt_tensor *own[] = {&x, &half, &c, &wide, &longer, &every, &there};
  for (int k = 0; k < 7; k++) dpt_tensor_free(own[k]);
  free(w.v), free(big.v);
}

static void refusals(void) {
  array w = ARRAY(3, 2), i = ARRAY(2), big = ARRAY(7);
  i.v[0] = 3, i.v[1] = 4;
  dpt_tensor tw = tensor_of(w, F32, 0), ti = tensor_of(i, DPT_I64, 0), y = empty(F32);
  dpt_tensor cw = tensor_of(w, CUDA, 0), ci = tensor_of(i, index_kind(CUDA), 0), cy = empty(CUDA);
  dpt_tensor tb = tensor_of(big, F32, 0);
  FAILS(dpt_lookup_forward(&y, &tw, &ti), "has 4 at element 2, wanted 1 to 3");
  FAILS(dpt_lookup_backward(&tw, &ti, &tw, 0, 0, 1), "'gradOutput'");
  FAILS(dpt_lookup_forward(&y, &tb, &ti), "wanted a matrix");
  FAILS(dpt_lookup_forward(&y, &tw, &ci), "'indices'");
  OK(dpt_lookup_forward(&cy, &cw, &ci));
  FAILS(dpt_device_synchronize(0), "has 4 at element 2");
  OK(dpt_device_synchronize(0));
  FAILS(dpt_dropout_mask(&tw, &(dpt_draw){0}, 1.5, 1), "'p' is 1.5");
  FAILS(
      dpt_adam_mixed(&tw, &tw, &tw, &tw, &tb, NULL, NULL, 1, 0, 0, 0, 1, 1, 1, NULL, NULL, NULL, 0),
      "'vmax'");
  FAILS(dpt_sgd_step(&tw, &tb, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0), "'dfdx'");
  dpt_tensor *own[] = {&tw, &ti, &y, &cw, &ci, &cy, &tb};
  for (int k = 0; k < 7; k++) dpt_tensor_free(own[k]);
  free(w.v), free(i.v), free(big.v);
}

int main(void) {
  static const int types[] = {DPT_I64, DPT_I32, DPT_F32, DPT_REDUCED_DTYPES(ID)};
  enum { TYPES = sizeof types / sizeof *types };
  layer_start();
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < torture(150); i++)
      compare_lookup(kinds[k], types[i % TYPES], i / TYPES % 2);
    for (int form = 0; form < 32; form++) compare_sgd(kinds[k], form);
    dropout(kinds[k]);
    for (int vectors = 0; vectors < 2; vectors++) compare_adam(kinds[k], vectors);
    for (int vectors = 0; vectors < 4; vectors++) compare_adamw(kinds[k], vectors);
  }
  static const int reduced[] = {DPT_REDUCED_DTYPES(ID)};
  for (int i = 0; i < 24; i++) {
    int64_t n = i < 12 ? i + 1 : whole(2000, 9000);
    compare_copy(i % 3 ? CUDA : F32, reduced[i % 2], n, i % 4 ? whole(0, n) : n);
  }
  refuse_copies();
  refusals();
  return check_end();
}
