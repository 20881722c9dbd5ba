/* region_spec.c: tests that OpenMP regions of one thread are plain calls, and that threads that
 * shared a processor in a region of several threads have different ones in the next. */
#define _GNU_SOURCE
#include "check.h"

#ifdef _OPENMP
#include <omp.h>
#include <sched.h>

/* Returns the number of items that a region of n threads has run. *level: its nesting depth. */
static int items(int n, int *level) {
  int sum = 0;
#pragma omp parallel for num_threads(n) schedule(static) reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    *level = omp_get_level();
    sum += 1;
  }
  return sum;
}

static void regions(void) {
  int level = -1, inner[2] = {0};
  CHECK(items(1, &level) == 100 && level == 0);
  CHECK(items(2, &level) == 100 && level == 1);
  CHECK(items(1, &level) == 100 && level == 0);
#pragma omp parallel num_threads(2)
  {
    int deep = 0;
    inner[omp_get_thread_num()] = items(1, &deep) + deep; /* each thread runs all items */
  }
  CHECK(inner[0] == 102 && inner[1] == 102);
}

/* Returns the processor of thread 1 of a region, and sets its affinity to `set` unless NULL. */
static int where(const cpu_set_t *set, cpu_set_t *meanwhile) {
  int cpu = -1;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    if (set) CHECK(!sched_setaffinity(0, sizeof *set, set));
    sched_getaffinity(0, sizeof *meanwhile, meanwhile);
    cpu = sched_getcpu();
  }
  return cpu;
}

static void moves(void) {
  cpu_set_t all, one, meanwhile;
  sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) < 2) return;
  int first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one); /* pins this thread */
  for (int round = 0; round < 3; round++) {
    /* Threads that shared a processor are separated in the next region; on a busy machine it can
     * take more. */
    for (int i = 0; i < 1000 && where(NULL, &meanwhile) == first; i++) {}
    where(&one, &meanwhile);
    /* it stays if it may not use another processor */
    CHECK(where(NULL, &meanwhile) == first && CPU_EQUAL(&meanwhile, &one));
    where(&all, &meanwhile);
    CHECK(where(NULL, &meanwhile) != first && !CPU_ISSET(first, &meanwhile));
    where(NULL, &meanwhile); /* separate in the last region: the affinity is restored */
    CHECK(CPU_EQUAL(&meanwhile, &all));
  }
  sched_setaffinity(0, sizeof all, &all);
}

/* Uses more threads than processors, then fewer. */
static void counts(void) {
  for (int n = 1; n < 80; n = n < 8 ? n + 1 : n * 3) {
    cpu_set_t meanwhile;
    int level, cpu = where(NULL, &meanwhile);
    CHECK(items(n, &level) == 100 && cpu >= 0);
  }
}
#else
static void regions(void) {}
static void moves(void) {}
static void counts(void) {}
#endif

int main(void) {
  regions();
  moves();
  counts();
  return check_end();
}
