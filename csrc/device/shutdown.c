/* shutdown.c: the threads that run kernels, and the wait for them in exit() (see shutdown.h). */
#define _GNU_SOURCE /* on_exit */
#include "device/shutdown.h"

#include "base/lock.h"

#include <stdlib.h>
#include <unistd.h>

/* The C library's implementation of C++'s thread_local: calls fn(arg) when this thread ends or
 * calls exit(), before any destructor of static objects; dso is not unloaded until then. */
int __cxa_thread_atexit_impl(void (*fn)(void *), void *arg, void *dso);
extern void *__dso_handle;

static dpt__mutex lock = DPT__MUTEX_INIT;
static dpt__runner *list DPT__GUARDED_BY(lock);
static pid_t owner; /* the process that has the threads, not its children; set once */
static _Atomic(pid_t) ending_thread; /* the one that called exit(); 0: none */

static int shutdown_all_idle(void) {
  int rest = 1;
  dpt__lock(&lock);
  for (dpt__runner *r = list; r; r = r->next)
    if (r != dpt__local.runner && atomic_load(&r->busy)) rest = 0;
  dpt__unlock(&lock);
  return rest;
}

static _Atomic(dpt__shutdown_fn *) first;

void dpt__shutdown_before(dpt__shutdown_fn *fn) { atomic_store(&first, fn); }

static void shutdown_wait(int status, void *none) {
  (void)none;
  if (getpid() != owner) return;
  dpt__shutdown_fn *before = atomic_exchange(&first, NULL);
  if (before) before(status);
  atomic_store(&ending_thread, gettid());
  for (int patience = 10000; patience > 0 && !shutdown_all_idle(); patience--) usleep(100);
}

static void shutdown_register(void) {
  dpt__lock(&lock);
  if (!owner) owner = getpid();
  on_exit(shutdown_wait, NULL);
  dpt__unlock(&lock);
}

/* Registers the wait once more when a thread ends or calls exit(), because exit() runs the function
 * registered last first. A worker whose thread ends without exit() has already removed its runner,
 * and registers nothing. */
static void shutdown_at_thread_end(void *none) {
  (void)none;
  if (gettid() == getpid() || dpt__local.runner) shutdown_register();
}

void dpt__shutdown_watch(void) {
  static _Thread_local int watched;
  static atomic_int registered;
  if (!watched) __cxa_thread_atexit_impl(shutdown_at_thread_end, NULL, &__dso_handle);
  watched = 1;
  if (!atomic_exchange(&registered, 1)) shutdown_register(); /* for exit() by other threads */
}

void dpt__runner_add(dpt__runner *runner) {
  dpt__shutdown_watch();
  dpt__lock(&lock);
  *runner = (dpt__runner){.next = list};
  if (list) list->before = runner;
  list = runner;
  dpt__unlock(&lock);
}

void dpt__runner_remove(dpt__runner *runner) {
  dpt__lock(&lock);
  if (runner->before) runner->before->next = runner->next;
  if (runner->next) runner->next->before = runner->before;
  if (list == runner) list = runner->next;
  dpt__unlock(&lock);
  if (dpt__local.runner == runner) dpt__local.runner = NULL;
}

void dpt__runner_own(void) {
  if (dpt__local.runner) return;
  dpt__runner *runner = malloc(sizeof *runner);
  if (!runner) return; /* the end of the process is then less safe */
  dpt__runner_add(runner);
  dpt__local.runner = runner;
}

void dpt__runner_enter(dpt__runner *runner) {
  atomic_store(&runner->busy, 1);
  pid_t ending = atomic_load(&ending_thread);
  if (!ending || ending == gettid()) return;
  atomic_store(&runner->busy, 0);
  for (;;) pause();
}
