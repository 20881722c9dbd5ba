/* loss_spec.c: compares losses with plain loops, and their gradients with finite differences. */
#include "layer.h"

static double number(dpt_tensor *t) {
  double v = NAN;
  CHECK(t->ndim_ == 1 && t->size_[0] == 1);
  OK(dpt_get(t, 0, &v));
  dpt_tensor_free(t);
  return v;
}

static int near(double a, double b, int kind) {
  double limit = limit_of(dpt__dtype(kind), 3e-2, 1e-4, 1e-10);
  if (fabs(a - b) <= limit * (1 + fabs(b))) return 1;
  printf("%.9g, wanted %.9g\n", a, b);
  return 0;
}

/* ---- pointwise ------------------------------------------------------------------------------- */

static double formula(const char *name, double x, double t, double p) {
  if (!strcmp(name, "mse")) return (x - t) * (x - t);
  if (!strcmp(name, "abs")) return fabs(x - t);
  if (!strcmp(name, "smoothl1")) return fabs(x - t) < 1 ? (x - t) * (x - t) / 2 : fabs(x - t) - 0.5;
  if (!strcmp(name, "bce")) return -t * log(x + 1e-12) - (1 - t) * log(1 - x + 1e-12);
  if (!strcmp(name, "softmargin")) return log(1 + exp(-x * t));
  if (!strcmp(name, "distkl")) return t > 0 ? t * (log(t) - x) : 0;
  if (!strcmp(name, "l1")) return fabs(x);
  if (!strcmp(name, "margin")) return p - x * t > 0 ? p - x * t : 0;
  return t == 1 ? x : p - x > 0 ? p - x : 0; /* hinge */
}

static void compare_pointwise(const char *name, int kind, int average, int weighted, int64_t n) {
  int loss = dpt_loss(name), bce = !strcmp(name, "bce"), kl = !strcmp(name, "distkl");
  int sign = !strcmp(name, "softmargin") || !strcmp(name, "margin") || !strcmp(name, "hinge");
  double p = 0.75, sum = 0;
  array x = array_fill(ARRAY(n), bce ? 0.1 : -2, bce ? 0.9 : 2), t = ARRAY(n), gx = ARRAY(n);
  array w = array_fill(ARRAY(n), 0.5, 1.5);
  array_fill(t, bce || kl ? 0 : -2, bce || kl ? 1 : 2);
  for (int64_t i = 0; i < n; i++) {
    if (sign) t.v[i] = whole(0, 1) ? 1 : -1;
    x.v[i] += 1.0 / 128; /* away from kinks */
    double factor = (average ? 1 / (double)n : 1) * (weighted ? w.v[i] : 1), h = 1e-6;
    sum += factor * formula(name, x.v[i], t.v[i], p);
    gx.v[i] = factor *
              (formula(name, x.v[i] + h, t.v[i], p) - formula(name, x.v[i] - h, t.v[i], p)) /
              (2 * h);
  }
  dpt_tensor tx = tensor_of(x, kind, 1), tt = tensor_of(t, kind, 0), tw = tensor_of(w, kind, 1);
  dpt_tensor out = empty(kind), gin = empty(kind);
  const dpt_tensor *weight = weighted ? &tw : NULL;
  OK(dpt_loss_forward(loss, &out, &tx, &tt, weight, average, p));
  OK(dpt_loss_backward(loss, &gin, &tx, &tt, weight, average, p));
  if (!CHECK(near(number(&out), sum, kind))) printf("%s\n", name);
  same(&gin, gx, 1e-6, name);
  dpt_tensor_free(&tx), dpt_tensor_free(&tt), dpt_tensor_free(&tw);
  free(x.v), free(t.v), free(gx.v), free(w.v);
}

/* ---- classes --------------------------------------------------------------------------------- */

