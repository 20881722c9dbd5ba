/* norm_spec.c: compares softmax, normalization, PReLU and LRN with plain loops, whose
 * gradients are checked by finite differences.
 */
#include "layer.h"

/* ---- softmax -------------------------------------------------------------------------------- */

struct classes {
  int64_t N, C, S;
  int log;
};

static array softmax(array x, const void *context) {
  const struct classes *c = context;
  array y = array_like(x);
  for (int64_t i = 0; i < c->N * c->S; i++) {
    int64_t at = i / c->S * c->C * c->S + i % c->S;
    double sum = 0;
    for (int64_t k = 0; k < c->C; k++) sum += exp(x.v[at + k * c->S]);
    for (int64_t k = 0; k < c->C; k++) {
      double v = x.v[at + k * c->S];
      y.v[at + k * c->S] = c->log ? v - log(sum) : exp(v) / sum;
    }
  }
  return y;
}

static void compare_softmax(int kind, int ndim, int log_, int strided) {
  int64_t N = whole(1, 4), C = whole(1, 200), H = whole(1, 9), W = whole(1, 30);
  array x = ndim == 1   ? ARRAY(C)
            : ndim == 2 ? ARRAY(N, C)
            : ndim == 3 ? ARRAY(C, H, W)
                        : ARRAY(N, C, H, W);
  struct classes c = {ndim % 2 ? 1 : N, C, ndim > 2 ? H * W : 1, log_};
  array_fill(x, -4, 4);
  array y = softmax(x, &c), gy = array_fill(array_like(x), -1, 1), gx = array_like(x);
  for (int64_t i = 0; i < x.n; i++) {
    int64_t image = i / (C * c.S) * C * c.S, sum_at = image + i % c.S;
    double sum = 0;
    for (int64_t k = 0; k < C; k++)
      sum += gy.v[sum_at + k * c.S] * (log_ ? 1 : y.v[sum_at + k * c.S]);
    gx.v[i] = log_ ? gy.v[i] - exp(y.v[i]) * sum : y.v[i] * (gy.v[i] - sum);
  }
  int64_t probe = whole(0, x.n - 1);
  CHECK(fabs(numeric(softmax, x, gy, probe, &c) - gx.v[probe]) < 1e-5);
  dpt_tensor tx = tensor_of(x, kind, strided), tgy = tensor_of(gy, kind, strided);
  dpt_tensor ty = tensor_of(y, kind, strided), out = empty(kind), gin = empty(kind);
  int dim = strided ? 2 - ndim % 2 : 0; /* the same dimension */
  OK(dpt_softmax_forward(&out, &tx, log_, dim));
  OK(dpt_softmax_backward(&gin, &tgy, &ty, log_, dim));
  same(&out, y, 1e-12, "softmax out");
  same(&gin, gx, 1e-11, "softmax gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy), dpt_tensor_free(&ty);
  free(x.v), free(y.v), free(gy.v), free(gx.v);
}

/* ---- batch normalization ----------------------------------------------------------------------
 */

struct norm {
  int64_t N, C, S;
  int train;
  double eps;
  array weight, bias, mean, var; /* running mean and variance */
};

static void statistics(array x, const struct norm *n, int64_t c, double *mean, double *var) {
  double count = (double)(n->N * n->S);
  *mean = *var = 0;
  for (int64_t i = 0; i < x.n; i++)
    if (i / n->S % n->C == c) *mean += x.v[i] / count;
  for (int64_t i = 0; i < x.n; i++)
    if (i / n->S % n->C == c) *var += (x.v[i] - *mean) * (x.v[i] - *mean) / count;
}

static array batchnorm(array x, const void *context) {
  const struct norm *n = context;
  array y = array_like(x);
  for (int64_t c = 0; c < n->C; c++) {
    double mean = n->mean.v[c], var = n->var.v[c];
    if (n->train) statistics(x, n, c, &mean, &var);
    for (int64_t i = 0; i < x.n; i++)
      if (i / n->S % n->C == c)
        y.v[i] = (x.v[i] - mean) / sqrt(var + n->eps) * n->weight.v[c] + n->bias.v[c];
  }
  return y;
}

static void compare_batchnorm(int kind, int train, int strided, int flat, int affine) {
  struct norm n = {.N = whole(2, 5), .train = train, .eps = 1e-3};
  n.C = flat ? whole(1, 150) : whole(1, 4), n.S = flat ? 1 : whole(1, 30);
  array x = flat ? ARRAY(n.N, n.C) : ARRAY(n.N, n.C, n.S);
  double momentum = 0.125, scale = 0.5;
  array_fill(x, -2, 2);
  /* Two images may be nearly equal: the gradient is then 1 / deviation times the rounding error of
   * the mean in a reduced type. So images of reduced types differ by at least 1. */
  for (int64_t i = 0; i < x.n && dpt__is_reduced(dpt__dtype(kind)); i++)
    x.v[i] = x.v[i] / 2 + (i / (n.C * n.S) % 2 ? 1.5 : -1.5);
  n.weight = array_fill(ARRAY(n.C), 0.5, 1.5), n.bias = array_fill(ARRAY(n.C), -1, 1);
  n.mean = array_fill(ARRAY(n.C), -1, 1), n.var = array_fill(ARRAY(n.C), 0.5, 2);
  for (int64_t c = 0; c < n.C && !affine; c++) n.weight.v[c] = 1, n.bias.v[c] = 0;
  array y = batchnorm(x, &n), gy = array_fill(array_like(x), -1, 1), gx = array_like(x);
  array gw = ARRAY(n.C), gb = ARRAY(n.C), mean = ARRAY(n.C), var = ARRAY(n.C);
  array save_mean = ARRAY(n.C), save_std = ARRAY(n.C);
  double count = (double)(n.N * n.S);
  for (int64_t c = 0; c < n.C; c++) {
    double m = n.mean.v[c], v = n.var.v[c], sum = 0, dot = 0;
    if (train) statistics(x, &n, c, &m, &v);
    double inverse = 1 / sqrt(v + n.eps);
    save_mean.v[c] = m, save_std.v[c] = inverse;
    mean.v[c] = train ? momentum * m + (1 - momentum) * n.mean.v[c] : n.mean.v[c];
    var.v[c] =
        train ? momentum * v * count / (count - 1) + (1 - momentum) * n.var.v[c] : n.var.v[c];
    for (int64_t i = 0; i < x.n; i++)
      if (i / n.S % n.C == c) sum += gy.v[i], dot += gy.v[i] * (x.v[i] - m);
    gw.v[c] = scale * dot * inverse, gb.v[c] = scale * sum;
    for (int64_t i = 0; i < x.n; i++)
      if (i / n.S % n.C == c) {
        double g = gy.v[i];
        if (train) g -= sum / count + (x.v[i] - m) * inverse * inverse * dot / count;
        gx.v[i] = g * inverse * n.weight.v[c];
      }
  }
  int64_t probe = whole(0, x.n - 1);
  CHECK(fabs(numeric(batchnorm, x, gy, probe, &n) - gx.v[probe]) < 1e-4);
  dpt_tensor tx = tensor_of(x, kind, strided), tgy = tensor_of(gy, kind, strided);
  dpt_tensor w = tensor_of(n.weight, kind, 0), b = tensor_of(n.bias, kind, strided);
  dpt_tensor rm = tensor_of(n.mean, kind, strided), rv = tensor_of(n.var, kind, 0);
  array zero = ARRAY(n.C);
  dpt_tensor tgw = tensor_of(zero, kind, strided), tgb = tensor_of(zero, kind, 0);
  dpt_tensor out = empty(kind), gin = empty(kind), sm = empty(kind), ss = empty(kind);
  OK(dpt_batchnorm_forward(&out, &sm, &ss, &rm, &rv, &tx, affine ? &w : NULL, affine ? &b : NULL,
                           train, momentum, n.eps));
  OK(dpt_batchnorm_backward(&gin, &tgw, &tgb, &tx, &tgy, affine ? &w : NULL, &rm, &rv, &sm, &ss,
                            train, scale, n.eps));
  same(&out, y, 1e-11, "batchnorm out");
  same(&gin, gx, 1e-10, "batchnorm gin");
  same(&rm, mean, 1e-12, "running mean");
  same(&rv, var, 1e-12, "running var");
  same(&tgw, gw, 1e-10, "batchnorm gw");
  same(&tgb, gb, 1e-12, "batchnorm gb");
  if (train) same(&sm, save_mean, 1e-12, "save_mean"), same(&ss, save_std, 1e-12, "save_std");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy), dpt_tensor_free(&w), dpt_tensor_free(&b);
  double *own[] = {x.v,  y.v,  gy.v,   gx.v,  n.weight.v,  n.bias.v,   n.mean.v, n.var.v,
                   gw.v, gb.v, mean.v, var.v, save_mean.v, save_std.v, zero.v};
  for (int i = 0; i < 15; i++) free(own[i]);
}

