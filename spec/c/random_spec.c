/* random_spec.c: tests generators, distributions and draws.
 *
 * Invariant: the host generator is MT19937. For a seed, a device draws the same numbers for any
 * view, device and number of threads. States can be saved and restored; invalid parameters are
 * rejected.
 */
#include "ops/random.h"
#include "samples.h"

static uint64_t seed;

static void twister(void) {
  dpt_generator *g, *h;
  OK(dpt_generator_new(&g) || dpt_generator_new(&h));
  dpt_generator_manual_seed(g, 5489); /* the 10000th number of the reference implementation */
  double last = 0;
  for (int i = 0; i < 10000; i++) last = dpt_random_number(0, g, 1, 0);
  CHECK(last == 4123659995);
  dpt_tensor state = {.kind_ = DPT_U8};
  int normal = dpt_distribution("normal");
  dpt_random_number(normal, g, 0, 1); /* caches a second one */
  OK(dpt_generator_get(g, &state));
  dpt_generator_copy(h, g);
  double x = dpt_random_number(normal, g, 0, 1), y = dpt_random_number(normal, g, 0, 1);
  CHECK(dpt_random_number(normal, h, 0, 1) == x && dpt_random_number(normal, h, 0, 1) == y);
  OK(dpt_generator_set(h, &state));
  CHECK(dpt_random_number(normal, h, 0, 1) == x && dpt_random_number(normal, h, 0, 1) == y);
  CHECK(dpt_generator_initial_seed(h) == 5489);
  memset(dpt__at(&state), 255, (size_t)dpt__count(&state));
  FAILS(dpt_generator_set(h, &state), "no state");
  OK(dpt_narrow(&state, &state, 0, 0, 5));
  FAILS(dpt_generator_set(h, &state), "setRNGState");
  dpt_tensor_free(&state);
  dpt_generator_free(g);
  dpt_generator_free(h);
}

/* A host tensor, with or without gaps, gets the same numbers as single draws, across all boundaries
 * of blocks, and so does the next draw. */
static void pieces(void) {
  static const char *const names[] = {"random", "uniform",   "normal",    "exponential",
                                      "cauchy", "logNormal", "geometric", "bernoulli"};
  enum { N = 1500 };
  dpt_generator *g, *h;
  OK(dpt_generator_new(&g));
  OK(dpt_generator_new(&h));
  for (int k = 0; k < 8; k++)
    for (int type = DPT_F32; type <= DPT_F64; type++) {
      int distribution = dpt_distribution(names[k]), wrong = 0;
      double a = k == 0 ? 3 : 0.25, b = k == 0 ? 50 : 0.75;
      uint64_t start = draw(&seed, 1000), single = draw(&seed, 700);
      dpt_generator_manual_seed(g, start);
      dpt_generator_manual_seed(h, start);
      for (uint64_t i = 0; i < single; i++)
        CHECK(dpt_random_number(distribution, g, a, b) == dpt_random_number(distribution, h, a, b));
      dpt_tensor x = {0};
      OK(dpt_tensor_new(&x, type, 2, (int64_t[]){N, 2}));
      OK(dpt_select(&x, &x, 1, 1));
      OK(dpt_random(distribution, &x, g, a, b));
      for (int64_t i = 0; i < N; i++) {
        double want = dpt_random_number(distribution, h, a, b), got = 0;
        OK(dpt_get(&x, 2 * i, &got));
        wrong += got != (type == DPT_F32 ? (double)(float)want : want);
      }
      if (!CHECK(wrong == 0)) printf("%d numbers of %s\n", wrong, names[k]);
      CHECK(dpt_generator_hash(g) == dpt_generator_hash(h));
      dpt_tensor_free(&x);
    }
  dpt_generator_free(g);
  dpt_generator_free(h);
}

/* Numbers of every distribution on a device are the same in a view, on device 2, and with one
 * thread. */
