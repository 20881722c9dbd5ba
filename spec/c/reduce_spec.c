/* reduce_spec.c: compares reductions, scans and sorting with naive loops.
 *
 * Invariant: covers every element type, host and device, odd views. Integers wrap if reduced over a
 * dimension and are wide if reduced over all elements. The first of equal elements is selected; NaN
 * wins. Results do not depend on the number of threads.
 */
#include "base/element.h"
#include "samples.h"

static uint64_t seed;
static const char *const ops[] = {"sum",  "prod", "mean", "var", "std",
                                  "norm", "max",  "min",  "all", "any"};

static int fits(const char *op, int dtype) {
  if (!strcmp(op, "mean") || !strcmp(op, "var") || !strcmp(op, "std") || !strcmp(op, "norm"))
    return dpt__is_real(dtype);
  return dtype == DPT_U8 || (strcmp(op, "all") && strcmp(op, "any"));
}

/* *at: the index of max or min. */
static double naive(const char *op, const double *v, int64_t n, int64_t step, double p,
                    int64_t *at) {
  double sum = 0, mean = 0, best = v[0];
  int64_t set = 0;
  *at = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = v[i * step];
    mean += x / (double)n;
    set += x != 0;
    if (isnan(best)) continue;
    if (isnan(x) || (!strcmp(op, "max") && x > best) || (!strcmp(op, "min") && x < best)) {
      best = x;
      *at = i;
    }
  }
  if (!strcmp(op, "max") || !strcmp(op, "min")) return best;
  if (!strcmp(op, "mean")) return mean;
  if (!strcmp(op, "all")) return set == n;
  if (!strcmp(op, "any")) return set > 0;
  if (!strcmp(op, "prod")) sum = 1;
  for (int64_t i = 0; i < n; i++) {
    double x = v[i * step];
    if (!strcmp(op, "sum"))
      sum += x;
    else if (!strcmp(op, "prod"))
      sum *= x;
    else if (!strcmp(op, "norm"))
      sum += p == 0 ? x != 0 : pow(fabs(x), p);
    else
      sum += (x - mean) * (x - mean);
  }
  if (!strcmp(op, "norm") && p != 0) return pow(sum, 1 / p);
  if (!strcmp(op, "var") || !strcmp(op, "std")) {
    sum /= (double)(p != 0 ? n : n - 1);
    if (!strcmp(op, "std")) sum = sqrt(sum);
  }
  return sum;
}

static double limit(int dtype) { return limit_of(dtype, 2e-3, 1e-6, 1e-12); }

static void one_dimension(const char *op, const sample *a, int dim, double p) {
  int kind = a->t.kind_, dtype = dpt__dtype(kind), n = a->t.ndim_;
  int64_t size[DPT_MAXDIM], count = a->n / a->t.size_[dim], step, at;
  double *want = calloc((size_t)count, sizeof *want), *place = calloc((size_t)count, sizeof *place);
  for (int d = 0; d < n; d++) size[d] = d == dim ? 1 : a->t.size_[d];
  for (int64_t i = 0; i < count; i++) {
    const double *v = a->v + slice_of(n, a->t.size_, dim, i, &step);
    want[i] = naive(op, v, a->t.size_[dim], step, p, &at);
    if (!dpt__is_real(dtype)) want[i] = wrapped(dtype, (int64_t)want[i]);
    place[i] = (double)at + 1;
  }
  dpt_tensor r = {.kind_ = kind}, idx = {.kind_ = DPT_I64 | (kind & DPT_ON_DEVICE)};
  int guarded = draw(&seed, 2) == 0, places = !strcmp(op, "max") || !strcmp(op, "min");
  if (guarded) {
    guard_start(&seed, &r, kind, n, size);
    guard_start(&seed, &idx, idx.kind_, n, size);
  }
  if (OK(dpt_reduce(dpt_reduction(op), &r, places ? &idx : NULL, &a->t, dim, p))) {
    for (int d = 0; d < n; d++) CHECK(r.size_[d] == size[d]);
    equals(&r, want, limit(dtype), op);
    if (places) equals(&idx, place, 0, "places");
    if (guarded) CHECK(guard_end(&r) && guard_end(&idx));
  }
  dpt_tensor_free(&r);
  dpt_tensor_free(&idx);
  free(want);
  free(place);
}

