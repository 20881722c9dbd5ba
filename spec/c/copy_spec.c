/* copy_spec.c: tests conversions between all types, and copies between host and devices.
 *
 * Invariant: conversions have the results of C on x86; those of integers are exact, those to
 * reduced types round to nearest even. When dpt_copy returns, ordinary host memory has been read or
 * written; a read does not wait for earlier work of the stream. Copies between devices order the
 * two streams, also under random delays. Only bytes copied between devices are counted, in the
 * smaller type.
 */
#include "base/element.h"
#include "device/counter.h"
#include "gate.h"
#include "views.h"
#include <math.h>

static uint64_t seed;

/* ---- conversions ------------------------------------------------------------------------------
 */

typedef struct number {
  int real;
  double d;
  int64_t i;
} number;

static number load(int dtype, const void *p) {
  switch (dtype) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    return (number){0, 0, *(const type *)p};
    DPT_INTEGER_DTYPES(X)
#undef X
  }
  return (number){1, dpt__get_element(dtype, p), 0};
}

static double value_of(int dtype, uint16_t bits) {
  double element = 0; /* large enough for every type */
  memcpy(&element, &bits, sizeof bits);
  return dpt__get_element(dtype, &element);
}

/* Returns the nearest of all finite numbers of a reduced type and infinity, ties to even. */
static uint16_t nearest(int dtype, double x) {
  static double values[DPT_NDTYPE][0x8000];
  double *value = values[dtype], size = fabs(x);
  int fraction = dpt__dtype_bits(dtype) - 1;
  uint16_t high = (uint16_t)(0x7fff >> fraction << fraction), low = 0;
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x)) return high | (uint16_t)(1 << (fraction - 1));
  if (value[high] == 0) {
    for (uint16_t i = 0; i < high; i++) value[i] = value_of(dtype, i);
    value[high] = 2 * value[high - 1] - value[high - 2]; /* where the next number would be */
  }
  if (size >= value[high]) return sign | high;
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if (value[middle] <= size)
      low = middle;
    else
      high = middle;
  }
  double down = size - value[low], up = value[high] - size;
  return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
}

static int64_t truncated(double x, int narrow) {
  if (narrow) return x > -2147483649. && x < 2147483648. ? (int32_t)x : INT32_MIN;
  return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static int agrees(int to, const void *p, number x) {
  int64_t i = x.real ? truncated(x.d, to != DPT_I64) : x.i;
  number got = load(to, p);
  switch (to) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    return got.i == (type)i;
    DPT_INTEGER_DTYPES(X)
#undef X
  case DPT_F32:
    return x.real ? (float)x.d == (float)got.d || isnan(x.d) : (float)x.i == got.d;
  case DPT_F64:
    return x.real ? x.d == got.d || isnan(x.d) : (double)x.i == got.d;
  default:
    return *(const uint16_t *)p == nearest(to, x.real ? x.d : (double)x.i) ||
           (isnan(x.d) && isnan(got.d)); /* whether a NaN keeps its payload is not specified */
  }
}

static void put_random(int dtype, char *p) {
  static const double odd[] = {0.,        -0.,
                               NAN,       INFINITY,
                               -INFINITY, 0.5,
                               -0.5,      1.9,
                               -1.9,      300,
                               -129,      70000,
                               3e9,       -3e9,
                               1e19,      -1e19,
                               65519,     65519.99,
                               65520,     2049,
                               2051,      1e-7,
                               6e-8,      3e-8,
                               2.9e-8,    5.9604644775390625e-08,
                               16777217,  4294967297.,
                               1e-40,     1e300};
  uint64_t bits = draw(&seed, UINT64_MAX);
  double x = odd[draw(&seed, sizeof odd / sizeof *odd)];
  if (draw(&seed, 4) == 0) { /* near the midpoint of two numbers, closer than float can tell */
    static const int reduced[] = {DPT_REDUCED_DTYPES(ID)};
    int type = reduced[draw(&seed, sizeof reduced / sizeof *reduced)];
    int fraction = dpt__dtype_bits(type) - 1;
    uint16_t low = (uint16_t)(bits % (uint64_t)((0x7fff >> fraction << fraction) - 1));
    x = (value_of(type, low) + value_of(type, low + 1)) / 2;
    if (draw(&seed, 3)) x *= draw(&seed, 2) ? 1 + 0x1p-40 : 1 - 0x1p-40;
  } else if (draw(&seed, 2))
    x = ldexp((double)(int64_t)bits, -(int)draw(&seed, 80) - 20);
  uint16_t half = (uint16_t)bits;
  float single = (float)x;
  if (dpt__is_reduced(dtype))
    memcpy(p, &half, 2);
  else if (dtype == DPT_F32)
    memcpy(p, &single, 4);
  else if (dtype == DPT_F64)
    memcpy(p, &x, 8);
  else
    memcpy(p, &bits, dpt__dtype_size(dtype));
}