static void devices(void) {
  static const char *const names[] = {"random", "uniform",   "normal",    "exponential",
                                      "cauchy", "logNormal", "geometric", "bernoulli"};
  static const int types[] = {DPT_F32, DPT_F64, DPT_I64, DPT_U8, DPT_REDUCED_DTYPES(ID)};
  for (int k = 0; k < 8; k++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      int64_t size[DPT_MAXDIM], count = 1 + (int64_t)draw(&seed, 9000);
      int n = random_size(&seed, count, size), kind = types[t] | DPT_ON_DEVICE;
      int real = dpt__is_real(types[t]), whole = k == 0 || k > 5;
      if (!real && !whole) continue;
      double a = k == 0 ? 3 : 0.3, b = k == 0 ? 50 : 0.9, *first = NULL;
      for (int turn = 0; turn < 3; turn++) {
        dpt_tensor r = {.kind_ = kind};
        OK(dpt_device_set(1 + turn % 2));
        guard_start(&seed, &r, kind, n, size);
        OK(dpt_threads_set(1 + turn));
        OK(dpt_device_manual_seed(0, 7));
        OK(dpt_random(dpt_distribution(names[k]), &r, NULL, a, b));
        if (turn == 0) first = numbers(&r);
        equals(&r, first, 0, names[k]);
        CHECK(guard_end(&r));
        dpt_tensor_free(&r);
      }
      for (int64_t i = 0; i < count && k < 2; i++)
        CHECK(first[i] >= a && (k == 0 ? first[i] <= b && first[i] == floor(first[i])
                                       : dpt__is_reduced(types[t]) || first[i] < b));
      free(first);
    }
  OK(dpt_device_set(1));
  OK(dpt_threads_set(2));
}

/* Normals on a device follow the formula, to 4 ulp of a double. */
static void formulas(void) {
  static const int64_t size = 5000;
  dpt_tensor x = {0};
  dpt__philox_args g = {.distribution = DPT__RANDOM_normal, .a = 0.5, .b = 2};
  OK(dpt_tensor_new(&x, DPT_F64 | DPT_ON_DEVICE, 1, &size));
  OK(dpt_device_manual_seed(0, 7));
  OK(dpt_draw_next(&g.draw, &x, NULL, size));
  OK(dpt_device_manual_seed(0, 7));
  OK(dpt_random(dpt_distribution("normal"), &x, NULL, g.a, g.b));
  double *got = numbers(&x);
  for (int64_t i = 0; i < size; i++) {
    double z = dpt__philox_number(&g, 53, i, g.a);
    CHECK(fabs(got[i] - z) <= 4 * 0x1p-52 * (fabs(z - g.a) + g.a));
  }
  free(got);
  dpt_tensor_free(&x);
}

static void states(void) {
  static const int64_t size = 100;
  int uniform = dpt_distribution("uniform");
  dpt_tensor x = {0}, state = {.kind_ = DPT_U8};
  uint64_t got = 0;
  OK(dpt_tensor_new(&x, DPT_F32 | DPT_ON_DEVICE, 1, &size));
  OK(dpt_device_manual_seed(0, 11));
  OK(dpt_random(uniform, &x, NULL, 0, 1));
  OK(dpt_device_rng_get(0, &state));
  OK(dpt_random(uniform, &x, NULL, 0, 1));
  double *second = numbers(&x);
  OK(dpt_random(uniform, &x, NULL, 0, 1));
  double *third = numbers(&x);
  CHECK(second[0] != third[0] && second[99] != third[99]);
  OK(dpt_device_rng_set(0, &state));
  OK(dpt_random(uniform, &x, NULL, 0, 1));
  equals(&x, second, 0, "after setting the state");
  OK(dpt_device_initial_seed(0, &got));
  CHECK(got == 11);
  FAILS(dpt_device_manual_seed(77, 1), "77");
  free(second);
  free(third);
  dpt_tensor_free(&x);
  dpt_tensor_free(&state);
}

