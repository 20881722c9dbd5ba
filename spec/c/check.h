/* check.h: shared by the C tests. A test is a main that ends with `return check_end();`. */
#ifndef DPT_SPEC_CHECK_H
#define DPT_SPEC_CHECK_H
#include "base/dtype.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tests request too much memory: the sanitizers must return NULL, not end the process. */
#pragma GCC visibility push(default)
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
  return "allocator_may_return_null=1:atexit_sleep_ms=100"; /* the default is 1 s */
}
#pragma GCC visibility pop

static int check_failures;

static inline int check(int good, const char *what, const char *file, int line) {
  if (good) return 1;
  check_failures++;
  printf("%s:%d: %s (message: %s)\n", file, line, what, dpt_message());
  return 0;
}

#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
#define OK(call) check((call) == 0, #call, __FILE__, __LINE__)
/* Checks that the call fails with an error message that contains `part`. */
#define FAILS(call, part)                                                                          \
  check((call) != 0 && strstr(dpt_message(), part), #call " should say: " part, __FILE__, __LINE__)

static inline int check_end(void) {
  if (check_failures) printf("%d checks failed\n", check_failures);
  return check_failures != 0;
}

/* Returns the number of iterations of a stress test: all with DPT_TORTURE=full, else a tenth. */
static inline int torture(int count) {
  const char *text = getenv("DPT_TORTURE");
  return text && !strcmp(text, "full") ? count : count / 10;
}

/* Returns a seed and prints it; DPT_SEED repeats a failure. */
static inline uint64_t check_seed(void) {
  const char *text = getenv("DPT_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
  printf("DPT_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

/* Returns an entry of an element type for an initializer: DPT_REDUCED_DTYPES(ID). */
#define ID(id, ...) id,

/* Returns the tolerance of results of an element type. half: that of torch.HalfTensor; another
 * reduced type has the same in units of its last place. */
static inline double limit_of(int dtype, double half, double single, double other) {
  if (!dpt__is_reduced(dtype)) return dtype == DPT_F32 ? single : other;
  return half * (1 << dpt__dtype_bits(DPT_F16)) / (1 << dpt__dtype_bits(dtype));
}

static inline uint64_t draw(uint64_t *state, uint64_t below) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (x ^ (x >> 31)) % below;
}

#endif