static void conversion(int to, int from) {
  int64_t size[DPT_MAXDIM], count = 240;
  dpt_tensor r, a;
  int n = random_size(&seed, count, size);
  random_view(&seed, &r, to, n, size, 0);
  if (draw(&seed, 2)) n = random_size(&seed, count, size);
  random_view(&seed, &a, from, n, size, 1);
  for (int64_t i = 0; i < a.storage_->size; i++)
    put_random(from, (char *)a.storage_->data + i * (int64_t)dpt__dtype_size(from));
  OK(dpt_copy(&r, &a));
  for (int64_t i = 0; i < count; i++) {
    const char *p = (char *)dpt__at(&a) + place_of(&a, i) * (int64_t)dpt__dtype_size(from);
    const char *q = (char *)dpt__at(&r) + place_of(&r, i) * (int64_t)dpt__dtype_size(to);
    number x = load(from, p), y = load(to, q);
    if (!agrees(to, q, x)) {
      CHECK(!"conversion");
      printf("%s %.17g %lld to %s gave %.17g %lld\n", dpt__dtype_name(from), x.d, (long long)x.i,
             dpt__dtype_name(to), y.d, (long long)y.i);
    }
  }
  dpt_tensor_free(&r);
  dpt_tensor_free(&a);
}

/* dpt_put and dpt_fill convert a number as a copy from f64 does. */
static void numbers(int dtype) {
  dpt_tensor one = {0}, filled = {0}, source = {0}, copied = {0};
  OK(dpt_tensor_new(&source, DPT_F64, 1, (int64_t[]){1}));
  OK(dpt_tensor_new(&one, dtype, 1, (int64_t[]){1}));
  OK(dpt_tensor_new(&filled, dtype, 2, (int64_t[]){3, 5}));
  OK(dpt_tensor_new(&copied, dtype, 1, (int64_t[]){1}));
  for (int round = 0; round < 300; round++) {
    double x;
    put_random(DPT_F64, dpt__at(&source));
    memcpy(&x, dpt__at(&source), 8);
    OK(dpt_put(&one, 0, x));
    OK(dpt_fill(&filled, x));
    OK(dpt_copy(&copied, &source));
    CHECK(!memcmp(dpt__at(&one), dpt__at(&copied), dpt__dtype_size(dtype)) || isnan(x));
    CHECK(!memcmp((char *)dpt__at(&filled) + 14 * dpt__dtype_size(dtype), dpt__at(&copied),
                  dpt__dtype_size(dtype)) ||
          isnan(x));
  }
  dpt_tensor_free(&one);
  dpt_tensor_free(&filled);
  dpt_tensor_free(&source);
  dpt_tensor_free(&copied);
}

/* Copies between overlapping views of one storage: the result is as if a had been read first. */
static void overlapping(void) {
  dpt_tensor t = {0}, r = {.kind_ = DPT_I32}, a = {.kind_ = DPT_I32};
  int32_t before[40], *p;
  OK(dpt_tensor_new(&t, DPT_I32, 1, (int64_t[]){40}));
  p = dpt_tensor_data(&t);
  for (int round = 0; round < torture(5000); round++) {
    int64_t size[2] = {1 + (int64_t)draw(&seed, 4), 1 + (int64_t)draw(&seed, 4)};
    OK(dpt_set_storage(&r, t.storage_, (int64_t)draw(&seed, 8), 2, size,
                       (int64_t[]){size[1] + (int64_t)draw(&seed, 3), 1}));
    OK(dpt_set_storage(&a, t.storage_, (int64_t)draw(&seed, 8), 2, size,
                       (int64_t[]){1 + (int64_t)draw(&seed, 5), 1 + (int64_t)draw(&seed, 4)}));
    for (int i = 0; i < 40; i++) p[i] = before[i] = i;
    OK(dpt_copy(&r, &a));
    int good = 1;
    for (int64_t i = 0; i < dpt_count(&r); i++)
      good &= p[r.offset_ + place_of(&r, i)] == before[a.offset_ + place_of(&a, i)];
    CHECK(good);
  }
  dpt_tensor_free(&t);
  dpt_tensor_free(&r);
  dpt_tensor_free(&a);
}

