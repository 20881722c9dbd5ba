/* status.h: how a C function fails.
 *
 * What must stay true: a function that can fail returns 0, or nonzero after leaving one sentence in
 * this thread's buffer; it never jumps, prints or ends the process, and it has cleaned up after
 * itself. A caller's mistake is a status; our own is an assert.
 */
#ifndef DPT_BASE_STATUS_H
#define DPT_BASE_STATUS_H
#include "dpt.h"

/* Formats the sentence and returns 1, so that `return dpt__fail(...)` reads well. */
int dpt__fail(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
/* Puts "context: " before the sentence that is there; returns 1. */
int dpt__fail_in(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* `DPT__TRY(f(x));` returns the status of f where it is not 0. */
#define DPT__TRY(call)                                                                             \
  do {                                                                                             \
    if (call) return 1;                                                                            \
  } while (0)

#endif
