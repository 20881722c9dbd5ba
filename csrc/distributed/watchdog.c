/* watchdog.c: see watchdog.h.
 *
 * Invariant: it never waits for another rank or for the threads of this one. It ends the job at
 * once for an error that has happened: a rank of this host has died or failed, or two ranks are in
 * different operations with the same number. It ends the job after one second for an operation that
 * can never complete, because a rank that it needs has left or waits for this one. It also ends the
 * job if an operation takes longer than the limit. Time between operations is not limited; time in
 * which this process was stopped is not counted.
 */
#include "distributed/watchdog.h"

#include "comm/communicators.h"
#include "device/timeout.h"
#include "distributed/hosts.h"
#include "distributed/peers.h"
#include "distributed/report.h"
#include "distributed/waits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  LOOK_MS = 50,
  EXPLAIN_MS = 700,
  ABORT_MS = 500,
  BRIEF_MS = 200,    /* shorter operations are not checked */
  SETTLED_MS = 1000, /* a deadlock seen for this long is final */
  LINE = 8192,
  MS = 1000000
};

static atomic_int running, ending, closing, closed;
static pthread_t thread;

/* ---- ending this rank ---- */

/* Runs the calls that may hang: flushing the script's output; aborting the operations that devices
 * wait for; MPI_Abort, which is needed only for ranks of other hosts: those of this host end when
 * they see this rank's record, and mpirun may hang if several of its children call MPI_Abort at
 * once. */
static void *watchdog_leave(void *none) {
  const dpt__job *job = &dpt__job_own;
  if (!ftrylockfile(stdout)) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  dpt__communicators_abort();
  if (job->local_size < job->size) job->engine->abort(1);
  return none;
}

/* why: for the record, which other ranks read; origin: the rank that prints it; said: for
 * stderr. */
__attribute__((noreturn, cold)) static void watchdog_end(const char *why, int origin,
                                                         const char *said) {
  dpt__job *job = &dpt__job_own;
  if (!atomic_exchange(&ending, 1)) {
    char line[LINE];
    pthread_t helper;
    snprintf(job->record->text, DPT__RECORD_TEXT, "%.*s", DPT__RECORD_TEXT - 1, why);
    job->record->origin = origin;
    atomic_store(&job->record->state, DPT__RANK_FAILED);
    snprintf(line, sizeof line, "dpt: %.*s\n", LINE - 7, said);
    if (write(STDERR_FILENO, line, strlen(line)) < 0) {}
    if (job->local_size > 1) dpt__sleep((int64_t)3 * LOOK_MS * MS); /* until they have read why */
    if (!pthread_create(&helper, NULL, watchdog_leave, NULL))
      dpt__sleep((int64_t)(job->local_size < job->size ? ABORT_MS : LOOK_MS) * MS);
    _exit(1);
  }
  for (;;) pause(); /* another thread is ending this rank */
}

void dpt__abort_job(const char *format, ...) {
  char text[LINE];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  watchdog_end(text, dpt__job_own.rank, text);
}

/* ---- operations that differ ---- */

static void watchdog_compare(const dpt__operation *own, int k) {
  char text[DPT__FINDING];
  dpt__operation its;
  if (dpt__is_message(&own->signature)) return;
  if (dpt__peer_find(k, own->signature.group, own->number, &its) &&
      dpt__compare(text, dpt__job_own.rank, own, k, &its))
    dpt__abort_job("%s", text);
}

void dpt__watch_compare(const dpt__ranks *g, const dpt__operation *own) {
  for (int i = 0; i < g->n; i++)
    if (dpt__job_own.local[g->list[i]]) watchdog_compare(own, g->list[i]);
}

void dpt__watch_await_diagnosis(void) {
  static atomic_int waited; /* later failures have the same cause */
  if (!atomic_exchange(&waited, 1)) dpt__sleep((int64_t)EXPLAIN_MS * MS);
}

/* ---- the thread ---- */

/* The time for which the same value has been observed. */
typedef struct sight {
  uint64_t same;
  int64_t last, total;
} sight;

/* Returns the nanoseconds for which `what` has been observed, without the time in which this thread
 * did not run. */
static int64_t watchdog_seen_for(sight *s, uint64_t what, int64_t now) {
  int64_t most = (int64_t)20 * LOOK_MS * MS, passed = now - s->last;
  s->total = what == s->same && s->last ? s->total + (passed < most ? passed : most) : 0;
  s->same = what;
  s->last = now;
  return s->total;
}

/* Ends this rank after another of this host has failed. The record gets the other rank's message
 * without its traceback; the message is not printed again. */
static void watchdog_follow(const dpt__record *r) {
  char why[DPT__RECORD_TEXT], said[80];
  snprintf(why, sizeof why, "%.*s", (int)strcspn(r->text, "\n"), r->text);
  snprintf(said, sizeof said, "rank %d ends with rank %d, which says why", dpt__job_own.rank,
           r->origin);
  watchdog_end(why, r->origin, said);
}

/* Ends this rank if rank k has failed or died. A message from another host is printed without its
 * traceback. */
