/* assert.h: invariants that test builds check, and hooks for C tests.
 *
 * Invariant: builds with a sanitizer are test builds (DPT_ASSERTIONS). In all other builds these
 * macros generate no code, so they cost nothing, and a condition must not have side effects. A
 * false condition is a bug in dpt: it is printed with file and line, and the process aborts.
 */
#ifndef DPT_BASE_ASSERT_H
#define DPT_BASE_ASSERT_H

#ifdef DPT_ASSERTIONS
void dpt__assert_failed(const char *what, const char *file, int line)
    __attribute__((noreturn, cold));
#define dpt__assert(condition)                                                                     \
  ((condition) ? (void)0 : dpt__assert_failed(#condition, __FILE__, __LINE__))

/* Marks a place between two steps where another thread may run, or a step that may fail. Calls the
 * function that a test has set, on the current thread; returns 1 if the step is to fail. */
typedef int dpt__sync_fn(const char *name);
void dpt__sync_set(dpt__sync_fn *fn /* or NULL */);
int dpt__sync_reached(const char *name);
#define dpt__sync_point(name) dpt__sync_reached(name)
#else
#define dpt__assert(condition) ((void)0)
#define dpt__sync_point(name) 0
#endif

#endif
