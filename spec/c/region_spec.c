/* region_spec.c: OpenMP regions of one thread are plain calls; threads that shared a processor in
 * one of several threads are apart in the next. */
#define _GNU_SOURCE
#include "check.h"

#ifdef _OPENMP
#include <omp.h>
#include <sched.h>

/* Items that a region of n threads has gone through, and how deep it lies. */
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
    inner[omp_get_thread_num()] = items(1, &deep) + deep; /* all of them, in each thread */
  }
  CHECK(inner[0] == 102 && inner[1] == 102);
}

/* Where thread 1 of a region is; it may run on `set` from then on, if one is given. */
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
  sched_setaffinity(0, sizeof one, &one); /* this thread stays there */
  for (int round = 0; round < 3; round++) {
    /* Whoever shared is moved in the next one: until it is apart, on a busy machine, too. */
    for (int i = 0; i < 1000 && where(NULL, &meanwhile) == first; i++) {}
    where(&one, &meanwhile);
    /* where there is no other processor it stays */
    CHECK(where(NULL, &meanwhile) == first && CPU_EQUAL(&meanwhile, &one));
    where(&all, &meanwhile);
    CHECK(where(NULL, &meanwhile) != first && !CPU_ISSET(first, &meanwhile));
    where(NULL, &meanwhile); /* apart in the last region: as it was before */
    CHECK(CPU_EQUAL(&meanwhile, &all));
  }
  sched_setaffinity(0, sizeof all, &all);
}

/* More threads than processors, and fewer again. */
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
