/* watchdog.c: one thread of each rank looks after the job, so that nothing hangs (see world.h).
 *
 * Invariant: it never waits for another rank or for the threads of this one. It ends the job if an
 * operation takes longer than the limit, if a rank of this host has died or failed, has left while
 * this one needs it, is in another operation than this one at the same place of a group's order, or
 * waits for this one in a group while this one waits for it in another.
 * Time that passes outside of operations is the script's own; so is time in which this process was
 * stopped itself.
 */
#include "comm/communicators.h"
#include "device/timeout.h"
#include "distributed/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 50, EXPLAIN_MS = 700, ABORT_MS = 500, LINE = 8192, MS = 1000000 };

static atomic_int running, ending, draining, drained;
static pthread_t thread;

/* ---- the end of all ---- */

/* What may hang: writing what the script has printed; the end of what devices wait for; MPI_Abort,
 * which is for ranks of other hosts: those of this one end by what they see in each other's
 * records, and mpirun may hang if several of its children call it at once. */
static void *watchdog_leave(void *none) {
  const dpt__world *w = &dpt__world_own;
  if (!ftrylockfile(stdout)) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  dpt__communicators_abort();
  if (w->local_size < w->size) w->engine->abort(1);
  return none;
}

void dpt__world_abort(const char *format, ...) {
  dpt__world *w = &dpt__world_own;
  char line[LINE] = "dpt: ";
  va_list list;
  va_start(list, format);
  vsnprintf(line + 5, sizeof line - 6, format, list);
  va_end(list);
  if (!atomic_exchange(&ending, 1)) {
    pthread_t helper;
    snprintf(w->record->text, DPT__RECORD_TEXT, "%.*s", DPT__RECORD_TEXT - 1, line + 5);
    atomic_store(&w->record->state, DPT__RANK_FAILED);
    strcat(line, "\n");
    if (write(STDERR_FILENO, line, strlen(line)) < 0) {}
    if (w->local_size > 1) dpt__sleep((int64_t)3 * LOOK_MS * MS); /* they see why */
    if (!pthread_create(&helper, NULL, watchdog_leave, NULL))
      dpt__sleep((int64_t)(w->local_size < w->size ? ABORT_MS : LOOK_MS) * MS);
    _exit(1);
  }
  for (;;) pause(); /* another thread ends this rank */
}

/* ---- operations that differ ---- */

void dpt__watch_compare_one(const dpt__operation *own, int rank, const dpt__operation *its) {
  char a[DPT__OPERATION_TEXT], b[DPT__OPERATION_TEXT];
  unsigned long long number = own->number;
  if (memcmp(&own->signature, &its->signature, sizeof own->signature))
    dpt__world_abort("operation %llu is not the same on all ranks: %s on rank %d, %s on rank %d",
                     number, dpt__operation_text(a, own), dpt__world_own.rank,
                     dpt__operation_text(b, its), rank);
  if (own->chain != its->chain)
    dpt__world_abort("ranks %d and %d have called different operations before operation %llu, %s "
                     "(`dpt flight` may say which)",
                     dpt__world_own.rank, rank, number, dpt__operation_text(a, own));
}

void dpt__watch_compare(const dpt__operation *own) {
  const dpt__world *w = &dpt__world_own;
  const dpt__ranks *g = dpt__ranks_of(own->signature.group);
  dpt__operation other;
  if (dpt__is_paired(&own->signature)) return;
  for (int i = 0; i < g->n; i++) {
    const dpt__record *r = w->local[g->list[i]];
    if (r && dpt__record_find(r, own->signature.group, own->number, &other))
      dpt__watch_compare_one(own, g->list[i], &other);
  }
}

void dpt__watch_let_explain(void) {
  static atomic_int waited; /* what fails behind the first failure needs no other reason */
  if (!atomic_exchange(&waited, 1)) dpt__sleep((int64_t)EXPLAIN_MS * MS);
}

/* ---- ranks of this host ---- */

int dpt__watch_needs(const dpt__operation *own, int k, int came) {
  const dpt__ranks *g = dpt__ranks_of(own->signature.group);
  if (dpt__is_paired(&own->signature)) return (int)own->signature.root == k;
  for (int i = 0; i < g->n; i++)
    if (g->list[i] == k) return !came;
  return 0;
}

static int watchdog_came(int k, const dpt__operation *own) {
  dpt__operation other;
  return dpt__record_find(dpt__world_own.local[k], own->signature.group, own->number, &other);
}

static void watchdog_look_at(int k, const dpt__operation *pending) {
  const dpt__record *r = dpt__world_own.local[k];
  char what[DPT__OPERATION_TEXT];
  int state = atomic_load(&r->state);
  if (state == DPT__RANK_FAILED) dpt__world_abort("%s", r->text);
  if (state < DPT__RANK_LEFT && dpt__rank_died(r))
    dpt__world_abort("rank %d (process %d) has died", k, r->pid);
  if (state >= DPT__RANK_LEAVING && pending &&
      dpt__watch_needs(pending, k, watchdog_came(k, pending)))
    dpt__world_abort("rank %d has ended its script, and rank %d waits for it in %s", k,
                     dpt__world_own.rank, dpt__operation_text(what, pending));
}