static void watchdog_look_at(int k) {
  const dpt__record *r = dpt__job_own.local[k];
  const dpt__news *news = dpt__hosts_state_of(k);
  if (k == dpt__job_own.rank || (!r && !news)) return;
  int state = dpt__peer_state(k);
  if (state == DPT__RANK_FAILED && r) watchdog_follow(r);
  if (state == DPT__RANK_FAILED) dpt__abort_job("%.*s", (int)strcspn(news->text, "\n"), news->text);
  if (state < DPT__RANK_LEFT && r && dpt__rank_died(r))
    dpt__abort_job("rank %d (process %d) has died", k, r->pid);
}

/* Exchanges news, and compares each remote rank's last operation with this rank's of that
 * number. */
static void watchdog_exchange(void) {
  const dpt__job *job = &dpt__job_own;
  dpt__operation its, own;
  int last = atomic_load(&closing), heard, all = 1;
  if (dpt__hosts_round(last, &heard)) dpt__abort_job("rank %d: %s", job->rank, dpt_message());
  for (int k = 0; k < job->size && heard; k++) {
    const dpt__news *news = dpt__hosts_state_of(k);
    all = all && news->closing && !news->more;
    if (k != job->rank && !job->local[k] && dpt__peer_last(k, &its) &&
        dpt__record_find(job->record, its.signature.group, its.number, &own))
      watchdog_compare(&own, k);
  }
  if (heard && last && all) atomic_store(&closed, 1);
}

static uint64_t watchdog_hash(const char *text, uint64_t hash) {
  for (; *text; text++) hash = (hash ^ (uint64_t)(unsigned char)*text) * 1099511628211u;
  return hash;
}

/* Ends the job for an operation that can never complete, if the news is recent. */
static void watchdog_conclude(uint64_t which, const dpt__operation *pending, int64_t now) {
  static sight seen;
  char text[DPT__FINDING];
  int found = pending && now - pending->began > (int64_t)BRIEF_MS * MS &&
              (dpt__waits_absent(text, which, pending) || dpt__waits_find_cycle(text));
  int64_t settled = (int64_t)SETTLED_MS * MS;
  if (watchdog_seen_for(&seen, found ? watchdog_hash(text, which) : 0, now) > settled && found &&
      dpt__hosts_silence() < settled)
    dpt__abort_job("%s", text);
}

/* Ends the job for an operation that takes too long. */
static void watchdog_limit(int state, uint64_t which, const dpt__operation *pending, int64_t now) {
  static sight seen;
  const dpt__job *job = &dpt__job_own;
  char text[DPT__REPORT];
  int64_t limit = dpt__timeout();
  if (watchdog_seen_for(&seen, which * 8 + (uint64_t)state, now) <= limit) return;
  int stuck = state == DPT__RANK_LEFT || dpt__hosts_silence() > limit;
  /* if only this rank is late in leaving, the others can go on; not if one is stopped or silent */
  for (int k = 0; k < job->size; k++)
    stuck |= job->local && job->local[k] && now - atomic_load(&job->local[k]->beat) > limit;
  if (state == DPT__RANK_STARTING)
    dpt__report_start(text);
  else if (pending)
    dpt__report_late(text, pending);
  else if (state >= DPT__RANK_LEAVING && stuck)
    dpt__report_end(text);
  else
    return;
  dpt__abort_job("%s", text);
}

static void watchdog_look(void) {
  const dpt__job *job = &dpt__job_own;
  int64_t now = dpt__now();
  uint64_t which = atomic_load(&job->pending);
  dpt__operation own;
  const dpt__operation *pending = NULL;
  atomic_store(&job->record->beat, now);
  int state = atomic_load(&job->record->state);
  if (state != DPT__RANK_STARTING) { /* before, records may be those of an earlier job */
    if (which && dpt__record_read(job->record, which, &own)) pending = &own;
    if (!atomic_load(&closed)) watchdog_exchange();
    for (int k = 0; k < job->size; k++) {
      watchdog_look_at(k);
      if (pending && job->local[k]) watchdog_compare(pending, k);
    }
    watchdog_conclude(which, pending, now);
  }
  watchdog_limit(state, which, pending, now);
}

static void *watchdog_watch(void *none) {
  while (atomic_load(&running)) {
    watchdog_look();
    dpt__sleep((int64_t)(atomic_load(&closing) ? 1 : LOOK_MS) * MS);
  }
  return none;
}

int dpt__watch_begin(void) {
  atomic_store(&running, 1);
  if (pthread_create(&thread, NULL, watchdog_watch, NULL))
    return dpt__fail("distributed: cannot start a thread for the watchdog");
  return 0;
}

void dpt__watch_close(void) {
  char text[DPT__FINDING];
  if (dpt__job_own.local_size < dpt__job_own.size) {
    atomic_store(&closing, 1);
    while (!atomic_load(&closed)) dpt__sleep(MS);
  }
  if (dpt__waits_find_unmatched(text)) dpt__abort_job("%s", text);
}

void dpt__watch_end(void) {
  atomic_store(&running, 0);
  pthread_join(thread, NULL);
}
