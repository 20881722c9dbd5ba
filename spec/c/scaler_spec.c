/* scaler_spec.c: compares a loss scaler with plain loops, and steps that have one with steps of the
 * divided gradient. */
#include "layer.h"
#include "ops/map.h"

static int double_kind(int kind) { return DPT_F64 | (kind & DPT_ON_DEVICE); }

static dpt_tensor numbers_of(int kind, const double *values, int64_t n) {
  array a = array_new(1, &n);
  memcpy(a.v, values, (size_t)n * sizeof *values);
  dpt_tensor t = tensor_of(a, double_kind(kind), 0);
  free(a.v);
  return t;
}

/* Returns true if t has these values; frees t. */
static int holds(dpt_tensor *t, const double *wanted, int64_t n) {
  array got = array_of(t);
  int same = got.n >= n;
  for (int64_t i = 0; i < n && same; i++) same = got.v[i] == wanted[i];
  free(got.v);
  return same;
}

static void numbers(int kind) {
  double s[] = {ldexp(1, (int)whole(-126, 127)), 1, 1, 0, 0};
  double growth = uniform(1.5, 9), backoff = uniform(0.1, 0.9);
  double every = (double)whole(1, 3);
  dpt_tensor scaler = numbers_of(kind, s, 5);
  for (int i = 0; i < 12; i++) {
    int choice = (int)whole(0, 5), type = dpt__dtype(kind), finite = choice > 2;
    double value = finite ? 3 : choice ? (choice - 1.5) * INFINITY : NAN;
    array one = array_fill(ARRAY(1), 0, 1);
    one.v[0] = value;
    dpt_tensor norm = tensor_of(one, kind, 0);
    OK(dpt_scaler_step(&scaler, &norm, growth, backoff, every));
    double factor = finite ? 1 / s[0] : 1, next = (float)(s[0] * (finite ? growth : backoff));
    s[1] = factor, s[2] = finite;
    s[3] = finite ? s[3] + 1 : 0, s[4] += !finite;
    if (!finite || s[3] == every) {
      s[0] = next == INFINITY ? s[0] : fmax(next, ldexp(1, -126));
      s[3] = 0;
    }
    one.v[0] = type == DPT_F64 ? 3 * factor : (double)(3 * (float)factor);
    if (finite && !dpt__is_reduced(type))
      CHECK(holds(&norm, one.v, 1));
    else
      dpt_tensor_free(&norm);
    free(one.v);
  }
  CHECK(holds(&scaler, s, 5));
}

static void scale_by(int kind) {
  array x = array_fill(ARRAY(whole(0, 3000), 2), -1, 1);
  double factor[] = {7, 0.3, 7};
  dpt_tensor all = numbers_of(kind, factor, 3), one = {.kind_ = all.kind_};
  OK(dpt_narrow(&one, &all, 0, 1, 1));
  for (int form = 0; form < 4; form++) {
    dpt_tensor tx = tensor_of(x, kind, form & 1), r = empty(kind), wanted = empty(kind);
    OK(dpt_map1(DPT__MAP_mul, &wanted, &tx, 0.3, 0));
    dpt_tensor *result = form & 2 ? &tx : &r;
    OK(dpt_scale_by(result, &tx, &one));
    array bits = array_of(&wanted);
    array got = array_of(result);
    CHECK(got.ndim == 2 && got.n == x.n && !memcmp(got.v, bits.v, (size_t)x.n * sizeof *x.v));
    free(got.v);
    if (!(form & 2)) same(&tx, x, 0, "the operand of scale_by");
    free(bits.v);
  }
  dpt_tensor_free(&all), dpt_tensor_free(&one);
  free(x.v);
}

enum { VECTORS = 8 }; /* x, g, v or m, v, vmax, rates, decays, copy */

typedef struct step {
  int kind, adam, strided, plain, amsgrad, vectors, decoupled, nesterov, copies;
  int64_t n;
  double decay;
} step;

static step random_step(int kind) {
  step s = {.kind = kind, .n = whole(1, 2) == 1 ? whole(1, 9) : whole(1000, 5000)};
  int *flags[] = {&s.adam, &s.strided, &s.plain, &s.amsgrad, &s.vectors, &s.decoupled, &s.nesterov};
  for (int i = 0; i < 7; i++) *flags[i] = (int)whole(0, 1);
  s.copies = dpt__dtype(kind) == DPT_F32 && whole(0, 1);
  s.decay = (double)whole(0, 1) / 8;
  return s;
}

