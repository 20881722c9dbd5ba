/* shutdown.h: the end of the process, while other threads still compute.
 *
 * Invariant: exit() runs the destructors of the libraries that kernels use (OpenBLAS frees its
 * buffers), so no kernel may run then: no thread but the one that called exit() begins another
 * one, and those that run are awaited, but not longer than a second. What was queued behind them is
 * dropped: nobody can read it any more.
 */
#ifndef DPT_DEVICE_SHUTDOWN_H
#define DPT_DEVICE_SHUTDOWN_H
#include "base/status.h"
#include <stdatomic.h>

/* A thread that runs kernels. */
typedef struct dpt__runner {
  atomic_int busy;
  struct dpt__runner *before, *next; /* of the list that the end of the process walks */
} dpt__runner;

/* If this thread calls exit(), the wait for kernels is before every destructor of a library. A
 * thread that makes runners is watched; so is one that calls this. */
void dpt__shutdown_watch(void);
/* fn(exit status) is called before that wait, while kernels still run; one function, set once. */
typedef void dpt__shutdown_fn(int status);
void dpt__shutdown_before(dpt__shutdown_fn *fn);

/* To the list, and away from it. */
void dpt__runner_add(dpt__runner *runner);
void dpt__runner_remove(dpt__runner *runner);

/* Before a kernel (if the process ends, the thread stays here for good) and after it. */
void dpt__runner_enter(dpt__runner *runner);
static inline void dpt__runner_done(dpt__runner *runner) {
  atomic_store_explicit(&runner->busy, 0, memory_order_release);
}

/* dpt__local.runner is this thread's for kernels on host memory; NULL: no other thread can call
 * exit(), as long as the process has one Lua state. dpt__runner_own makes one that stays, if it has
 * none. */
void dpt__runner_own(void);

#endif