static void compare_nll(int kind, int target_kind, int ndim, int average, int weighted) {
  int64_t N = ndim == 1 ? 1 : whole(1, 5), C = whole(2, 6), H = ndim == 4 ? whole(1, 4) : 1;
  array x = ndim == 1 ? ARRAY(C) : ndim == 2 ? ARRAY(N, C) : ARRAY(N, C, H, 3);
  int64_t S = ndim == 4 ? H * 3 : 1, ignored = whole(1, C);
  array t = ndim == 4 ? ARRAY(N, H, 3) : ARRAY(N), w = array_fill(ARRAY(C), 0.5, 1.5);
  double sum = 0, total = 0;
  array_fill(x, -3, 0);
  array_whole(t, 1, C);
  array gx = array_like(x);
  for (int pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < N * S; i++) {
      int64_t class = (int64_t)t.v[i], at = (i / S * C + class - 1) * S + i % S;
      if (class == ignored) continue;
      double v = weighted ? w.v[class - 1] : 1;
      if (pass == 0)
        sum -= v * x.v[at], total += v;
      else
        gx.v[at] = -v / (average ? total : 1);
    }
  dpt_tensor tx = tensor_of(x, kind, 1), tw = tensor_of(w, kind, 0), sums = empty(kind);
  dpt_tensor tt = tensor_of(t, target_kind | (kind & DPT_ON_DEVICE), 1);
  dpt_tensor out = empty(kind), gin = empty(kind);
  const dpt_tensor *weight = weighted ? &tw : NULL;
  OK(dpt_nll_forward(&out, &sums, &tx, &tt, weight, average, ignored));
  OK(dpt_nll_backward(&gin, &tx, &tt, weight, &sums, average, ignored));
  CHECK(near(number(&out), average && total != 0 ? sum / total : sum, kind));
  CHECK(near(number(&sums), total, kind));
  same(&gin, gx, 1e-12, "nll gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tt), dpt_tensor_free(&tw);
  free(x.v), free(t.v), free(gx.v), free(w.v);
}

struct margin {
  int64_t N, C;
  int average, p, weighted, labels;
  double margin;
  array t, w;
};

static array margin(array x, const void *context) {
  const struct margin *m = context;
  array y = ARRAY(1);
  for (int64_t n = 0; n < m->N; n++)
    for (int64_t l = 0; l < (m->labels ? m->C : 1); l++) {
      int64_t class = (int64_t)m->t.v[m->labels ? n * m->C + l : n];
      if (class == 0) break;
      for (int64_t c = 1; c <= m->C; c++) {
        int target = c == class;
        for (int64_t k = 0; m->labels && k < m->C && m->t.v[n * m->C + k] > 0; k++)
          target = target || c == (int64_t)m->t.v[n * m->C + k];
        double z = m->margin - x.v[n * m->C + class - 1] + x.v[n * m->C + c - 1];
        if (target || z <= 0) continue;
        y.v[0] += (m->p == 1 ? z : z * z) * (m->weighted ? m->w.v[class - 1] : 1);
      }
    }
  y.v[0] /= (double)(m->average ? m->N * m->C : m->C);
  return y;
}

static void compare_margins(int kind, int labels) {
  struct margin m = {.N = whole(1, 4), .C = whole(2, 6), .labels = labels, .margin = 0.75};
  m.average = (int)whole(0, 1), m.p = (int)whole(1, 2), m.weighted = (int)whole(0, 1);
  if (labels) m.p = 1, m.weighted = 0, m.margin = 1;
  array x = array_fill(ARRAY(m.N, m.C), -1, 1), one = ARRAY(1);
  one.v[0] = 1;
  m.t = array_whole(labels ? ARRAY(m.N, m.C) : ARRAY(m.N), 1, m.C);
  m.w = array_fill(ARRAY(m.C), 0.5, 1.5);
  for (int64_t i = 0; i < x.n; i++) x.v[i] += (double)i / 1024; /* away from kinks */
  for (int64_t n = 0; labels && n < m.N; n++) {                 /* distinct labels, then a 0 */
    int64_t first = (int64_t)m.t.v[n * m.C], count = whole(0, m.C);
    for (int64_t l = 0; l < m.C; l++)
      m.t.v[n * m.C + l] = l < count ? (double)((first + l) % m.C + 1) : 0;
  }
  array y = margin(x, &m);
  dpt_tensor tx = tensor_of(x, kind, 1), tt = tensor_of(m.t, index_kind(kind), 0);
  dpt_tensor tw = tensor_of(m.w, kind, 0), out = empty(kind), gin = empty(kind);
  const dpt_tensor *w = m.weighted ? &tw : NULL;
  if (labels) {
    OK(dpt_multilabel_forward(&out, &tx, &tt, m.average));
    OK(dpt_multilabel_backward(&gin, &tx, &tt, m.average));
  } else {
    OK(dpt_multimargin_forward(&out, &tx, &tt, w, m.average, m.p, m.margin));
    OK(dpt_multimargin_backward(&gin, &tx, &tt, w, m.average, m.p, m.margin));
  }
  CHECK(near(number(&out), y.v[0], kind));
  array gx = array_like(x);
  for (int64_t i = 0; i < x.n; i++) gx.v[i] = numeric(margin, x, one, i, &m);
  same(&gin, gx, 1e-6, labels ? "multilabel gin" : "multimargin gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tt), dpt_tensor_free(&tw);
  free(x.v), free(one.v), free(m.t.v), free(m.w.v), free(y.v), free(gx.v);
}

/* A bad class raises at once on the host, and at the next wait on a device; later calls work. */
static void refusals(void) {
  array x = ARRAY(2, 3), t = ARRAY(2), good = ARRAY(2);
  t.v[0] = 1, t.v[1] = 4, good.v[0] = good.v[1] = 3;
  for (int device = 0; device < 2; device++) {
    int kind = device ? CUDA : F32;
    dpt_tensor tx = tensor_of(x, kind, 0), tt = tensor_of(t, kind, 0), out = empty(kind);
    dpt_tensor tg = tensor_of(good, index_kind(kind), 0), sums = empty(kind), gin = empty(kind);
    if (device) {
      double v;
      OK(dpt_nll_forward(&out, &sums, &tx, &tt, NULL, 1, -100));
      FAILS(dpt_get(&out, 0, &v), "has class 4 at element 2, wanted 1 to 3");
    } else
      FAILS(dpt_nll_forward(&out, &sums, &tx, &tt, NULL, 1, -100),
            "has class 4 at element 2, wanted 1 to 3");
    OK(dpt_nll_forward(&out, &sums, &tx, &tg, NULL, 1, -100));
    CHECK(number(&out) == 0);
    FAILS(dpt_nll_forward(&out, &sums, &tx, &tx, NULL, 1, -100), "'target'");
    FAILS(dpt_loss_forward(99, &out, &tx, &tx, NULL, 1, 0), "there is no loss 99");
    FAILS(dpt_loss_forward(dpt_loss("mse"), &out, &tx, &tt, NULL, 1, 0), "'target'");
    FAILS(dpt_loss_forward(dpt_loss("mse"), &out, &tx, NULL, NULL, 1, 0), "'target' is missing");
    dpt_tensor *own[] = {&tx, &tt, &tg, &out, &sums, &gin};
    for (int i = 0; i < 6; i++) dpt_tensor_free(own[i]);
  }
  CHECK(dpt_loss("nothing") == -1);
  free(x.v), free(t.v), free(good.v);
}

int main(void) {
  static const char *const names[] = {"mse",    "abs", "smoothl1", "bce",  "softmargin",
                                      "distkl", "l1",  "margin",   "hinge"};
  static const int targets[] = {DPT_I64, DPT_F32, DPT_F64, DPT_U8, DPT_I32};
  layer_start();
  for (int k = 0; k < KINDS; k++) {
    for (int l = 0; l < 9; l++)
      for (int i = 0; i < 4; i++) compare_pointwise(names[l], kinds[k], i % 2, i / 2, whole(1, 40));
    for (int i = 0; i < torture(300); i++) {
      compare_nll(kinds[k], targets[i % 5], i % 3 == 2 ? 4 : i % 3 + 1, i % 2, i / 2 % 2);
      compare_margins(kinds[k], i % 2);
    }
  }
  compare_pointwise("mse", F32, 1, 0, 100000);
  refusals();
  return check_end();
}
