/* region_spec.c: OpenMP regions of one thread are plain calls; others are libgomp's. */
#include "check.h"

#ifdef _OPENMP
#include <omp.h>

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
#else
static void regions(void) {}
#endif

int main(void) {
  regions();
  return check_end();
}