/* Checks means and deviations of many device numbers. */
static void statistics(void) {
  static const int64_t size = 200000;
  static const struct {
    const char *name;
    double a, b, mean, deviation;
  } list[] = {{"uniform", 2, 4, 3, 0.5773503},
              {"normal", 1, 2, 1, 2},
              {"exponential", 2, 0, 0.5, 0.5},
              {"bernoulli", 0.3, 0, 0.3, 0.4582576}};
  dpt_tensor x = {0};
  double mean, deviation;
  OK(dpt_tensor_new(&x, DPT_F32 | DPT_ON_DEVICE, 1, &size));
  OK(dpt_device_manual_seed(0, 3));
  for (int i = 0; i < 4; i++) {
    OK(dpt_random(dpt_distribution(list[i].name), &x, NULL, list[i].a, list[i].b));
    OK(dpt_reduce_all(dpt_reduction("mean"), &x, 0, &mean));
    OK(dpt_reduce_all(dpt_reduction("std"), &x, 0, &deviation));
    CHECK(fabs(mean - list[i].mean) < 0.02 && fabs(deviation - list[i].deviation) < 0.02);
  }
  dpt_tensor_free(&x);
}

static void draws(void) {
  static const int64_t four = 4, rows[] = {2, 4};
  static const double p[] = {0.1, 0, 0.5, 0.4, 0, 1, 0, 0};
  for (int side = 0; side < 2; side++) {
    int on = side ? DPT_ON_DEVICE : 0;
    dpt_generator *g;
    OK(dpt_generator_new(&g));
    dpt_tensor host = doubles(2, rows, p), there = {0}, r = {.kind_ = DPT_I64 | on}, half = {0};
    OK(dpt_tensor_new(&there, DPT_F32 | on, 2, rows) || dpt_copy(&there, &host));
    OK(dpt_multinomial(&r, g, &there, 300, 1));
    double *v = numbers(&r);
    for (int i = 0; i < 300; i++) CHECK(v[i] >= 1 && v[i] <= 4 && v[i] != 2 && v[300 + i] == 2);
    free(v);
    FAILS(dpt_multinomial(&r, g, &there, 2, 0), "without replacement");
    OK(dpt_fill(&there, -1));
    FAILS(dpt_multinomial(&r, g, &there, 2, 1), "-1");
    OK(dpt_fill(&there, 0));
    FAILS(dpt_multinomial(&r, g, &there, 2, 1), "sum up to 0");
    OK(dpt_randperm(&r, g, 1000));
    v = numbers(&r);
    double sum = 0;
    char seen[1001] = {0};
    for (int i = 0; i < 1000; i++) {
      CHECK(v[i] >= 1 && v[i] <= 1000 && !seen[(int)v[i]]);
      seen[(int)v[i]] = 1;
      sum += v[i];
    }
    CHECK(sum == 500500);
    free(v);
    FAILS(dpt_randperm(&r, g, 0), "randperm");
    OK(dpt_tensor_new(&half, DPT_F64 | on, 1, &four) || dpt_fill(&half, 0.5));
    dpt_tensor hits = {0};
    OK(dpt_tensor_new(&hits, DPT_U8 | on, 1, &four) || dpt_bernoulli(&hits, g, &half));
    FAILS(dpt_bernoulli(&hits, g, &there), "bernoulli");
    dpt_tensor_free(&hits);
    dpt_tensor_free(&half);
    dpt_tensor_free(&host);
    dpt_tensor_free(&there);
    dpt_tensor_free(&r);
    dpt_generator_free(g);
  }
}

static void refusals(void) {
  static const int64_t four = 4;
  dpt_generator *g;
  dpt_tensor x = doubles(1, &four, NULL), i = {0};
  OK(dpt_generator_new(&g) || dpt_tensor_new(&i, DPT_I32, 1, &four));
  FAILS(dpt_random(dpt_distribution("uniform"), &i, g, 0, 1), "tensor of reals");
  FAILS(dpt_random(dpt_distribution("normal"), &x, g, 0, -1), "deviation");
  FAILS(dpt_random(dpt_distribution("exponential"), &x, g, 0, 0), "rate");
  FAILS(dpt_random(dpt_distribution("geometric"), &x, g, 1, 0), "p is 1");
  FAILS(dpt_random(dpt_distribution("bernoulli"), &x, g, 1.5, 0), "p is 1.5");
  FAILS(dpt_random(dpt_distribution("nonsense"), &x, g, 0, 0), "no distribution");
  dpt_generator_free(g);
  dpt_tensor_free(&x);
  dpt_tensor_free(&i);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  twister();
  pieces();
  devices();
  formulas();
  states();
  statistics();
  draws();
  refusals();
  return check_end();
}