/* Runs a step; scaler and count may be NULL. first: the first step. */
static int run(const step *s, dpt_tensor *t, double rate, double eps, double base, int first,
               const dpt_tensor *scaler, dpt_tensor *count, double rate_decay) {
  dpt_tensor *rates = s->vectors ? &t[5] : NULL, *decays = s->vectors ? &t[6] : NULL;
  dpt_tensor *copy = s->copies ? &t[7] : NULL;
  if (s->adam)
    return dpt_adam_mixed(&t[0], &t[1], &t[2], &t[3], s->amsgrad ? &t[4] : NULL, rates, decays,
                          rate, s->decay, 0.9, 0.99, eps, s->decoupled, base, copy, scaler, count,
                          rate_decay);
  return dpt_sgd_mixed(&t[0], &t[1], s->plain ? NULL : &t[2], rates, decays, rate, s->decay, 0.9,
                       0.5, s->nesterov, first, copy, scaler, count, rate_decay);
}

static void make(const step *s, dpt_tensor *t, array *a, double scale) {
  int wide = dpt__compute_dtype(dpt__dtype(s->kind)) | (s->kind & DPT_ON_DEVICE);
  for (int i = 0; i < VECTORS; i++) {
    array scaled = array_like(a[i]);
    for (int64_t k = 0; k < s->n; k++) scaled.v[k] = a[i].v[k] * (i == 1 ? scale : 1);
    int kind = i < 2 ? s->kind : i < 7 ? wide : DPT_F16 | (s->kind & DPT_ON_DEVICE);
    t[i] = tensor_of(scaled, kind, i < 7 && s->strided);
    free(scaled.v);
  }
}

/* Frees both lists; returns true if they have the same bits, except entry `but`. */
static int equal(dpt_tensor *t, dpt_tensor *other, int but) {
  int good = 1;
  for (int i = 0; i < VECTORS; i++) {
    array one = array_of(&t[i]), two = array_of(&other[i]);
    good = good && (i == but || !memcmp(one.v, two.v, (size_t)one.n * sizeof *one.v));
    free(one.v), free(two.v);
  }
  return good;
}

/* A step with a scaler has the bits of one whose gradient and numbers the host has computed; a
 * skipped one changes only the copy. */
static void compare_steps(int kind) {
  step s = random_step(kind);
  array a[VECTORS];
  for (int i = 0; i < VECTORS; i++) a[i] = array_fill(ARRAY(s.n), i == 3 || i == 4 ? 0 : -1, 1);
  double t = (double)whole(1, 50), age = (double)whole(1, (int64_t)t), rate = 0.1;
  double before[] = {t - 1, age - 1, 0, 0, 0}, after[] = {t, s.adam || s.plain ? age - 1 : age};
  double scaler[][5] = {{16, 0.125, 1, 0, 0}, {16, 1, 0, 0, 0}};
  for (int finite = 0; finite < 2; finite++) {
    dpt_tensor one[VECTORS], two[VECTORS], count = numbers_of(kind, before, 5);
    dpt_tensor numbers = numbers_of(kind, scaler[!finite], 5);
    make(&s, one, a, 8), make(&s, two, a, finite ? 1 : 8);
    double base = rate / (1 + (t - 1) * 0.3), root = s.adam ? sqrt(1 - pow(0.99, t)) : 1;
    double corrected = s.adam ? base * root / (1 - pow(0.9, t)) : base;
    OK(run(&s, one, rate, 1e-3, 77, 0, &numbers, &count, 0.3));
    if (finite)
      OK(run(&s, two, corrected, s.decoupled ? 1e-3 * root : 1e-3, base, age == 1, NULL, NULL, 0));
    else if (s.copies)
      OK(dpt_copy(&two[7], &two[0]));
    CHECK(equal(one, two, finite && dpt__is_reduced(dpt__dtype(kind)) ? 1 : -1));
    CHECK(holds(&count, finite ? after : before, 2));
    CHECK(holds(&numbers, scaler[!finite], 5));
  }
  for (int i = 0; i < VECTORS; i++) free(a[i].v);
}

/* Every allocation may fail; a later call succeeds. */
static void short_of_memory(int kind) {
  step s = {.kind = kind, .n = 9, .adam = 1, .strided = 1, .amsgrad = 1, .vectors = 1};
  static const double start[] = {16, 0.125, 1, 0, 0}, none[5];
  array a[VECTORS], three = array_fill(ARRAY(1), 1, 2);
  for (int i = 0; i < VECTORS; i++) a[i] = array_fill(ARRAY(s.n), 0, 1);
  for (int n = 1, failed = 1; failed; n++) {
    dpt_tensor t[VECTORS], scaler = numbers_of(kind, start, 5), count = numbers_of(kind, none, 5);
    dpt_tensor norm = tensor_of(three, kind, 1), factor = {.kind_ = scaler.kind_};
    char fault[32];
    make(&s, t, a, 1);
    OK(dpt_narrow(&factor, &scaler, 0, 1, 1));
    for (int again = 0; again < 2; again++) {
      snprintf(fault, sizeof fault, again ? "" : "malloc:%d", n);
      OK(dpt_fault_set(fault));
      int status = dpt_scaler_step(&scaler, &norm, 2, 0.5, 3) ||
                   dpt_scale_by(&t[1], &t[1], &factor) ||
                   run(&s, t, 1, 1, 1, 0, &scaler, &count, 0);
      OK(dpt_fault_set(""));
      CHECK(again ? !status : !status || strstr(dpt_message(), "memory"));
      if (!again) failed = status;
    }
    CHECK(failed || n > 3);
    for (int i = 0; i < VECTORS; i++) dpt_tensor_free(&t[i]);
    dpt_tensor_free(&scaler), dpt_tensor_free(&count), dpt_tensor_free(&norm);
    dpt_tensor_free(&factor);
  }
  for (int i = 0; i < VECTORS; i++) free(a[i].v);
  free(three.v);
}

