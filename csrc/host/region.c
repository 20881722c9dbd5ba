/* region.c: OpenMP regions: of one thread without libgomp, of several on processors of their own.
 *
 * Invariant: the linker hands every call of GOMP_parallel in dpt's objects to the function here
 * (--wrap in CMakeLists.txt). Other compilers call other functions, and go by theirs.
 *
 * libgomp makes a team even for one thread, and ends it with a call of the kernel that wakes
 * nobody: 600 ns, several times what a small tensor takes. Outside of regions the body finds thread
 * 0 of 1 by itself.
 *
 * Some kernels, those of small virtual machines above all, wake a thread on the processor of the
 * one that wakes it and leave it there, so that region after region runs on one processor. Each
 * thread that begins regions knows where the others of its last one ran; those that shared a
 * processor may run on others alone in this one, and after it where they might before. Where they
 * were apart that costs one look at the processor's number for each thread.
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
  int n, moved; /* how many threads; whether one is bound */
  void (*body)(void *);
  void *data;
  struct {
    pid_t id;
    int cpu; /* where it was in the last region; -1: not known */
    int is_moved;
    cpu_set_t allowed; /* where it might run before */
  } of[MOST];
} region;

static _Thread_local region own;

/* Lets thread i run on no processor of `taken`. */
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
  if (!dpt__local.team) own.n = 0; /* libgomp starts others */
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
    at->of[i].id = id ? id : (id = gettid()); /* what another user of libgomp ended is known, too */
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
