/* speed.c: measures the speed of one core in matrix products, and its peak speed (dpt doctor).
 *
 * Invariant: the peak is measured, not looked up. It thus includes the width of the registers, the
 * number of them that a cycle processes, and the clock rate of such code. Both sides are measured
 * alternately in the thread's CPU time, so that other work on the machine changes neither.
 */
#include "base/cpu.h"
#include "ops/blas_library.h"

#include <stdlib.h>
#include <time.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
enum { SUMS = 12, STEPS = 20000, SIDE = 512 };

#define NAME base
#define TARGET
#define BYTES 16
#include "host/peak.inc.c"
#ifdef __x86_64__
#undef NAME
#undef TARGET
#undef BYTES
#define NAME avx2
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#include "host/peak.inc.c"
#undef NAME
#undef TARGET
#undef BYTES
#define NAME avx512
#define TARGET __attribute__((target("avx512f")))
#define BYTES 64
#include "host/peak.inc.c"
#endif

static const struct {
  const char *name;
  double (*peak)(int64_t steps, float *sink);
} sets[] = {
#ifdef __x86_64__
    {"SSE2", base}, {"AVX2", avx2}, {"AVX-512", avx512}
#else
    {"Advanced SIMD", base}
#endif
};

static double speed_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void speed_more(double *best, double operations, double time) {
  if (time > 0 && operations / time / 1e9 > *best) *best = operations / time / 1e9;
}

int dpt_blas_speed(double *product, double *peak, const char **isa) {
  DPT__TRY(dpt__blas_open("dpt_blas_speed"));
  enum dpt__isa set = dpt__isa();
  float *a = malloc(2 * SIDE * SIDE * sizeof *a);
  if (!a) return dpt__no_memory("dpt_blas_speed: no host memory for two matrices");
  for (int i = 0; i < SIDE * SIDE; i++) a[i] = 0.5f;
  *product = *peak = 0;
  *isa = sets[set].name;
  double begin = speed_seconds();
  for (int round = 0; round < 3 || speed_seconds() - begin < 0.1; round++) {
    double from = speed_seconds();
    dpt__cblas.sgemm(DPT__ROW_MAJOR, DPT__NO_TRANS, DPT__NO_TRANS, SIDE, SIDE, SIDE, 1, a, SIDE, a,
                     SIDE, 0, a + SIDE * SIDE, SIDE);
    double between = speed_seconds();
    speed_more(product, 2.0 * SIDE * SIDE * SIDE, between - from);
    float sink = 0.5f;
    double operations = sets[set].peak(STEPS, &sink);
    speed_more(peak, operations, speed_seconds() - between);
  }
  free(a);
  return 0;
}