static void refusals(void) {
  static const double values[6];
  array w = ARRAY(3);
  dpt_tensor x = tensor_of(w, F32, 0), there = tensor_of(w, CUDA, 0),
             longs = tensor_of(w, DPT_I64, 0);
  dpt_tensor five = numbers_of(F32, values, 5), six = numbers_of(F32, values, 6), r = empty(F32);
  dpt_tensor floats = empty(F32), distant = numbers_of(CUDA, values, 5),
             one = numbers_of(F32, values, 1);
  OK(dpt_resize(&floats, 1, (int64_t[]){5}));
  FAILS(dpt_scaler_step(&five, NULL, 2, 0.5, 1), "scaler_step: argument 'norm' is missing");
  FAILS(dpt_scaler_step(NULL, &one, 2, 0.5, 1), "argument 'scaler' is missing");
  FAILS(dpt_scaler_step(&five, &x, 2, 0.5, 1), "'norm' is a torch.FloatTensor of size 3");
  FAILS(dpt_scaler_step(&six, &one, 2, 0.5, 1), "'scaler' is a torch.DoubleTensor of size 6");
  FAILS(dpt_scaler_step(&floats, &one, 2, 0.5, 1), "'scaler' is a torch.FloatTensor, wanted a");
  FAILS(dpt_scaler_step(&distant, &one, 2, 0.5, 1), "'scaler' is a torch.CudaDoubleTensor");
  FAILS(dpt_scale_by(&r, NULL, &one), "scale_by: argument 'x' is missing");
  FAILS(dpt_scale_by(NULL, &x, &one), "argument 'r' is missing");
  FAILS(dpt_scale_by(&r, &x, NULL), "argument 'factor' is missing");
  FAILS(dpt_scale_by(&r, &x, &five), "'factor' is a torch.DoubleTensor of size 5");
  FAILS(dpt_scale_by(&r, &x, &x), "'factor' is a torch.FloatTensor of size 3, wanted a double");
  FAILS(dpt_scale_by(&r, &longs, &one), "'x' is a torch.LongTensor, wanted");
  FAILS(dpt_scale_by(&there, &there, &one), "'factor' is a torch.DoubleTensor, but");
  struct {
    dpt_tensor *scaler, *count;
    const char *text;
  } cases[] = {
      {&five, NULL, "argument 'count' is missing"},
      {NULL, &five, "argument 'scaler' is missing"},
      {&six, &five, "argument 'scaler' is a torch.DoubleTensor of size 6"},
      {&floats, &five, "argument 'scaler' is a torch.FloatTensor of size 5, wanted doubles"},
      {&distant, &five, "argument 'scaler' is a torch.CudaDoubleTensor, but"},
      {&five, &six, "argument 'count' is a torch.DoubleTensor of size 6"},
      {&five, &floats, "argument 'count' is a torch.FloatTensor, wanted"}};
  for (int i = 0; i < 7; i++) {
    const dpt_tensor *s = cases[i].scaler;
    dpt_tensor *c = cases[i].count;
    CHECK(dpt_sgd_mixed(&x, &x, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0, NULL, s, c, 0) &&
          strstr(dpt_message(), cases[i].text));
    CHECK(dpt_adam_mixed(&x, &x, &x, &x, NULL, NULL, NULL, 1, 0, 0, 0, 1, 0, 0, NULL, s, c, 0) &&
          strstr(dpt_message(), cases[i].text));
  }
  dpt_tensor *own[] = {&x, &there, &longs, &five, &six, &r, &floats, &distant, &one};
  for (int k = 0; k < 9; k++) dpt_tensor_free(own[k]);
  free(w.v);
}

int main(void) {
  layer_start();
  static const int on_host[] = {DPT_REDUCED_DTYPES(ID)};
  for (int i = 0; i < torture(400); i++)
    for (int k = 0; k < KINDS + 2; k++) {
      int kind = k < KINDS ? kinds[k] : on_host[k - KINDS];
      numbers(kind);
      scale_by(kind);
      compare_steps(kind);
    }
  short_of_memory(CUDA);
  short_of_memory(F32);
  refusals();
  return check_end();
}