/* ---- devices ----------------------------------------------------------------------------------
 */

static int equal(const dpt_tensor *a, const dpt_tensor *b) {
  double x = 0, y = 0;
  for (int64_t i = 0; i < dpt_count(a); i++)
    if (dpt_get(a, place_of(a, i), &x) || dpt_get(b, place_of(b, i), &y) || x != y) return 0;
  return 1;
}

/* Copies host -> device -> other device -> host between random views and types; each source is
 * overwritten at once. */
static void round_trip(void) {
  static const int dtypes[] = {DPT_U8, DPT_I16, DPT_I64, DPT_F32, DPT_F64, DPT_REDUCED_DTYPES(ID)};
  int64_t size[DPT_MAXDIM], count = 60;
  int n = random_size(&seed, count, size), type[4];
  dpt_tensor start, one, two, end, want;
  for (int i = 0; i < 4; i++) type[i] = dtypes[draw(&seed, sizeof dtypes / sizeof *dtypes)];
  random_view(&seed, &start, type[0], n, size, 1);
  OK(dpt_device_set(1));
  random_view(&seed, &one, type[1] | DPT_ON_DEVICE, n, size, 0);
  OK(dpt_device_set(2));
  random_view(&seed, &two, type[2] | DPT_ON_DEVICE, n, size, 0);
  random_view(&seed, &end, type[3], n, size, 0);
  OK(dpt_tensor_new(&want, type[0], n, size));
  for (int64_t i = 0; i < start.storage_->size; i++)
    OK(dpt_put(&start, i - start.offset_, (double)draw(&seed, 100)));
  OK(dpt_copy(&want, &start));
  OK(dpt_device_set(1 + (int)draw(&seed, 2)));
  OK(dpt_copy(&one, &start));
  OK(dpt_fill(&start, 7)); /* has been read */
  OK(dpt_copy(&two, &one));
  OK(dpt_fill(&one, 8)); /* ordered after the copy, on the device */
  OK(dpt_copy(&end, &two));
  CHECK(equal(&want, &end));
  CHECK(equal(&want, &two));
  dpt_tensor_free(&start);
  dpt_tensor_free(&one);
  dpt_tensor_free(&two);
  dpt_tensor_free(&end);
  dpt_tensor_free(&want);
}

static void asynchrony(void) {
  dpt_tensor host = {0}, pinned = {.kind_ = DPT_F32}, device = {0}, other = {0};
  double v = 0;
  OK(dpt_device_set(1));
  OK(dpt_tensor_new(&host, DPT_F32, 1, (int64_t[]){1000}));
  OK(dpt_tensor_new(&device, DPT_F32 | DPT_ON_DEVICE, 1, (int64_t[]){1000}));
  OK(dpt_storage_new_pinned(&pinned.storage_, DPT_F32, 1000));
  OK(dpt_resize(&pinned, 1, (int64_t[]){1000}));
  OK(dpt_fill(&host, 1));
  OK(dpt_fill(&device, 0));
  OK(dpt_fill(&pinned, 5));

  /* A copy from host memory does not wait for the stream, and has read it on return. */
  gate busy;
  gate_close(&busy, 1);
  OK(dpt_copy(&device, &host));
  OK(dpt_fill(&host, 2));
  gate_open(&busy);
  OK(dpt_get(&device, 999, &v));
  CHECK(v == 1);

  /* A copy to host memory waits. */
  OK(dpt_stream_sleep(50));
  OK(dpt_copy(&host, &device));
  CHECK(((float *)dpt_tensor_data(&host))[500] == 1);

  /* Page-locked memory is copied asynchronously: neither read nor written before its turn. */
  gate_close(&busy, 1);
  OK(dpt_copy_async(&device, &pinned));
  ((float *)dpt_tensor_data(&pinned))[999] = 6; /* seen only by a copy that has not run yet */
  gate_open(&busy);
  OK(dpt_get(&device, 999, &v));
  CHECK(v == 6);
  OK(dpt_fill(&device, 9));
  gate_close(&busy, 1);
  OK(dpt_copy_async(&pinned, &device));
  CHECK(((float *)dpt_tensor_data(&pinned))[0] == 5);
  gate_open(&busy);
  OK(dpt_device_synchronize(1));
  CHECK(((float *)dpt_tensor_data(&pinned))[0] == 9);

  /* Copies between devices do not block the host; bytes are counted in the smaller type. */
  OK(dpt_device_set(2));
  OK(dpt_tensor_new(&other, DPT_F64 | DPT_ON_DEVICE, 1, (int64_t[]){1000}));
  OK(dpt_device_set(1));
  uint64_t bytes = dpt_copied_bytes();
  gate_close(&busy, 1);
  OK(dpt_fill(&device, 11));
  OK(dpt_copy(&other, &device));
  OK(dpt_fill(&device, 12));
  gate_open(&busy);
  OK(dpt_get(&other, 3, &v));
  CHECK(v == 11);
  CHECK(dpt_copied_bytes() - bytes == 4000);
  OK(dpt_copy(&host, &device));
  CHECK(dpt_copied_bytes() - bytes == 4000);
  dpt_tensor_free(&host);
  dpt_tensor_free(&pinned);
  dpt_tensor_free(&device);
  dpt_tensor_free(&other);
}

