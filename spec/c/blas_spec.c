/* blas_spec.c: compares products with naive loops, and tests the guarantee of deterministic mode.
 *
 * Invariant: covers every element type, odd views, host and device. With beta 0 nothing is read. In
 * deterministic mode, the bits of a row depend neither on the other rows nor on the number of
 * threads.
 */
#include "base/element.h"
#include "samples.h"

static uint64_t seed;

/* Adds a * b to c; all are row-major. */
static void add_product(double *c, const double *a, const double *b, int64_t n, int64_t k,
                        int64_t m) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t l = 0; l < k; l++)
      for (int64_t j = 0; j < m; j++) c[i * m + j] += a[i * k + l] * b[l * m + j];
}

/* Returns the number as an element holds it: addbmm stores the sum after each product. */
static double stored(int dtype, double v) {
  double element = 0; /* large enough for every type */
  dpt__put_element(dtype, &element, v);
  return dpt__get_element(dtype, &element);
}

enum form { MM, MV, R, BMM, BADD, FORMS };

static void product(void) {
  enum form form = (enum form)draw(&seed, FORMS);
  int kind = random_kind(&seed), real = dpt__is_real(dpt__dtype(kind)), low = real ? -3 : 0;
  int64_t n = 1 + (int64_t)draw(&seed, 40), k = 1 + (int64_t)draw(&seed, 40);
  int64_t m = 1 + (int64_t)draw(&seed, 40), batch = 1 + (int64_t)draw(&seed, 4);
  double beta = (double)draw(&seed, 3), alpha = (double)draw(&seed, 3);
  if (form == MV) m = 1;
  if (form == R) k = 1;
  if (form < BMM) batch = 1;
  int64_t sa[] = {batch, n, k}, sb[] = {batch, k, m}, sm[] = {batch, n, m}, sr[] = {n, m};
  int many = form >= BMM, da = form == R ? 1 : 2 + many,
      db = form == MV || form == R ? 1 : 2 + many;
  int dm = form == MV ? 1 : form == BADD ? 3 : 2;
  sample a = sample_new(&seed, kind, da, many ? sa : sa + 1, low, 3);
  sample b = sample_new(&seed, kind, db, many ? sb : form == R ? sb + 2 : sb + 1, low, 3);
  sample x = sample_new(&seed, kind, dm, form == BADD ? sm : sr, low, 3);
  double *want = calloc((size_t)(batch * n * m), sizeof *want);
  for (int64_t i = 0; i < x.n; i++) want[i] = beta * x.v[i];
  for (int64_t i = 0; i < batch; i++) {
    double *part = calloc((size_t)(n * m), sizeof *part), *to = want;
    if (form == BADD) to += i * n * m;
    add_product(part, a.v + i * n * k, b.v + i * k * m, n, k, m);
    for (int64_t j = 0; j < n * m; j++) to[j] = stored(dpt__dtype(kind), to[j] + alpha * part[j]);
    free(part);
  }
  int (*const calls[])(dpt_tensor *, double, const dpt_tensor *, double, const dpt_tensor *,
                       const dpt_tensor *) = {dpt_addmm, dpt_addmv, dpt_addr, dpt_addbmm,
                                              dpt_baddbmm};
  if (beta == 0 && real) { /* must not be read */
    dpt_tensor all = whole_storage(&x.t);
    OK(dpt_fill(&all, NAN));
  }
  double limit = limit_of(dpt__dtype(kind), 2e-3, 1e-5, 1e-12);
  dpt_tensor r = {.kind_ = kind};
  guard_start(&seed, &r, kind, dm, form == BADD ? sm : sr);
  if (OK(calls[form](&r, beta, &x.t, alpha, &a.t, &b.t))) equals(&r, want, limit, "product");
  CHECK(guard_end(&r));
  if (OK(calls[form](&x.t, beta, &x.t, alpha, &a.t, &b.t))) /* in place */
    equals(&x.t, want, limit, "product in place");
  dpt_tensor_free(&r);
  sample_free(&a);
  sample_free(&b);
  sample_free(&x);
  free(want);
}

