/* status.h: how a C function fails.
 *
 * What must stay true: a function that can fail returns 0, or nonzero after leaving one sentence in
 * this thread's buffer; it never jumps, prints or ends the process, and it has cleaned up after
 * itself. A caller's mistake is a status; our own is an assertion (assert.h).
 */
#ifndef DPT_BASE_STATUS_H
#define DPT_BASE_STATUS_H
#include "dpt.h"

void dpt__say(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void dpt__say_in(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

static inline int dpt__failed(void) { return 1; }

/* Formats the sentence and is 1, so that `return dpt__fail(...)` reads well (and the compiler sees
 * that it is not 0). dpt__fail_in puts "context: " before the sentence that is there. */
#define dpt__fail(...) (dpt__say(__VA_ARGS__), dpt__failed())
#define dpt__fail_in(...) (dpt__say_in(__VA_ARGS__), dpt__failed())

/* A failure for lack of memory before anything was queued, drawn or changed: the caller may free
 * some and call again. Whoever fails behind more than that says dpt__retry_set(0). */
#define dpt__no_memory(...) (dpt__say(__VA_ARGS__), dpt__retry_set(1), dpt__failed())
void dpt__retry_set(int may);

/* `DPT__TRY(f(x));` returns the status of f where it is not 0. */
#define DPT__TRY(call)                                                                             \
  do {                                                                                             \
    if (call) return 1;                                                                            \
  } while (0)

#endif
