/* region.c: OpenMP regions: of one thread without libgomp, of several threads on separate
 * processors.
 *
 * Invariant: the linker redirects every call of GOMP_parallel in dpt's objects to the function here
 * (--wrap in CMakeLists.txt). Other compilers call other functions, which are not redirected.
 *
 * libgomp makes a team even for one thread, and ends it with a system call that wakes no thread:
 * 600 ns, several times what a small tensor takes. Outside regions, the body sees thread 0 of 1
 * without libgomp's help.
 *
 * Some kernels, especially those of small virtual machines, wake a thread on the processor of the
 * thread that wakes it and leave it there, so that region after region runs on one processor. Each
 * thread that begins regions records where the other threads of its last region ran. Those that
 * shared a processor may only run on other processors in this region, and after it where they could
 * run before. If no threads shared one, this costs one query of the processor's number for each
 * thread.
 */
#define _GNU_SOURCE
#include "base/status.h"

#ifdef _OPENMP
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST = 64 };

typedef struct region {
  int n, moved; /* number of threads; 1 if one is bound */
  void (*body)(void *);
  void *data;
  struct {
    pid_t id;
    int cpu; /* where it was in the last region; -1: unknown */
    int is_moved;
    cpu_set_t allowed; /* where it could run before */
  } of[MOST];
} region;

static _Thread_local region own;

/* Excludes thread i from the processors of `taken`. */
static void region_move(int i, const cpu_set_t *taken) {
  pid_t id = own.of[i].id;
  cpu_set_t *allowed = &own.of[i].allowed, set;
  if (sched_getaffinity(id, sizeof *allowed, allowed)) return;
  CPU_AND(&set, allowed, taken);
  CPU_XOR(&set, allowed, &set);
  if (CPU_COUNT(&set) && !sched_setaffinity(id, sizeof set, &set))
    own.moved = own.of[i].is_moved = 1;
}

static int region_processors(void) {
  static atomic_int known;
  int n = atomic_load_explicit(&known, memory_order_relaxed);
  if (n) return n;
  n = (int)sysconf(_SC_NPROCESSORS_ONLN);
  atomic_store_explicit(&known, n, memory_order_relaxed);
  return n;
}

static void region_begin(int n) {
  if (n > MOST) n = MOST;
  if (!dpt__local.team) own.n = 0; /* libgomp starts new threads */
  dpt__local.team = 1;
  for (int i = own.n; i < n; i++) own.of[i].cpu = -1; /* a smaller region has ended them */
  own.n = n;
  own.of[0].cpu = sched_getcpu();
  cpu_set_t taken;
  CPU_ZERO(&taken);
  int shared[MOST], clashes = 0;
  for (int i = 0; i < n; i++) {
    int cpu = own.of[i].cpu;
    if (cpu < 0 || cpu >= CPU_SETSIZE) continue;
    if (CPU_ISSET(cpu, &taken)) shared[clashes++] = i;
    CPU_SET(cpu, &taken);
  }
  if (!clashes || CPU_COUNT(&taken) >= region_processors()) return;
  for (int i = 0; i < clashes; i++) region_move(shared[i], &taken);
}

static void region_run(void *data) {
  region *at = data;
  int i = omp_get_thread_num();
  if (i > 0 && i < at->n) {
    static _Thread_local pid_t id;
    /* Set in every region, because another user of libgomp may have ended threads. */
    at->of[i].id = id ? id : (id = gettid());
    at->of[i].cpu = sched_getcpu();
  }
  at->body(at->data);
}

static void region_end(void) {
  if (!own.moved) return;
  own.moved = 0;
  for (int i = 1; i < own.n; i++)
    if (own.of[i].is_moved) {
      own.of[i].is_moved = 0;
      sched_setaffinity(own.of[i].id, sizeof own.of[i].allowed, &own.of[i].allowed);
    }
}

void __real_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  if (threads == 1 && omp_get_num_threads() == 1) {
    body(data);
  } else if (omp_get_level()) {
    __real_GOMP_parallel(body, data, threads, flags);
  } else {
    region_begin(threads ? (int)threads : omp_get_max_threads());
    own.body = body;
    own.data = data;
    __real_GOMP_parallel(region_run, &own, threads, flags);
    region_end();
  }
}
#endif
