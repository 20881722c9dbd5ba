/* create_spec.c: tests tensors created by rule, concatenated, cut to triangles, convolved and
 * factored.
 *
 * Invariant: host and device agree with naive loops; operands that do not fit are rejected; the
 * result may be an operand.
 */
#include "samples.h"

static uint64_t seed;

static void ramps(int on) {
  static const double seven[] = {2, 4.5, 7}, down[] = {3, 1, -1}, powers[] = {0.1, 1, 10};
  dpt_tensor r = {.kind_ = DPT_F32 | on}, i = {.kind_ = DPT_I16 | on};
  OK(dpt_range(&r, 2, 8, 2.5));
  CHECK(dpt__count(&r) == 3);
  equals(&r, seven, 0, "range");
  OK(dpt_range(&i, 3, -2, -2));
  equals(&i, down, 0, "range");
  OK(dpt_logspace(&r, -1, 1, 3));
  equals(&r, powers, 1e-6, "logspace");
  OK(dpt_linspace(&r, 2, 7, 3));
  equals(&r, seven, 0, "linspace");
  FAILS(dpt_range(&r, 1, 2, 0), "step");
  FAILS(dpt_range(&i, 1, 2, 0.5), "step is 0"); /* truncated first */
  FAILS(dpt_range(&r, 2, 1, 1), "no way");
  FAILS(dpt_range(&r, 0, INFINITY, 1), "too many");
  FAILS(dpt_linspace(&r, 1, 2, 1), "linspace");
  FAILS(dpt_linspace(&i, 1, 2, 5), "reals");
  FAILS(dpt_eye(&r, 0, 3), "eye");
  dpt_tensor_free(&r);
  dpt_tensor_free(&i);
}

static void joins(int on) {
  int64_t size[] = {2, 3, 2}, at = 0, total = 0;
  int kind = DPT_I32 | on, dim = (int)draw(&seed, 3), n = 1 + (int)draw(&seed, 5);
  sample s[6];
  const dpt_tensor *list[6];
  for (int i = 0; i < n; i++) {
    int64_t here[] = {size[0], size[1], size[2]};
    total += here[dim] = 1 + (int64_t)draw(&seed, 3);
    s[i] = sample_new(&seed, kind, 3, here, 0, 9);
    list[i] = &s[i].t;
  }
  dpt_tensor r = {.kind_ = kind}, part = {.kind_ = kind};
  if (OK(dpt_cat(&r, n, list, dim))) CHECK(r.ndim_ == 3 && r.size_[dim] == total);
  for (int i = 0; i < n; at += s[i++].t.size_[dim])
    if (OK(dpt_narrow(&part, &r, dim, at, s[i].t.size_[dim]))) equals(&part, s[i].v, 0, "cat");
  const dpt_tensor *twice[] = {&s[0].t, &s[0].t};
  int64_t before = s[0].t.size_[0];
  OK(dpt_cat(&s[0].t, 2, twice, 0)); /* in place */
  CHECK(s[0].t.size_[0] == 2 * before);
  if (OK(dpt_narrow(&part, &s[0].t, 0, before, before))) equals(&part, s[0].v, 0, "second half");
  dpt_tensor_free(&r);
  dpt_tensor_free(&part);
  for (int i = 0; i < n; i++) sample_free(&s[i]);
}