/* ---- normalization of rows --------------------------------------------------------------------
 */

/* A row is K planes of S elements; row r has the parameters of group r % groups. */
struct rows {
  int64_t rows, groups, K, S;
  int rms;
  double eps;
  array weight, bias;
};

/* Writes the normalized elements of row r to n and returns the factor 1 / deviation. */
static double normalized(array x, const struct rows *a, int64_t r, double *n) {
  int64_t D = a->K * a->S;
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < D && !a->rms; i++) mean += x.v[r * D + i] / (double)D;
  for (int64_t i = 0; i < D; i++) n[i] = x.v[r * D + i] - mean, squares += n[i] * n[i];
  double factor = 1 / sqrt(squares / (double)D + a->eps);
  for (int64_t i = 0; i < D; i++) n[i] *= factor;
  return factor;
}

static array rows_forward(array x, const void *context) {
  const struct rows *a = context;
  array y = array_like(x), n = ARRAY(a->K * a->S);
  for (int64_t r = 0; r < a->rows; r++) {
    normalized(x, a, r, n.v);
    for (int64_t i = 0; i < n.n; i++) {
      int64_t k = r % a->groups * a->K + i / a->S;
      y.v[r * n.n + i] = n.v[i] * a->weight.v[k] + a->bias.v[k];
    }
  }
  free(n.v);
  return y;
}