/* Returns a matrix of small integers; *turned is its transpose. */
static double *whole_numbers(int64_t rows, int64_t cols, double **turned) {
  double *v = calloc((size_t)(rows * cols), sizeof *v);
  *turned = calloc((size_t)(rows * cols), sizeof **turned);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      (*turned)[j * rows + i] = v[i * cols + j] = (double)draw(&seed, 7) - 3;
  return v;
}

static void dense_matrix(dpt_tensor *t, int dtype, int64_t rows, int64_t cols, const double *v,
                         const double *turned, int transposed) {
  dpt_tensor whole = {.kind_ = dtype};
  int64_t size[] = {transposed ? cols : rows, transposed ? rows : cols};
  OK(dpt_tensor_new(&whole, dtype, 2, size));
  put_numbers(&whole, transposed ? turned : v);
  *t = (dpt_tensor){.kind_ = dtype};
  OK(dpt_transpose(t, &whole, 0, transposed));
  dpt_tensor_free(&whole);
}

/* Tests dense operands, transposed or not, as in linear layers: few rows times a wide matrix, and
 * products large enough for any library. The sums are exact in float. */
static void dense(int dtype, int64_t n, int64_t k, int64_t m, double beta, int ta, int tb) {
  int64_t sr[] = {n, m};
  dpt_tensor a, b, r = {.kind_ = dtype};
  double *ua, *ub, *va = whole_numbers(n, k, &ua), *vb = whole_numbers(k, m, &ub);
  double *want = calloc((size_t)(n * m), sizeof *want);
  dense_matrix(&a, dtype, n, k, va, ua, ta);
  dense_matrix(&b, dtype, k, m, vb, ub, tb);
  OK(dpt_tensor_new(&r, dtype, 2, sr) || dpt_fill(&r, beta == 0 ? NAN : 3));
  add_product(want, va, vb, n, k, m);
  for (int64_t i = 0; i < n * m; i++)
    want[i] = stored(dtype, 2 * want[i] + (beta == 0 ? 0 : 3 * beta));
  if (OK(dpt_addmm(&r, beta, &r, 2, &a, &b))) equals(&r, want, 1e-5, "dense product");
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&r);
  free(va), free(vb), free(ua), free(ub), free(want);
}

/* The result tensor is also both operands. */
static void overlapping(void) {
  static const int64_t size[] = {7, 7};
  sample a = sample_new(&seed, DPT_F64, 2, size, -3, 3);
  double want[49] = {0};
  add_product(want, a.v, a.v, 7, 7, 7);
  OK(dpt_addmm(&a.t, 0, &a.t, 1, &a.t, &a.t));
  equals(&a.t, want, 1e-12, "square in place");
  sample_free(&a);
}

/* Computes rows first .. first + n of out from those of a by one call. */
static void some_rows(dpt_tensor *out, const dpt_tensor *a, const dpt_tensor *b, int64_t first,
                      int64_t n) {
  dpt_tensor rows = {.kind_ = a->kind_}, into = {.kind_ = a->kind_};
  OK(dpt_narrow(&rows, a, 0, first, n) || dpt_narrow(&into, out, 0, first, n));
  OK(dpt_addmm(&into, 0, &into, 1, &rows, b));
  dpt_tensor_free(&rows);
  dpt_tensor_free(&into);
}