static void triangles(void) {
  int64_t size[] = {1 + (int64_t)draw(&seed, 6), 1 + (int64_t)draw(&seed, 6)}, n = 1;
  int kind = random_kind(&seed), upper = (int)draw(&seed, 2);
  int64_t k = (int64_t)draw(&seed, 9) - 4;
  sample a = sample_new(&seed, kind, 2, size, 1, 3);
  double *line = calloc(7, sizeof *line), *want = calloc((size_t)a.n, sizeof *want);
  n = 0;
  for (int64_t i = 0; i < size[0]; i++)
    for (int64_t j = 0; j < size[1]; j++) {
      double x = a.v[i * size[1] + j];
      want[i * size[1] + j] = (upper ? j - i >= k : j - i <= k) ? x : 0;
      if (j - i == k) line[n++] = x;
    }
  dpt_tensor r = {.kind_ = kind}, d = {.kind_ = kind};
  if (n && OK(dpt_diag(&d, &a.t, k))) equals(&d, line, 0, "diag");
  if (!n) FAILS(dpt_diag(&d, &a.t, k), "diag");
  guard_start(&seed, &r, kind, 2, size);
  OK((upper ? dpt_triu : dpt_tril)(&r, &a.t, k));
  equals(&r, want, 0, "triangle");
  CHECK(guard_end(&r));
  OK((upper ? dpt_triu : dpt_tril)(&a.t, &a.t, k));
  equals(&a.t, want, 0, "triangle in place");
  dpt_tensor_free(&r);
  dpt_tensor_free(&d);
  sample_free(&a);
  free(line);
  free(want);
}

static void convolutions(void) {
  int kind = random_kind(&seed), full = (int)draw(&seed, 2), flip = (int)draw(&seed, 2);
  int64_t p = 1 + (int64_t)draw(&seed, 3), o = 1 + (int64_t)draw(&seed, 3);
  int64_t sk[] = {o, p, 1 + (int64_t)draw(&seed, 3), 1 + (int64_t)draw(&seed, 3)};
  int64_t sa[] = {p, sk[2] + (int64_t)draw(&seed, 4), sk[3] + (int64_t)draw(&seed, 4)};
  int64_t h = full ? sa[1] + sk[2] - 1 : sa[1] - sk[2] + 1;
  int64_t w = full ? sa[2] + sk[3] - 1 : sa[2] - sk[3] + 1;
  sample a = sample_new(&seed, kind, 3, sa, 0, 3), k = sample_new(&seed, kind, 4, sk, 0, 3);
  double *want = calloc((size_t)(o * h * w), sizeof *want);
  for (int64_t i = 0; i < o * h * w * p; i++) {
    int64_t q = i % p, x = i / p % w, y = i / p / w % h, out = i / p / w / h;
    double *sum = &want[(out * h + y) * w + x];
    for (int64_t v = 0; v < sk[2]; v++)
      for (int64_t u = 0; u < sk[3]; u++) {
        int64_t ay = y + v - (full ? sk[2] - 1 : 0), ax = x + u - (full ? sk[3] - 1 : 0);
        int64_t ky = flip ? sk[2] - 1 - v : v, kx = flip ? sk[3] - 1 - u : u;
        if (ay < 0 || ay >= sa[1] || ax < 0 || ax >= sa[2]) continue;
        *sum += a.v[(q * sa[1] + ay) * sa[2] + ax] * k.v[((out * p + q) * sk[2] + ky) * sk[3] + kx];
      }
  }
  for (int64_t i = 0; i < o * h * w && !dpt__is_real(dpt__dtype(kind)); i++)
    want[i] = wrapped(dpt__dtype(kind), (int64_t)want[i]);
  dpt_tensor r = {.kind_ = kind};
  if (OK(dpt_conv(&r, &a.t, &k.t, 2, full, flip)))
    equals(&r, want, limit_of(dpt__dtype(kind), 2e-3, 1e-6, 1e-6), "conv2");
  FAILS(dpt_conv(&r, &k.t, &a.t, 2, full, flip), "conv2");
  dpt_tensor_free(&r);
  sample_free(&a);
  sample_free(&k);
  free(want);
}

static int has_nan(const dpt_tensor *t) {
  double sum = 0;
  OK(dpt_reduce_all(dpt_reduction("sum"), t, 0, &sum));
  return isnan(sum);
}