/* An allocation or a copy fails: an error is raised, nothing is lost, and the next copies work. */
static void faults(void) {
  dpt_tensor start, one, two, end;
  int64_t size[] = {3000, 50};
  char spec[32];
  OK(dpt_device_set(1));
  random_view(&seed, &start, DPT_F64, 2, size, 0);
  OK(dpt_fill(&start, 3));
  OK(dpt_tensor_new(&one, DPT_F32 | DPT_ON_DEVICE, 2, (int64_t[]){50, 3000}));
  OK(dpt_transpose(&one, &one, 0, 1));
  OK(dpt_device_set(2));
  OK(dpt_tensor_new(&two, DPT_F64 | DPT_ON_DEVICE, 2, size));
  OK(dpt_tensor_new(&end, DPT_F64, 2, size));
  int failed = 0;
  for (int n = 1; n <= 12; n++) {
    /* Sizes change, so that the allocator's cache cannot serve every request. */
    dpt_tensor a = {.kind_ = DPT_F64}, b = {.kind_ = one.kind_}, c = {.kind_ = two.kind_},
               d = {.kind_ = DPT_F64};
    int64_t rows = 250 * n;
    OK(dpt_narrow(&a, &start, 0, 0, rows));
    OK(dpt_narrow(&b, &one, 0, 0, rows));
    OK(dpt_narrow(&c, &two, 0, 0, rows));
    OK(dpt_narrow(&d, &end, 0, 0, rows));
    snprintf(spec, sizeof spec, "malloc:%d", 1 + n % 4);
    OK(dpt_fault_set(spec));
    failed += dpt_copy(&b, &a) || dpt_copy(&c, &b) || dpt_copy(&d, &c) || dpt_copy(&d, &b);
    OK(dpt_fault_set(""));
    OK(dpt_copy(&b, &a));
    OK(dpt_copy(&c, &b));
    OK(dpt_copy(&d, &c));
    CHECK(equal(&a, &d));
    OK(dpt_fault_set("copy:1"));
    FAILS(dpt_copy(&d, &c), "failed on demand");
    OK(dpt_copy(&d, &c));
    dpt_tensor_free(&a);
    dpt_tensor_free(&b);
    dpt_tensor_free(&c);
    dpt_tensor_free(&d);
  }
  CHECK(failed > 0);
  dpt_tensor_free(&start);
  dpt_tensor_free(&one);
  dpt_tensor_free(&two);
  dpt_tensor_free(&end);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int to = 0; to < DPT_NDTYPE; to++)
    for (int from = 0; from < DPT_NDTYPE; from++)
      for (int round = 0; round < torture(100); round++) conversion(to, from);
  for (int dtype = 0; dtype < DPT_NDTYPE; dtype++) numbers(dtype);
  overlapping();
  for (int round = 0; round < torture(2000); round++) round_trip();
  asynchrony();
  faults();
  OK(dpt_delay_set(seed));
  for (int round = 0; round < torture(300); round++) round_trip();
  OK(dpt_delay_set(0));
  return check_end();
}