static void everything(const char *op, const sample *a, double p) {
  int64_t at;
  double value, want = naive(op, a->v, a->n, 1, p, &at);
  if (!OK(dpt_reduce_all(dpt_reduction(op), &a->t, p, &value))) return;
  if (!(fabs(value - want) <= 1e-12 * (1 + fabs(want))) && !(isnan(value) && isnan(want)))
    printf("%s of all, kind %d: %.17g, wanted %.17g\n", op, a->t.kind_, value, want),
        check_failures++;
}

static void reductions(int64_t count, int high) {
  int64_t size[DPT_MAXDIM];
  int kind = random_kind(&seed), n = random_size(&seed, count, size);
  int low = dpt__is_real(dpt__dtype(kind)) ? -high : 0;
  sample a = sample_new(&seed, kind, n, size, low, high);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    static const double ps[] = {0, 1, 2, 3};
    double p = ps[draw(&seed, strcmp(ops[i], "norm") ? 2 : 4)];
    if (!fits(ops[i], dpt__dtype(kind))) continue;
    int exact = strcmp(ops[i], "prod") || count < 8; /* products grow fast */
    if (exact) everything(ops[i], &a, p);
    if (exact) one_dimension(ops[i], &a, (int)draw(&seed, (uint64_t)n), p);
  }
  sample_free(&a);
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

static void pairs(int64_t count) {
  int64_t size[DPT_MAXDIM], other[DPT_MAXDIM];
  int kind = random_kind(&seed), n = random_size(&seed, count, size);
  int m = random_size(&seed, count, other), real = dpt__is_real(dpt__dtype(kind)), same;
  sample a = sample_new(&seed, kind, n, size, real ? -3 : 0, 3);
  sample b = sample_new(&seed, kind, m, other, real ? -3 : 0, 3);
  double dot = 0, far = 0, value;
  for (int64_t i = 0; i < count; i++) {
    dot += a.v[i] * b.v[i];
    far += fabs(a.v[i] - b.v[i]);
  }
  if (OK(dpt_dot(&a.t, &b.t, &value))) CHECK(fabs(value - dot) <= 1e-12 * (1 + fabs(dot)));
  if (real && OK(dpt_dist(&a.t, &b.t, 1, &value)))
    CHECK(fabs(value - far) <= 1e-12 * (1 + fabs(far)));
  sample c = sample_new(&seed, kind, n, size, 0, 1);
  put_numbers(&c.t, a.v);
  if (OK(dpt_equal(&a.t, &c.t, &same))) CHECK(same);
  a.v[count / 2] += 1;
  put_numbers(&c.t, a.v);
  if (OK(dpt_equal(&a.t, &c.t, &same))) CHECK(!same);
  sample_free(&a);
  sample_free(&b);
  sample_free(&c);
}

/* ---- scans, sorting ------------------------------------------------------------------------- */

static void scans(int64_t count) {
  int64_t size[DPT_MAXDIM], step;
  int kind = random_kind(&seed), n = random_size(&seed, count, size), dtype = dpt__dtype(kind);
  int dim = (int)draw(&seed, (uint64_t)n), product = (int)draw(&seed, 2);
  sample a = sample_new(&seed, kind, n, size, 0, product ? 1 : 3);
  double *want = calloc((size_t)a.n, sizeof *want);
  for (int64_t i = 0; i < a.n / size[dim]; i++) {
    int64_t first = slice_of(n, size, dim, i, &step);
    double sum = product;
    for (int64_t k = 0; k < size[dim]; k++) {
      double x = a.v[first + k * step];
      sum = product ? sum * x : sum + x;
      want[first + k * step] = dpt__is_real(dtype) ? sum : wrapped(dtype, (int64_t)sum);
    }
  }
  dpt_tensor r = {.kind_ = kind};
  guard_start(&seed, &r, kind, n, size);
  OK((product ? dpt_cumprod : dpt_cumsum)(&r, &a.t, dim));
  equals(&r, want, limit(dtype), product ? "cumprod" : "cumsum");
  CHECK(guard_end(&r));
  OK((product ? dpt_cumprod : dpt_cumsum)(&a.t, &a.t, dim)); /* in place */
  equals(&a.t, want, limit(dtype), "scan in place");
  dpt_tensor_free(&r);
  sample_free(&a);
  free(want);
}

