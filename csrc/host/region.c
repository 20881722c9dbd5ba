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
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

typedef struct region {
  int n, moved; /* how many threads; whether one is bound */
  void (*body)(void *);
  void *data;
  struct {
    pid_t id; /* 0: not known */
    int cpu;  /* where it was in the last region */
    int is_moved;
    cpu_set_t allowed; /* where it might run before */
  } of[MOST];
} region;

static _Thread_local region own;

/* Lets thread i run on the processors in `free` alone. */
static void region_move(int i, const cpu_set_t *free) {
  pid_t id = own.of[i].id;
  cpu_set_t *allowed = &own.of[i].allowed, set;
  if (sched_getaffinity(id, sizeof *allowed, allowed)) return;
  CPU_AND(&set, allowed, free);
  if (CPU_COUNT(&set) && !sched_setaffinity(id, sizeof set, &set))
    own.moved = own.of[i].is_moved = 1;
}

static void region_begin(int n) {
  if (n > MOST) n = MOST;
  if (!dpt__local.team) own.n = 0; /* libgomp starts others */
  dpt__local.team = 1;
  for (int i = own.n; i < n; i++) own.of[i].id = 0; /* a smaller region has ended them */
  own.n = n;
  own.of[0].cpu = sched_getcpu();
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++)
      if (own.of[i].id && own.of[i].cpu == own.of[j].cpu) {
        cpu_set_t free;
        memset(&free, 0xff, sizeof free);
        for (int k = 0; k < n; k++)
          if ((k == 0 || own.of[k].id) && own.of[k].cpu >= 0) CPU_CLR(own.of[k].cpu, &free);
        region_move(i, &free);
        break;
      }
}

static void region_run(void *data) {
  region *at = data;
  int i = omp_get_thread_num();
  if (i > 0 && i < at->n) {
    if (!at->of[i].id) at->of[i].id = gettid();
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
