/* team_spec.c: threads of a region that share a processor are apart in the next one. */
#define _GNU_SOURCE
#include "check.h"
#include "host/team.h"

#ifdef _OPENMP
#include <omp.h>
#include <sched.h>

/* Where thread 1 of a region is; it may run on `set` before, if one is given. */
static int region(const cpu_set_t *set, cpu_set_t *meanwhile) {
  int cpu = -1;
  dpt__team *team = dpt__team_begin(2);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      if (set) CHECK(!sched_setaffinity(0, sizeof *set, set));
      sched_getaffinity(0, sizeof *meanwhile, meanwhile);
      cpu = sched_getcpu();
    }
    dpt__team_here(team);
  }
  dpt__team_end(team);
  return cpu;
}

/* Where thread 1 may run. */
static cpu_set_t allowed(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) sched_getaffinity(0, sizeof set, &set);
  return set;
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
    CHECK(region(&one, &meanwhile) == first);
    cpu_set_t before = allowed();
    CHECK(CPU_EQUAL(&before, &one));
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) sched_setaffinity(0, sizeof all, &all);
    CHECK(region(NULL, &meanwhile) != first);
    CHECK(!CPU_ISSET(first, &meanwhile));
    cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&after, &all));
  }
  /* where there is no other processor it stays */
  region(&one, &meanwhile);
  CHECK(region(NULL, &meanwhile) == first);
  cpu_set_t after = allowed();
  CHECK(CPU_EQUAL(&after, &one));
  sched_setaffinity(0, sizeof all, &all);
}

/* More threads than processors, and fewer again. */
static void counts(void) {
  for (int n = 1; n < 80; n = n < 8 ? n + 1 : n * 3) {
    dpt__team *team = dpt__team_begin(n);
#pragma omp parallel num_threads(n)
    dpt__team_here(team);
    dpt__team_end(team);
    CHECK(allowed().__bits[0] != 0);
  }
}
#else
static void moves(void) {}
static void counts(void) {}
#endif

int main(void) {
  moves();
  counts();
  return check_end();
}
