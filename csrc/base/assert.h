/* assert.h: invariants that test builds check, and points where a C test may step in.
 *
 * Invariant: builds with a sanitizer are test builds (DPT_ASSERTIONS); in all others nothing is
 * left of these, so that they cost nothing and a condition must not do anything. A condition that
 * does not hold is a mistake of dpt's own: it is printed with file and line, and the process ends.
 */
#ifndef DPT_BASE_ASSERT_H
#define DPT_BASE_ASSERT_H

#ifdef DPT_ASSERTIONS
void dpt__assert_failed(const char *what, const char *file, int line)
    __attribute__((noreturn, cold));
#define dpt__assert(condition)                                                                     \
  ((condition) ? (void)0 : dpt__assert_failed(#condition, __FILE__, __LINE__))

/* Between two steps that another thread may come between, or a step that may fail: calls what a
 * test has set, on the thread that is there; 1: the step is to fail. */
typedef int dpt__sync_fn(const char *name);
void dpt__sync_set(dpt__sync_fn *fn /* or NULL */);
int dpt__sync_reached(const char *name);
#define dpt__sync_point(name) dpt__sync_reached(name)
#else
#define dpt__assert(condition) ((void)0)
#define dpt__sync_point(name) 0
#endif

#endif