static void compare_rows(int kind, int rms, int affine, int strided, int flat) {
  struct rows a = {.groups = flat ? 1 : whole(1, 3), .rms = rms, .eps = 0.25};
  a.K = flat ? whole(1, 90) : whole(1, 4), a.S = flat ? 1 : whole(1, 40);
  a.rows = a.groups * whole(1, 20);
  int64_t all = a.groups * a.K, D = a.K * a.S;
  double scale = 0.5;
  array x = array_fill(ARRAY(a.rows, a.K, a.S), -2, 2), gy = array_fill(array_like(x), -1, 1);
  a.weight = array_fill(ARRAY(all), 0.5, 1.5), a.bias = array_fill(ARRAY(all), -1, 1);
  for (int64_t k = 0; k < all && !affine; k++) a.weight.v[k] = 1, a.bias.v[k] = 0;
  array y = rows_forward(x, &a), gx = array_like(x), gw = ARRAY(all), gb = ARRAY(all);
  array n = ARRAY(D);
  for (int64_t r = 0; r < a.rows; r++) {
    double factor = normalized(x, &a, r, n.v), mean = 0, dot = 0;
    for (int64_t i = 0; i < D; i++) {
      int64_t k = r % a.groups * a.K + i / a.S;
      double g = gy.v[r * D + i], h = g * a.weight.v[k];
      gw.v[k] += scale * g * n.v[i], gb.v[k] += scale * g;
      mean += h / (double)D, dot += h * n.v[i] / (double)D;
    }
    for (int64_t i = 0; i < D; i++) {
      double h = gy.v[r * D + i] * a.weight.v[r % a.groups * a.K + i / a.S];
      gx.v[r * D + i] = factor * (h - (rms ? 0 : mean) - n.v[i] * dot);
    }
  }
  int64_t probe = whole(0, x.n - 1);
  CHECK(fabs(numeric(rows_forward, x, gy, probe, &a) - gx.v[probe]) < 1e-5);
  dpt_tensor tx = tensor_of(x, kind, strided), tgy = tensor_of(gy, kind, strided);
  dpt_tensor w = tensor_of(a.weight, kind, strided), b = tensor_of(a.bias, kind, 0);
  array zero = ARRAY(all);
  dpt_tensor tgw = tensor_of(zero, kind, strided), tgb = tensor_of(zero, kind, 0);
  dpt_tensor out = empty(kind), gin = empty(kind);
  dpt_tensor save = empty(dpt__compute_dtype(dpt__dtype(kind)) | (kind & DPT_ON_DEVICE));
  OK(dpt_norm_forward(&out, &save, &tx, affine ? &w : NULL, affine ? &b : NULL, a.rows, a.groups,
                      a.K, rms, a.eps));
  OK(dpt_norm_backward(&gin, &tgw, &tgb, &tx, &tgy, affine ? &w : NULL, &save, a.rows, a.groups,
                       a.K, rms, scale));
  same(&out, y, 1e-12, "norm out");
  same(&gin, gx, 1e-11, "norm gin");
  same(&tgw, gw, 1e-11, "norm gw");
  same(&tgb, gb, 1e-12, "norm gb");
  dpt_tensor *tensors[] = {&tx, &tgy, &w, &b, &save};
  for (int i = 0; i < 5; i++) dpt_tensor_free(tensors[i]);
  double *own[] = {x.v, gy.v, a.weight.v, a.bias.v, y.v, gx.v, gw.v, gb.v, n.v, zero.v};
  for (int i = 0; i < 10; i++) free(own[i]);
}

