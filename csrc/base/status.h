/* status.h: error handling of C functions.
 *
 * Invariant: a function that can fail returns 0, or nonzero after leaving one error message in this
 * thread's buffer. It never jumps, prints or ends the process, and it has cleaned up after itself.
 * A caller's mistake is a status; a bug in dpt is an assertion (assert.h). A function that failed
 * for lack of memory may be called again if this thread's count of effects has not changed.
 */
#ifndef DPT_BASE_STATUS_H
#define DPT_BASE_STATUS_H
#include "dpt.h"

void dpt__set_message(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void dpt__prepend_message(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

static inline int dpt__failed(void) { return 1; }

/* Formats the error message and returns 1, so that `return dpt__fail(...)` reads well (and the
 * compiler sees that it is not 0). dpt__fail_in prepends "context: " to the present message. */
#define dpt__fail(...) (dpt__set_message(__VA_ARGS__), dpt__failed())
#define dpt__fail_in(...) (dpt__prepend_message(__VA_ARGS__), dpt__failed())

/* Fails for lack of memory. */
#define dpt__no_memory(...) (dpt__set_no_memory_message(__VA_ARGS__), dpt__failed())
void dpt__set_no_memory_message(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold));

#ifndef __cplusplus
/* Thread-local state that every call needs, in one variable: separate variables would cost a call
 * each. */
struct dpt__local {
  uint32_t effects;           /* irreversible effects: work queued or done, numbers drawn */
  int threads;                /* for OpenMP (device/threads.c); 0: not queried yet */
  int team;                   /* true if it has libgomp's threads (host/region.c) */
  struct dpt__runner *runner; /* device/shutdown.h */
};
extern _Thread_local struct dpt__local dpt__local;
static inline void dpt__effect(void) { dpt__local.effects++; }
#endif

/* `DPT__TRY(f(x));` returns the status of f if it is not 0. */
#define DPT__TRY(call)                                                                             \
  do {                                                                                             \
    if (call) return 1;                                                                            \
  } while (0)

#endif