/* Tests a * inverse(a) = 1, and systems that cannot be solved. */
static void factors(int on) {
  static const int64_t size[] = {5, 5}, two[] = {2, 5};
  int kind = DPT_F64 | on;
  sample a = sample_new(&seed, kind, 2, size, -1, 1), wide = sample_new(&seed, kind, 2, two, 0, 1);
  double one[25] = {0}, *v = a.v;
  for (int i = 0; i < 5; i++) one[6 * i] = 1, v[6 * i] += 8;
  put_numbers(&a.t, v);
  dpt_tensor r = {.kind_ = kind}, x = {.kind_ = kind}, e = {.kind_ = kind}, f = {.kind_ = DPT_F32};
  OK(dpt_inverse(&r, &a.t));
  OK(dpt_addmm(&x, 0, &a.t, 1, &a.t, &r));
  equals(&x, one, 1e-9, "inverse");
  OK(dpt_svd(&r, &e, &x, &a.t, "A"));
  CHECK(e.ndim_ == 1 && e.size_[0] == 5);
  FAILS(dpt_svd(&r, &e, &x, &a.t, "Q"), "SA");
  FAILS(dpt_inverse(&r, &wide.t), "square");
  FAILS(dpt_inverse(&f, &a.t), "one type");
  FAILS(dpt_gesv(&x, &r, &wide.t, &a.t), "rows");
  OK(dpt_fill(&a.t, 1));
  FAILS(dpt_inverse(&r, &a.t), "singular");
  FAILS(dpt_gesv(&x, &r, &a.t, &a.t), "singular");
  FAILS(dpt_potrf(&r, &a.t, "U"), "positive definite");
  /* NaN is not positive; factorizations without such a condition pass it on */
  v[12] = NAN;
  put_numbers(&a.t, v);
  FAILS(dpt_potrf(&r, &a.t, "U"), "positive definite (minor 3)");
  FAILS(dpt_potrf(&r, &a.t, "L"), "positive definite (minor 3)");
  CHECK(!dpt_inverse(&r, &a.t) && has_nan(&r));
  CHECK(!dpt_gesv(&x, &r, &a.t, &a.t) && has_nan(&x));
  CHECK(!dpt_gels(&x, &r, &a.t, &a.t) && has_nan(&x));
  CHECK(!dpt_qr(&x, &r, &a.t) && has_nan(&x) && has_nan(&r));
  dpt_tensor_free(&r);
  dpt_tensor_free(&x);
  dpt_tensor_free(&e);
  dpt_tensor_free(&f);
  sample_free(&a);
  sample_free(&wide);
}

static void rows(int on) {
  static const int64_t size[] = {2, 3}, line = 6;
  static const double v[] = {1, 2, 3, 4, 5, 6}, w[] = {2, 0, 1, 1, 1, 1};
  static const double cross[] = {2, 5, -4, -1, 2, -1}, bins[] = {2, 2, 2};
  static const double norms[] = {1, 2, 3, 2, 2.5, 3};
  dpt_tensor a = {0}, b = {0}, r = {.kind_ = DPT_F64 | on}, flat = {0};
  OK(dpt_tensor_new(&a, DPT_F64 | on, 2, size) || dpt_tensor_new(&b, DPT_F64 | on, 2, size));
  put_numbers(&a, v);
  put_numbers(&b, w);
  OK(dpt_cross(&r, &a, &b, -1));
  equals(&r, cross, 0, "cross");
  OK(dpt_histc(&r, &a, 3, 0, 0));
  equals(&r, bins, 0, "histc");
  OK(dpt_renorm(&r, &a, 1, 0, 7.5));
  equals(&r, norms, 1e-6, "renorm");
  OK(dpt_tensor_new(&flat, DPT_F64 | on, 1, &line));
  FAILS(dpt_cross(&r, &flat, &flat, -1), "size 3");
  FAILS(dpt_bhistc(&r, &flat, 3, 0, 1), "matrix");
  FAILS(dpt_histc(&r, &a, 0, 0, 1), "0 bins");
  FAILS(dpt_renorm(&r, &a, 0, 0, 1), "exponent");
  FAILS(dpt_tril(&r, &flat, 0), "matrix");
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&r);
  dpt_tensor_free(&flat);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int side = 0; side < 2; side++) {
    int on = side ? DPT_ON_DEVICE : 0;
    ramps(on);
    factors(on);
    rows(on);
    for (int i = 0; i < torture(100); i++) joins(on);
  }
  for (int i = 0; i < torture(500); i++) {
    triangles();
    convolutions();
  }
  return check_end();
}
