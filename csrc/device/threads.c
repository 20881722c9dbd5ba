/* threads.c: starts threads (see threads.h), and sets the number of OpenMP threads of operations on
 * host tensors, for each OS thread.
 *
 * Invariant: a child of fork computes with one thread, since its parent's gomp team does not exist
 * there, and a wait for a second thread would never end.
 */
#define _GNU_SOURCE
#include "device/threads.h"

#include "base/status.h"
#include "device/fault.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
static void omp_set_num_threads(int n) {}
#define omp_pause_resource(kind, device)
#endif

/* ---- starting a thread ---- */

/* Names the limit that most likely stopped a thread from starting. */
static void threads_name_limit(char *text, size_t size) {
  struct rlimit processes = {0}, memory = {0};
  getrlimit(RLIMIT_NPROC, &processes);
  getrlimit(RLIMIT_AS, &memory);
  int n = 0;
  if (processes.rlim_cur != RLIM_INFINITY)
    n = snprintf(text, size, "RLIMIT_NPROC (ulimit -u) is %llu",
                 (unsigned long long)processes.rlim_cur);
  if (memory.rlim_cur != RLIM_INFINITY)
    n += snprintf(text + n, size - (size_t)n, "%sRLIMIT_AS (ulimit -v) is %llu kB", n ? ", " : "",
                  (unsigned long long)memory.rlim_cur / 1024);
  if (!n) snprintf(text, size, "this process has no limit of its own; check the system's");
}

/* The thread blocks all signals except those raised by its own instructions: these, if blocked,
 * would end the process without calling the process's handler. */
int dpt__thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what) {
  static const int OWN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t all, old;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) sigdelset(&all, OWN[i]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)8 << 20);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int code = dpt__fault(DPT__FAULT_THREAD) ? EAGAIN : pthread_create(thread, &attributes, run, arg);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attributes);
  if (!code) return 0;
  char limit[160];
  threads_name_limit(limit, sizeof limit);
  return dpt__fail("%s: its thread can not start: %s; %s", what, strerror(code), limit);
}

/* sched_setattr's argument, missing in glibc 2.36. */
typedef struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period; /* ns; runtime: the slice */
} attributes;

void dpt_thread_batch(void) {
#if defined(SYS_sched_setattr) && defined(SCHED_BATCH)
  errno = 0;
  attributes a = {.size = sizeof a,
                  .policy = SCHED_BATCH,
                  .nice = getpriority(PRIO_PROCESS, 0),
                  .runtime = 100000000};
  if (!errno) syscall(SYS_sched_setattr, 0, &a, 0);
#endif
}

/* ---- libgomp's threads ---- */

int dpt__gomp_set_threads(int threads) {
  int before = omp_get_max_threads();
  if (before != threads) omp_set_num_threads(threads);
  return before;
}

void dpt__gomp_end_team(void) {
  if (!dpt__local.team) return;
  omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  dpt__local.team = 0;
}

/* ---- the number of threads ---- */

static int is_child;

enum { MOST = 4096 };
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void threads_after_fork(void) {
  is_child = 1;
  dpt__local.threads = 1;
  dpt__local.team = 0;
  omp_set_num_threads(1);
}

static void threads_watch_fork(void) { pthread_atfork(NULL, NULL, threads_after_fork); }

int dpt_threads_set(int n) {
  if (n < 1 || n > MOST) /* gomp ends the process if a thread cannot start */
    return dpt__fail("setnumthreads: got %d threads, wanted 1 to %d", n, MOST);
  if (n > 1 && is_child)
    return dpt__fail("setnumthreads: got %d threads, wanted 1, as this process is a child of fork",
                     n);
  pthread_once(&once, threads_watch_fork);
  omp_set_num_threads(n);
  dpt__local.threads = n;
  return 0;
}

int dpt_threads_get(void) {
  struct dpt__local *local = &dpt__local;
  if (!local->threads) {
    pthread_once(&once, threads_watch_fork);
    local->threads = is_child ? 1 : omp_get_max_threads();
  }
  return local->threads;
}