/* ---- PReLU, LRN -------------------------------------------------------------------------------
 */

static void compare_prelu(int kind, int shared) {
  int64_t N = whole(1, 3), C = whole(1, 4), S = whole(1, 9), slopes = shared ? 1 : C;
  array x = N > 1 ? ARRAY(N, C, S, 2) : ARRAY(2, C, S * 2), y = array_like(x), gx = array_like(x);
  array_fill(x, -1, 1);
  array gy = array_fill(array_like(x), -1, 1), w = array_fill(ARRAY(slopes), 0, 1);
  array gw = ARRAY(slopes), zero = ARRAY(slopes);
  for (int64_t i = 0; i < x.n; i++) {
    int64_t c = shared ? 0 : i / S / 2 % C;
    y.v[i] = x.v[i] > 0 ? x.v[i] : w.v[c] * x.v[i];
    gx.v[i] = x.v[i] > 0 ? gy.v[i] : w.v[c] * gy.v[i];
    gw.v[c] += x.v[i] > 0 ? 0 : 0.5 * gy.v[i] * x.v[i];
  }
  dpt_tensor tx = tensor_of(x, kind, 1), tgy = tensor_of(gy, kind, 0), tw = tensor_of(w, kind, 0);
  dpt_tensor tgw = tensor_of(zero, kind, 0), out = empty(kind), gin = empty(kind);
  OK(dpt_prelu_forward(&out, &tx, &tw));
  OK(dpt_prelu_backward_data(&gin, &tgy, &tx, &tw));
  OK(dpt_prelu_backward_weight(&tgw, &tgy, &tx, 0.5));
  same(&out, y, 1e-12, "prelu out");
  same(&gin, gx, 1e-12, "prelu gin");
  same(&tgw, gw, 1e-12, "prelu gw");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy), dpt_tensor_free(&tw);
  free(x.v), free(y.v), free(gx.v), free(gy.v), free(w.v), free(gw.v), free(zero.v);
}

struct lrn {
  int64_t C, S, size;
  double alpha, beta, k;
};

static array lrn(array x, const void *context) {
  const struct lrn *l = context;
  array y = array_like(x);
  for (int64_t i = 0; i < x.n; i++) {
    int64_t c = i / l->S % l->C;
    double sum = 0;
    for (int64_t o = -(l->size / 2); o <= l->size / 2; o++)
      if (c + o >= 0 && c + o < l->C) sum += x.v[i + o * l->S] * x.v[i + o * l->S];
    y.v[i] = x.v[i] * pow(l->k + l->alpha / (double)l->size * sum, -l->beta);
  }
  return y;
}