static int goes_before(double x, double y, int descending) {
  if (isnan(x) || isnan(y)) return descending ? isnan(x) && !isnan(y) : !isnan(x) && isnan(y);
  return descending ? x > y : x < y;
}

static void sorting(int64_t count) {
  int64_t size[DPT_MAXDIM], step;
  int kind = random_kind(&seed), n = random_size(&seed, count, size), dtype = dpt__dtype(kind);
  int dim = (int)draw(&seed, (uint64_t)n), descending = (int)draw(&seed, 2);
  int64_t many = size[dim], k = 1 + (int64_t)draw(&seed, (uint64_t)many), small[DPT_MAXDIM];
  sample a = sample_new(&seed, kind, n, size, 0, 60);
  if (dpt__is_real(dtype)) {
    a.v[draw(&seed, (uint64_t)a.n)] = NAN;
    a.v[draw(&seed, (uint64_t)a.n)] = -INFINITY;
    put_numbers(&a.t, a.v);
  }
  double *want = calloc((size_t)a.n, sizeof *want), *place = calloc((size_t)a.n, sizeof *place);
  double *first_k = calloc((size_t)a.n, sizeof *want), *kth = calloc((size_t)a.n, sizeof *want);
  memcpy(small, size, sizeof size);
  small[dim] = k;
  for (int64_t i = 0; i < a.n / many; i++) {
    int64_t from = slice_of(n, size, dim, i, &step), to = slice_of(n, small, dim, i, &step);
    for (int64_t x = 0; x < many; x++) {
      int64_t rank = 0;
      for (int64_t y = 0; y < many; y++) {
        double p = a.v[from + x * step], q = a.v[from + y * step];
        rank += goes_before(q, p, descending) || (!goes_before(p, q, descending) && y < x);
      }
      want[from + rank * step] = a.v[from + x * step];
      place[from + rank * step] = (double)x + 1;
      if (rank < k) first_k[to + rank * step] = a.v[from + x * step];
      if (rank == k - 1) kth[i] = a.v[from + x * step];
    }
  }
  dpt_tensor r = {.kind_ = kind}, idx = {.kind_ = DPT_I64 | (kind & DPT_ON_DEVICE)};
  guard_start(&seed, &r, kind, n, size);
  OK(dpt_sort(&r, &idx, &a.t, dim, descending));
  equals(&r, want, 0, "sort");
  equals(&idx, place, 0, "places of sort");
  CHECK(guard_end(&r));
  OK(dpt_topk(&r, &idx, &a.t, k, dim, descending, 1));
  equals(&r, first_k, 0, "topk");
  if (!descending) {
    OK(dpt_kthvalue(&r, &idx, &a.t, k, dim));
    equals(&r, kth, 0, "kthvalue");
  }
  OK(dpt_sort(&a.t, &idx, &a.t, dim, descending)); /* into itself */
  equals(&a.t, want, 0, "sort in place");
  dpt_tensor_free(&r);
  dpt_tensor_free(&idx);
  sample_free(&a);
  free(want);
  free(place);
  free(first_k);
  free(kth);
}

/* ---- others -----------------------------------------------------------------------------------
 */