static void deterministic(int dtype, int64_t rows, int64_t k, int64_t m, int transposed) {
  const int64_t sa[] = {rows, k}, sb[] = {transposed ? m : k, transposed ? k : m};
  const int64_t sc[] = {rows, m};
  dpt_tensor a = {0}, b = {0}, c[2] = {{0}, {0}};
  OK(dpt_tensor_new(&a, dtype, 2, sa) || dpt_tensor_new(&b, dtype, 2, sb));
  OK(dpt_tensor_new(&c[0], dtype, 2, sc) || dpt_tensor_new(&c[1], dtype, 2, sc));
  dpt_generator *g;
  OK(dpt_generator_new(&g));
  dpt_generator_manual_seed(g, draw(&seed, 1000));
  OK(dpt_random(dpt_distribution("normal"), &a, g, 0, 1));
  OK(dpt_random(dpt_distribution("normal"), &b, g, 0, 1));
  dpt_generator_free(g);
  if (transposed) OK(dpt_transpose(&b, &b, 0, 1));
  OK(dpt_threads_set(1));
  some_rows(&c[0], &a, &b, 0, rows);
  size_t bytes = (size_t)(rows * m) * dpt__dtype_size(dtype);
  for (int parts = 1; parts <= 8; parts++) {
    OK(dpt_threads_set(1 + parts % 3));
    int64_t first = 0;
    while (first < rows) {
      int64_t n = parts == 8 ? 1 + (int64_t)draw(&seed, 40) : (rows + parts - 1) / parts;
      if (n > rows - first) n = rows - first;
      some_rows(&c[1], &a, &b, first, n);
      first += n;
    }
    if (!CHECK(memcmp(dpt__at(&c[0]), dpt__at(&c[1]), bytes) == 0))
      printf("%lldx%lld by %lldx%lld%s in %d parts, type %d\n", (long long)rows, (long long)k,
             (long long)k, (long long)m, transposed ? " transposed" : "", parts, dtype);
  }
  OK(dpt_threads_set(2));
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&c[0]);
  dpt_tensor_free(&c[1]);
}

static void refusals(void) {
  static const int64_t two[] = {2, 3}, three[] = {3, 2};
  dpt_tensor a = doubles(2, two, NULL), b = doubles(2, three, NULL), r = {.kind_ = DPT_F64};
  dpt_tensor f = {0}, v = doubles(1, two, NULL), none = r;
  OK(dpt_tensor_new(&f, DPT_F32, 2, three));
  FAILS(dpt_addmm(&r, 1, &a, 1, &a, &a), "sizes do not fit: m is 2x3, a is 2x3, b is 2x3");
  FAILS(dpt_addmm(&r, 1, &a, 1, &a, &f), "'b' is a torch.FloatTensor");
  FAILS(dpt_addmm(&r, 0, &r, 1, &a, &b), "'m'");
  FAILS(dpt_addmv(&r, 0, &v, 1, &a, &b), "wanted a vector");
  FAILS(dpt_baddbmm(&r, 0, &v, 1, &a, &b), "wanted a 3-D tensor");
  FAILS(dpt_addr(&r, 0, &a, 1, &none, &v), "wanted a vector");
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&f);
  dpt_tensor_free(&v);
}

int main(void) {
  static const int64_t shapes[][3] = {{128, 1024, 10}, {128, 784, 1024}, {65, 100, 300},
                                      {31, 7, 1},      {100, 1, 33},     {33, 2000, 257}};
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int i = 0; i < torture(1500); i++) product();
  for (int dtype = DPT_F16; dtype <= DPT_F64; dtype++)
    for (double beta = 0; beta < 3; beta++) {
      for (int64_t n = 7; n <= 17; n += n == 8 ? 8 : 1) dense(dtype, n, 64, 8 * n, beta, 0, 1);
      for (int form = 0; form < 4; form++) {
        dense(dtype, 3, 1700, 333, beta, form & 1, form >> 1);
        dense(dtype, 130, 170, 99, beta, form & 1, form >> 1);
        dense(dtype, 18, 512, 131, beta, form & 1, form >> 1); /* row stride of 2 KiB */
        for (int64_t k = 31; k < 2000; k += 33 + 7 * k) {      /* vectors */
          dense(dtype, 1, k, 297, beta, form & 1, form >> 1);
          dense(dtype, 9001, k, 1, beta, form & 1, form >> 1);
        }
      }
    }
  overlapping();
  refusals();
  dpt_deterministic_set(1);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int type = DPT_F32; type <= DPT_F64; type++)
      for (int transposed = 0; transposed < 2; transposed++)
        deterministic(type, shapes[i][0], shapes[i][1], shapes[i][2], transposed);
  for (int i = 0; i < torture(300); i++) product();
  return check_end();
}
