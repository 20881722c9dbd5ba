/* threads.c: how many OpenMP threads an operation on host tensors uses, for each OS thread.
 *
 * What must stay true: a child of fork computes with one thread, since gomp's team of its parent is
 * not there and a second thread would be waited for in vain.
 */
#include "base/status.h"

#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
static void omp_set_num_threads(int n) {}
#endif

static _Thread_local int threads; /* 0: not asked for yet */
static int is_child;

enum { MOST = 4096 };
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void after_fork(void) {
  is_child = 1;
  threads = 1;
  omp_set_num_threads(1);
}

static void watch_fork(void) { pthread_atfork(NULL, NULL, after_fork); }

int dpt_threads_set(int n) {
  if (n < 1 || n > MOST) /* gomp ends the process if a thread cannot start */
    return dpt__fail("setnumthreads: got %d threads, wanted 1 to %d", n, MOST);
  if (n > 1 && is_child)
    return dpt__fail("setnumthreads: got %d threads, wanted 1, as this process is a child of fork",
                     n);
  pthread_once(&once, watch_fork);
  omp_set_num_threads(n);
  threads = n;
  return 0;
}

int dpt_threads_get(void) {
  if (!threads) {
    pthread_once(&once, watch_fork);
    threads = is_child ? 1 : omp_get_max_threads();
  }
  return threads;
}
