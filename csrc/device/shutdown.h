/* shutdown.h: ends the process while other threads still compute.
 *
 * Invariant: exit() runs the destructors of the libraries that kernels use (OpenBLAS frees its
 * buffers), so no kernel may run then: only the thread that called exit() may begin another kernel,
 * and exit() waits for running kernels, but no longer than a second. Work queued after them is
 * dropped: its results can no longer be read.
 */
#ifndef DPT_DEVICE_SHUTDOWN_H
#define DPT_DEVICE_SHUTDOWN_H
#include "base/status.h"
#include <stdatomic.h>

/* A thread that runs kernels. */
typedef struct dpt__runner {
  atomic_int busy;
  struct dpt__runner *before, *next; /* of the list that exit() walks */
} dpt__runner;

/* Ensures that, if this thread calls exit(), the wait for kernels is before every destructor of a
 * library. Threads that create runners or call this function are watched. */
void dpt__shutdown_watch(void);
/* Registers a function that is called as fn(exit status) before that wait, while kernels still run.
 * There is one such function, set once. */
typedef void dpt__shutdown_fn(int status);
void dpt__shutdown_before(dpt__shutdown_fn *fn);

/* Add to the list and remove from it. */
void dpt__runner_add(dpt__runner *runner);
void dpt__runner_remove(dpt__runner *runner);

/* Called before a kernel (if the process is ending, the thread blocks forever) and after it. */
void dpt__runner_enter(dpt__runner *runner);
static inline void dpt__runner_done(dpt__runner *runner) {
  atomic_store_explicit(&runner->busy, 0, memory_order_release);
}

/* dpt__local.runner is this thread's runner for kernels on host memory. It is NULL while the
 * process has one Lua state, since no other thread can call exit() then. dpt__runner_own creates
 * one for the rest of the thread's life, if it has none. */
void dpt__runner_own(void);

#endif