static void compare_lrn(int kind) {
  struct lrn l = {whole(1, 9), 6 * 15, whole(0, 2) * 2 + 1, 0.5, 0.75, 2};
  array x = array_fill(ARRAY(2, l.C, 6, 15), -1, 1), y = lrn(x, &l), gx = array_like(x);
  array gy = array_fill(array_like(x), -1, 1);
  dpt_tensor tx = tensor_of(x, kind, 0), tgy = tensor_of(gy, kind, 0), denom = empty(kind);
  dpt_tensor out = empty(kind), gin = empty(kind);
  OK(dpt_lrn_forward(&out, &denom, &tx, l.size, l.alpha, l.beta, l.k));
  OK(dpt_lrn_backward(&gin, &tgy, &tx, &out, &denom, l.size, l.alpha, l.beta));
  array got = array_of(&gin);
  for (int i = 0; i < 30; i++) {
    int64_t probe = whole(0, x.n - 1);
    double wanted = numeric(lrn, x, gy, probe, &l),
           limit = limit_of(dpt__dtype(kind), 2e-2, 1e-4, 1e-4);
    CHECK(fabs(got.v[probe] - wanted) < limit);
  }
  same(&out, y, 1e-12, "lrn out");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy), dpt_tensor_free(&denom);
  free(x.v), free(y.v), free(gx.v), free(gy.v), free(got.v);
}

static void refusals(void) {
  array five = ARRAY(1, 1, 1, 1, 1), v = ARRAY(3);
  dpt_tensor x5 = tensor_of(five, F32, 0), x1 = tensor_of(v, F32, 0), y = empty(F32);
  dpt_tensor none = empty(F32);
  FAILS(dpt_softmax_forward(&y, &x5, 0, 0), "wanted 1 to 4 dimensions");
  FAILS(dpt_softmax_forward(&y, &x5, 0, 6), "argument 'dim' is 6, wanted 1 to 5");
  FAILS(dpt_norm_forward(&y, &y, &x1, NULL, NULL, 2, 1, 1, 0, 1e-5), "2 rows of 1 planes");
  FAILS(dpt_norm_forward(&y, &y, &x1, &x5, NULL, 1, 1, 3, 0, 1e-5), "'weight'");
  FAILS(dpt_norm_backward(&y, NULL, NULL, &x1, &x1, NULL, NULL, 1, 1, 3, 0, 1), "'save'");
  FAILS(dpt_norm_backward(&y, NULL, NULL, &x1, &x1, NULL, &x5, 1, 1, 3, 0, 1), "'save'");
  FAILS(dpt_softmax_forward(&y, &none, 1, 0), "logsoftmax: argument 'input'");
  FAILS(dpt_batchnorm_forward(&y, &y, &y, NULL, NULL, &x1, NULL, NULL, 1, 0.1, 1e-5), "NxC");
  FAILS(dpt_batchnorm_forward(&y, &y, &y, &x1, NULL, &x5, NULL, NULL, 1, 0.1, 1e-5),
        "'running_mean' is a torch.FloatTensor of size 3, wanted 1 elements");
  FAILS(dpt_prelu_forward(&y, &x5, &x1), "'weight'");
  dpt_tensor whole_numbers = tensor_of(v, DPT_I64, 0);
  FAILS(dpt_prelu_forward(&y, &whole_numbers, &x1), "'input' is a torch.LongTensor");
  FAILS(dpt_lrn_forward(&y, &y, &whole_numbers, 3, 1, 1, 1), "'input' is a torch.LongTensor");
  FAILS(dpt_softmax_forward(&y, &whole_numbers, 0, 0), "'input' is a torch.LongTensor");
  dpt_tensor_free(&whole_numbers);
  FAILS(dpt_lrn_forward(&y, &y, &x1, 3, 1, 1, 1), "wanted CxHxW");
  FAILS(dpt_lrn_forward(&y, &y, &x5, 2, 1, 1, 1), "wanted");
  dpt_tensor_free(&x5), dpt_tensor_free(&x1), dpt_tensor_free(&y);
  free(five.v), free(v.v);
}

int main(void) {
  layer_start();
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < torture(200); i++) {
      compare_softmax(kinds[k], i % 4 + 1, (int)whole(0, 1), (int)whole(0, 1));
      compare_batchnorm(kinds[k], i % 2, i / 2 % 2, i / 4 % 2, i / 8 % 2);
      compare_prelu(kinds[k], i % 2);
      compare_rows(kinds[k], i % 2, i / 2 % 2, i / 4 % 2, i / 8 % 2);
    }
    compare_lrn(kinds[k]);
  }
  refusals();
  return check_end();
}