/* Operations that end on no rank before all have come. */
static int watchdog_needs_all(const dpt__signature *s) {
  return s->what == DPT_RANKS_BARRIER || s->what >= DPT__RANKS_MAKE_GROUP ||
         (s->count && (s->what == DPT_RANKS_ALL_REDUCE || s->what == DPT_RANKS_ALL_GATHER ||
                       s->what == DPT_RANKS_REDUCE_SCATTER));
}

/* A rank is in one operation at a time. So if rank k is in one that needs this rank, which is in
 * another that needs k, and neither has come to the other's, neither ever will. What k is in is
 * read first, and that this rank is still in its own last: then all of it was so at one moment. */
static void watchdog_look_for_circle(int k, uint64_t which, const dpt__operation *own) {
  const dpt__world *w = &dpt__world_own;
  dpt__operation its, mine;
  char a[DPT__OPERATION_TEXT], b[DPT__OPERATION_TEXT];
  if (!dpt__record_last(w->local[k], &its) || its.ended ||
      its.signature.group == own->signature.group || !watchdog_needs_all(&its.signature) ||
      !watchdog_needs_all(&own->signature))
    return;
  if (dpt__ranks_of(its.signature.group)->hash != its.signature.group ||
      !dpt__watch_needs(own, k, watchdog_came(k, own)) ||
      !dpt__watch_needs(&its, w->rank,
                        dpt__record_find(w->record, its.signature.group, its.number, &mine)))
    return;
  if (atomic_load(&w->pending) != which) return;
  dpt__world_abort("rank %d waits for rank %d in %s, and rank %d for rank %d in %s of another "
                   "group: every rank has to call the operations of all its groups in one order",
                   w->rank, k, dpt__operation_text(a, own), k, w->rank,
                   dpt__operation_text(b, &its));
}

/* ---- the thread ---- */

/* How long this thread has seen the same, in nanoseconds; what it did not see does not count. */
static int64_t watchdog_seen_for(uint64_t what, int64_t now) {
  static uint64_t same = UINT64_MAX; /* at first nothing was seen */
  static int64_t last, total;
  int64_t most = (int64_t)20 * LOOK_MS * MS, passed = now - last;
  total = what == same ? total + (passed < most ? passed : most) : 0;
  same = what;
  last = now;
  return total;
}

static void watchdog_look(void) {
  const dpt__world *w = &dpt__world_own;
  int64_t now = dpt__now(), limit = dpt__timeout();
  uint64_t which = atomic_load(&w->pending);
  dpt__operation own;
  const dpt__operation *pending = NULL;
  atomic_store(&w->record->beat, now);
  int state = atomic_load(&w->record->state);
  if (which && dpt__record_read(w->record, which, &own)) pending = &own;
  int late = watchdog_seen_for(which * 8 + (uint64_t)state, now) > limit;
  if (state == DPT__RANK_STARTING) { /* records may be those of an earlier job */
    if (late) dpt__report_start();
    return;
  }
  for (int k = 0; k < w->size; k++)
    if (w->local[k]) {
      watchdog_look_at(k, pending);
      if (pending) watchdog_look_for_circle(k, which, pending);
    }
  if (pending) dpt__watch_compare(pending);
  if (pending && late) dpt__report_late(pending);
  if (state == DPT__RANK_LEFT && late) dpt__report_end();
  if (state == DPT__RANK_LEAVING && late) { /* others may go on, but not be stopped or away */
    for (int k = 0; k < w->size; k++)
      if (w->local[k] && now - atomic_load(&w->local[k]->beat) > limit) dpt__report_end();
    if (dpt__hosts_silence() > limit) dpt__report_end();
  }
  if (!atomic_load(&draining))
    dpt__hosts_exchange(pending);
  else if (!atomic_load(&drained))
    atomic_store(&drained, dpt__hosts_drain());
}

static void *watchdog_watch(void *none) {
  while (atomic_load(&running)) {
    watchdog_look();
    dpt__sleep((int64_t)(atomic_load(&draining) ? 1 : LOOK_MS) * MS);
  }
  return none;
}

int dpt__watch_begin(void) {
  atomic_store(&running, 1);
  if (pthread_create(&thread, NULL, watchdog_watch, NULL))
    return dpt__fail("distributed: no thread can be started for the watchdog");
  return 0;
}

void dpt__watch_drain(void) {
  if (dpt__world_own.local_size == dpt__world_own.size) return;
  atomic_store(&draining, 1);
  while (!atomic_load(&drained)) dpt__sleep(MS);
}

void dpt__watch_end(void) {
  atomic_store(&running, 0);
  pthread_join(thread, NULL);
}