/* A reduction has the same bits with one thread as with four. */
static void threads(const int64_t size[3]) {
  dpt_tensor t = {.kind_ = DPT_F32}, r[2];
  OK(dpt_tensor_new(&t, DPT_F32, 3, size));
  float *x = dpt__at(&t);
  for (int64_t i = 0; i < dpt__count(&t); i++) x[i] = (float)draw(&seed, 1 << 20) / 7 - 5e4f;
  for (int op = 0; op < 8; op++)
    for (int dim = 0; dim < 3; dim++) {
      double value[2];
      for (int k = 0; k < 2; k++) {
        r[k] = (dpt_tensor){.kind_ = DPT_F32};
        OK(dpt_threads_set(k ? 4 : 1));
        OK(dpt_reduce(op, &r[k], NULL, &t, dim, 3) || dpt_reduce_all(op, &t, 3, &value[k]));
      }
      CHECK(memcmp(dpt__at(&r[0]), dpt__at(&r[1]), 4 * (size_t)dpt__count(&r[0])) == 0);
      CHECK(memcmp(&value[0], &value[1], sizeof *value) == 0);
      for (int k = 0; k < 2; k++) dpt_tensor_free(&r[k]);
    }
  OK(dpt_threads_set(2));
  dpt_tensor_free(&t);
}

/* Sums the columns of a large matrix, in strips of full width; sums of these floats are exact. */
static void wide(void) {
  enum { ROWS = 531, COLS = 2107 };
  dpt_tensor t = {.kind_ = DPT_F32}, r = {.kind_ = DPT_F32};
  OK(dpt_tensor_new(&t, DPT_F32, 2, (const int64_t[]){ROWS, COLS}));
  static float want[COLS];
  float *x = dpt__at(&t);
  for (int64_t i = 0; i < ROWS * COLS; i++) {
    x[i] = (float)draw(&seed, 1000) - 500;
    want[i % COLS] += x[i];
  }
  OK(dpt_reduce(dpt_reduction("sum"), &r, NULL, &t, 0, 0));
  CHECK(memcmp(dpt__at(&r), want, sizeof want) == 0);
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
}

/* Rows that are reduced together have the same bits as rows reduced one by one; a transposed matrix
 * has the same sum. */
static void side_by_side(int64_t rows, int64_t cols) {
  dpt_tensor t = {.kind_ = DPT_F32}, r = {.kind_ = DPT_F32};
  OK(dpt_tensor_new(&t, DPT_F32, 2, (const int64_t[]){rows, cols}));
  float *x = dpt__at(&t);
  double value, turned;
  int sum = dpt_reduction("sum");
  for (int64_t i = 0; i < rows * cols; i++) x[i] = (float)draw(&seed, 1 << 20) / 7 - 5e4f;
  OK(dpt_reduce(sum, &r, NULL, &t, 1, 0));
  const float *got = dpt__at(&r);
  dpt_tensor row = t; /* does not own its storage */
  row.ndim_ = 1;
  row.size_[0] = cols;
  row.stride_[0] = 1;
  for (int64_t i = 0; i < rows; i++) {
    row.offset_ = t.offset_ + i * cols;
    OK(dpt_reduce_all(sum, &row, 0, &value));
    CHECK(got[i] == (float)value);
  }
  dpt_tensor other = t;
  other.size_[0] = cols;
  other.size_[1] = rows;
  other.stride_[0] = 1;
  other.stride_[1] = cols;
  OK(dpt_reduce_all(sum, &t, 0, &value) || dpt_reduce_all(sum, &other, 0, &turned));
  CHECK(value == turned);
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
}

/* Returns true if the bits are equal, or both are NaN. */
static int same(double x, double y) { return memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); }

/* Elements without gaps, at any address, are reduced to the bits of elements with gaps: by other
 * code if they are floats or reduced. Bits are random: with NaN and infinities, or without. */
