/* shared.c: objects that several Lua states may hold: references, ids, and the objects that consist
 * of nothing more: mutexes, conditions, counters.
 *
 * Invariant: an object lives until its last reference is released. Its id is a number that no other
 * object of the process has had, so a stale id is an error and never another object. A thread that
 * would deadlock with itself, or unlocks a mutex that it has not locked, gets an error message.
 * Objects that are freed by the end of another are freed in a loop, not recursively, however deep
 * they are nested.
 */
#include "worker/worker.h"

#include <stdlib.h>

struct dpt_shared {
  atomic_int references;
  int kind;
  int64_t id;
  dpt_shared *before, *next; /* links of the list of all objects, under list_lock */
  dpt__mutex mutex;
  _Atomic(char *) owner; /* of a mutex: the thread that holds it */
  pthread_cond_t condition;
  _Atomic int64_t value;      /* of a counter */
  void *content;              /* of a queue, a hash or a vec */
  void (*end)(void *content); /* NULL: the object has no content */
};

static const char *const names[] = {"Mutex",    "Condition", "AtomicCounter",    "Queue",
                                    "tds.Hash", "tds.Vec",   "tds.AtomicCounter"};

static dpt__mutex list_lock = DPT__MUTEX_INIT;
static dpt_shared *list DPT__GUARDED_BY(list_lock);
static int64_t last_id DPT__GUARDED_BY(list_lock);

int dpt__shared_new(dpt_shared **shared, int kind, void *content, void (*end)(void *content)) {
  dpt_shared *s = end && !content ? NULL : calloc(1, sizeof *s);
  if (!s) {
    if (content) end(content);
    return dpt__no_memory("%s: no host memory", names[kind]);
  }
  s->content = content;
  s->end = end;
  atomic_init(&s->references, 1);
  s->kind = kind;
  dpt__mutex_init(&s->mutex, NULL);
  pthread_cond_init(&s->condition, NULL);
  dpt__lock(&list_lock);
  s->id = ++last_id;
  s->next = list;
  if (list) list->before = s;
  list = s;
  dpt__unlock(&list_lock);
  *shared = s;
  return 0;
}

int dpt_shared_new(dpt_shared **shared, int kind) {
  if (kind == DPT_QUEUE || kind == DPT_HASH || kind == DPT_VEC)
    return dpt__fail("dpt_shared_new: argument 'kind': got a %s, which has its own function",
                     names[kind]);
  return dpt__shared_new(shared, kind, NULL, NULL);
}

int dpt_shared_find(dpt_shared **shared, int kind, int64_t id) {
  dpt__lock(&list_lock);
  dpt_shared *s = list;
  while (s && (s->id != id || s->kind != kind)) s = s->next;
  if (s) dpt_shared_retain(s);
  dpt__unlock(&list_lock);
  *shared = s;
  if (s) return 0;
  return dpt__fail("%s: there is none with the id %lld", names[kind], (long long)id);
}

int64_t dpt_shared_id(const dpt_shared *shared) { return shared->id; }

int dpt_shared_kind(const dpt_shared *shared) { return shared->kind; }

void dpt_shared_retain(dpt_shared *s) { atomic_fetch_add(&s->references, 1); }

/* Drops a reference; returns 1 if it was the last. Locks list_lock, so that dpt_shared_find cannot
 * find an object that is being freed. */
static int shared_is_last(dpt_shared *s) {
  dpt__lock(&list_lock);
  int last = atomic_fetch_sub(&s->references, 1) == 1;
  if (last) {
    if (s->before) s->before->next = s->next;
    if (s->next) s->next->before = s->before;
    if (list == s) list = s->next;
  }
  dpt__unlock(&list_lock);
  return last;
}

static void shared_end(dpt_shared *s) {
  if (s->end) s->end(s->content);
  dpt__mutex_destroy(&s->mutex);
  pthread_cond_destroy(&s->condition);
  free(s);
}

void dpt_shared_release(dpt_shared *s) {
  static _Thread_local dpt_shared *ending; /* objects still to be freed */
  static _Thread_local int is_busy;
  if (!s || !shared_is_last(s)) return;
  s->next = ending;
  ending = s;
  if (is_busy) return;
  is_busy = 1;
  while ((s = ending)) {
    ending = s->next;
    shared_end(s);
  }
  is_busy = 0;
}

void *dpt__shared_content(const dpt_shared *s) { return s->content; }

static _Thread_local char me; /* its address identifies this thread */

static int shared_owned(const char *fn, dpt_shared *mutex) {
  if (atomic_load(&mutex->owner) == &me) return 0;
  return dpt__fail("%s: this thread has not locked the mutex", fn);
}

/* Unproved: a script holds its mutex between two calls, which clang cannot follow. */
int dpt_mutex_lock(dpt_shared *s) DPT__UNPROVED {
  if (atomic_load(&s->owner) == &me)
    return dpt__fail("lock: this thread has locked the mutex already");
  dpt__lock(&s->mutex);
  atomic_store(&s->owner, &me);
  return 0;
}

int dpt_mutex_unlock(dpt_shared *s) DPT__UNPROVED {
  DPT__TRY(shared_owned("unlock", s));
  atomic_store(&s->owner, NULL);
  dpt__unlock(&s->mutex);
  return 0;
}

int dpt_condition_wait(dpt_shared *s, dpt_shared *mutex) DPT__UNPROVED {
  DPT__TRY(shared_owned("wait", mutex));
  atomic_store(&mutex->owner, NULL);
  dpt__cond_wait(&s->condition, &mutex->mutex);
  atomic_store(&mutex->owner, &me);
  return 0;
}

void dpt_condition_wake(dpt_shared *s, int all) {
  if (all)
    pthread_cond_broadcast(&s->condition);
  else
    pthread_cond_signal(&s->condition);
}

int64_t dpt_counter_add(dpt_shared *s, int64_t n) { return atomic_fetch_add(&s->value, n) + n; }

int64_t dpt_counter_get(dpt_shared *s) { return atomic_load(&s->value); }

void dpt_counter_set(dpt_shared *s, int64_t value) { atomic_store(&s->value, value); }
