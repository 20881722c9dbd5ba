/* lock.h: mutexes that know their owner, and annotations of the data that they guard.
 *
 * Invariant: dpt's C code locks only these. In test builds (assert.h) a mutex knows its owner, so
 * that locking it twice, unlocking another thread's, or not holding it where it is required aborts
 * the process; in other builds it is a pthread_mutex_t. A declaration names the mutex that guards
 * it (DPT__GUARDED_BY), and functions that require a mutex say so (DPT__REQUIRES) and assert it.
 * clang proves these annotations in `scripts/test thread_safety`, which defines DPT_THREAD_SAFETY;
 * versions before 19 do not support them in C. For a field, clang accepts the mutex of that name of
 * any struct; for functions it distinguishes the structs.
 */
#ifndef DPT_BASE_LOCK_H
#define DPT_BASE_LOCK_H
#include "base/assert.h"

#include <pthread.h>
#include <stdatomic.h>

#ifdef DPT_THREAD_SAFETY
#define DPT__LOCKING(x) __attribute__((x))
#else
#define DPT__LOCKING(x)
#endif
#define DPT__GUARDED_BY(mutex) DPT__LOCKING(guarded_by(&mutex))
/* Guards the target of a pointer that never changes. */
#define DPT__PT_GUARDED_BY(mutex) DPT__LOCKING(pt_guarded_by(&mutex))
#define DPT__REQUIRES(...) DPT__LOCKING(requires_capability(__VA_ARGS__))
#define DPT__ACQUIRES(...) DPT__LOCKING(acquire_capability(__VA_ARGS__))
#define DPT__RELEASES(...) DPT__LOCKING(release_capability(__VA_ARGS__))
/* For a function that locks in a way that clang cannot follow; a comment there describes it. */
#define DPT__UNPROVED DPT__LOCKING(no_thread_safety_analysis)

typedef struct DPT__LOCKING(capability("mutex")) dpt__mutex {
  pthread_mutex_t mutex;
#ifdef DPT_ASSERTIONS
  _Atomic(const void *) owner; /* an address of the thread that holds it; NULL: not held */
#endif
} dpt__mutex;

#define DPT__MUTEX_INIT                                                                            \
  { .mutex = PTHREAD_MUTEX_INITIALIZER }

#ifdef DPT_ASSERTIONS
extern _Thread_local char dpt__lock_self;
#define dpt__is_held(m) (atomic_load(&(m)->owner) == &dpt__lock_self)
#define dpt__lock_own(m, self) atomic_store(&(m)->owner, (self))
#else
#define dpt__lock_own(m, self) ((void)0)
#endif

/* Asserts that the calling thread holds the mutex. */
#define dpt__assert_held(m) dpt__assert(dpt__is_held(m))

static inline void dpt__mutex_init(dpt__mutex *m, const pthread_mutexattr_t *kind /* or NULL */) {
  pthread_mutex_init(&m->mutex, kind);
  dpt__lock_own(m, NULL);
}

static inline void dpt__mutex_destroy(dpt__mutex *m) { pthread_mutex_destroy(&m->mutex); }

static inline void dpt__lock(dpt__mutex *m) DPT__ACQUIRES(*m) DPT__UNPROVED {
  dpt__assert(!dpt__is_held(m));
  pthread_mutex_lock(&m->mutex);
  dpt__lock_own(m, &dpt__lock_self);
}

static inline void dpt__unlock(dpt__mutex *m) DPT__RELEASES(*m) DPT__UNPROVED {
  dpt__assert_held(m);
  dpt__lock_own(m, NULL);
  pthread_mutex_unlock(&m->mutex);
}

/* Releases the mutex while it waits for the condition. */
static inline void dpt__cond_wait(pthread_cond_t *condition, dpt__mutex *m) DPT__REQUIRES(*m) {
  dpt__assert_held(m);
  dpt__lock_own(m, NULL);
  pthread_cond_wait(condition, &m->mutex);
  dpt__lock_own(m, &dpt__lock_self);
}

#endif