static void dense(int dtype, int64_t rows, int64_t cols) {
  static const struct {
    const char *op;
    double p;
  } kinds[] = {{"sum", 0}, {"norm", 1}, {"norm", 2}, {"max", 0}, {"min", 0}};
  dpt_tensor t = {.kind_ = dtype}, apart = t, r[2];
  const int64_t width = (int64_t)dpt__dtype_size(dtype), down = 2 * cols + 1;
  const int64_t size[] = {rows, down};
  OK(dpt_tensor_new(&t, dtype, 2, size) || dpt_tensor_new(&apart, dtype, 2, size));
  char *x = dpt__at(&t), *y = dpt__at(&apart), any = (char)(draw(&seed, 2) ? 0xff : 0xbf);
  const int64_t shift = (int64_t)draw(&seed, (uint64_t)cols + 1), zeros = draw(&seed, 3) == 0;
  for (int64_t i = 0; i < rows * down * width; i++)
    x[i] = (char)(draw(&seed, 256) & (uint64_t)(i % width < width - 1 ? 0xff : any));
  for (int64_t i = 0; i < rows * down && zeros; i++) { /* the greatest is 0 or -0 */
    char *top = x + (i + 1) * width - 1;
    if (draw(&seed, 2))
      *top |= (char)0x80;
    else
      memset(x + i * width, 0, (size_t)width - 1), *top &= (char)0x80;
  }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      memcpy(y + (i * down + 2 * j) * width, x + (i * down + j + shift) * width, (size_t)width);
  t.size_[1] = apart.size_[1] = cols;
  t.offset_ += shift;
  apart.stride_[1] = 2;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int op = dpt_reduction(kinds[k].op);
    double value[2];
    OK(dpt_reduce_all(op, &t, kinds[k].p, &value[0]));
    OK(dpt_reduce_all(op, &apart, kinds[k].p, &value[1]));
    if (!CHECK(same(value[0], value[1])))
      printf("%s of %s: %a %a\n", kinds[k].op, dpt__dtype_name(dtype), value[0], value[1]);
    for (int dim = 0; dim < 2; dim++) {
      r[0] = r[1] = (dpt_tensor){.kind_ = dtype};
      OK(dpt_reduce(op, &r[0], NULL, &t, dim, kinds[k].p));
      OK(dpt_reduce(op, &r[1], NULL, &apart, dim, kinds[k].p));
      for (int64_t i = 0; i < dpt__count(&r[0]); i++)
        CHECK(same(dpt__get_element(dtype, (char *)dpt__at(&r[0]) + i * width),
                   dpt__get_element(dtype, (char *)dpt__at(&r[1]) + i * width)));
      dpt_tensor_free(&r[0]);
      dpt_tensor_free(&r[1]);
    }
  }
  dpt_tensor_free(&t);
  dpt_tensor_free(&apart);
}

static void long_ones(void) {
  static const int64_t n = 100000;
  dpt_tensor t = {.kind_ = DPT_I64}, r = {.kind_ = DPT_I64}, idx = {.kind_ = DPT_I64};
  double value;
  OK(dpt_range(&t, 1, (double)n, 1));
  OK(dpt_reduce_all(dpt_reduction("sum"), &t, 0, &value));
  CHECK(value == (double)n * (double)(n + 1) / 2);
  OK(dpt_reduce(dpt_reduction("max"), &r, &idx, &t, 0, 0));
  CHECK(*(int64_t *)dpt__at(&idx) == n && *(int64_t *)dpt__at(&r) == n);
  OK(dpt_sort(&r, &idx, &t, 0, 1));
  CHECK(*(int64_t *)dpt__at(&r) == n && *(int64_t *)dpt__at(&idx) == n);
  /* 2^62 + 1 is not exact in any float type: integers are never converted to one. */
  ((int64_t *)dpt__at(&t))[7] = ((int64_t)1 << 62) + 1;
  OK(dpt_reduce(dpt_reduction("max"), &r, &idx, &t, 0, 0));
  CHECK(*(int64_t *)dpt__at(&r) == ((int64_t)1 << 62) + 1 && *(int64_t *)dpt__at(&idx) == 8);
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
  dpt_tensor_free(&idx);
}

static void modes(void) {
  static const int64_t size[] = {2, 6};
  static const double v[] = {3, 1, 1, 3, 2, 9, 5, 5, 4, 4, 4, 5}, want[] = {1, 4}, at[] = {3, 5};
  dpt_tensor t = doubles(2, size, v), r = {.kind_ = DPT_F64}, idx = {.kind_ = DPT_I64};
  OK(dpt_mode(&r, &idx, &t, 1));
  equals(&r, want, 0, "mode");
  equals(&idx, at, 0, "place of the mode");
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
  dpt_tensor_free(&idx);
}

static void refusals(void) {
  static const int64_t size[] = {2, 3};
  dpt_tensor bytes = {0}, t = doubles(2, size, NULL), r = {.kind_ = DPT_F64}, none = r;
  dpt_tensor idx = {.kind_ = DPT_I32}, places = {.kind_ = DPT_I64};
  double value;
  OK(dpt_tensor_new(&bytes, DPT_U8, 2, size));
  int sum = dpt_reduction("sum"), max = dpt_reduction("max"), mean = dpt_reduction("mean");
  CHECK(dpt_reduction("nonsense") == -1);
  FAILS(dpt_reduce(99, &r, NULL, &t, 0, 0), "no reduction");
  FAILS(dpt_reduce(sum, &r, NULL, &t, 2, 0), "dimension 3 is out of range");
  FAILS(dpt_reduce(sum, &r, NULL, &t, -1, 0), "dimension 0 is out of range");
  FAILS(dpt_reduce(sum, &r, NULL, &bytes, 0, 0), "torch.DoubleTensor");
  FAILS(dpt_reduce(max, &r, &idx, &t, 0, 0), "torch.LongTensor");
  FAILS(dpt_reduce_all(mean, &bytes, 0, &value), "tensor of reals");
  FAILS(dpt_reduce_all(dpt_reduction("all"), &t, 0, &value), "tensor of bytes");
  FAILS(dpt_reduce_all(max, &none, 0, &value), "no elements");
  OK(dpt_reduce_all(sum, &none, 0, &value));
  CHECK(value == 0);
  static const double zeros[] = {0, 0, 0};
  OK(dpt_resize(&none, 2, (int64_t[]){0, 3})); /* a batch without rows */
  if (OK(dpt_reduce(sum, &r, NULL, &none, 0, 0))) equals(&r, zeros, 0, "sum of no rows");
  FAILS(dpt_reduce(max, &r, NULL, &none, 0, 0), "no elements");
  FAILS(dpt_dot(&t, &bytes, &value), "'b'");
  FAILS(dpt_topk(&r, &places, &t, 4, 1, 1, 1), "k is 4");
  FAILS(dpt_kthvalue(&r, &places, &t, 0, 1), "k is 0");
  FAILS(dpt_cumsum(&r, &t, 5), "dimension 6 is out of range");
  dpt_tensor_free(&bytes);
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
  dpt_tensor_free(&places);
  dpt_tensor_free(&none);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int i = 0; i < torture(400); i++) {
    reductions(1 + (int64_t)draw(&seed, 200), 3);
    pairs(1 + (int64_t)draw(&seed, 100));
    scans(1 + (int64_t)draw(&seed, 100));
    sorting(1 + (int64_t)draw(&seed, 150));
  }
  for (int i = 0; i < torture(40); i++) reductions(30000 + 720 * (int64_t)draw(&seed, 50), 2);
  threads((const int64_t[]){37, 11, 613});
  threads((const int64_t[]){301, 3, 1507});
  wide();
  for (int64_t rows = 1; rows < 12; rows++)
    for (int64_t cols = 1; cols < 50000; cols = 3 * cols + (int64_t)draw(&seed, 100))
      side_by_side(rows, cols);
  side_by_side(700, 61);
  for (int i = 0; i < torture(300); i++)
    dense(DPT_F16 + (int)draw(&seed, 3), 1 + (int64_t)draw(&seed, 70),
          1 + (int64_t)draw(&seed, i % 10 ? 100 : 3000));
  long_ones();
  modes();
  refusals();
  return check_end();
}
