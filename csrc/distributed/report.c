/* report.c: see report.h.
 *
 * Invariant: it only reads records and the last news of other hosts. It lists by number the ranks
 * that have come to the operation, and describes, as far as there is space, each rank that has not
 * or that has been silent since.
 */
#include "distributed/report.h"

#include "device/timeout.h"
#include "distributed/hosts.h"
#include "distributed/peers.h"
#include "distributed/waits.h"

#include <stdio.h>
#include <string.h>

enum { RANK = 320 };

/* Returns the process state of /proc: R, S, T (stopped), Z (died) ...; 0: no such process. */
static int report_process_state(int pid) {
  char path[40], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *end = n ? strrchr(text, ')') : NULL;
  return end && end[1] ? end[2] : 0;
}

/* Returns a rank's process state; R if the rank is in another PID namespace. */
static int report_state_of(const dpt__record *r) {
  return r->pids == dpt__job_own.record->pids ? report_process_state(r->pid) : 'R';
}

int dpt__rank_died(const dpt__record *r) {
  int state = report_state_of(r);
  return !state || state == 'Z' || state == 'X';
}

/* Returns the state in words, or NULL if the rank is running. */
static const char *report_word_of(const dpt__record *r) {
  int state = atomic_load(&r->state), process = report_state_of(r);
  if (!process || process == 'Z' || process == 'X') return "has died";
  if (process == 'T' || process == 't') return "is stopped";
  if (state == DPT__RANK_FAILED) return "has failed";
  if (state >= DPT__RANK_LEAVING) return "has ended its script";
  if (state == DPT__RANK_STARTING) return "is connecting to the others";
  return NULL;
}

/* Describes a rank of this host. */
static void report_describe_process(char text[RANK], int k, const dpt__record *r) {
  const char *word = report_word_of(r);
  char what[DPT__OPERATION_TEXT];
  dpt__operation last;
  int is_in = dpt__record_last(r, &last) && !last.ended;
  int n = snprintf(text, RANK, "rank %d (process %d): %s", k, r->pid,
                   word    ? word
                   : is_in ? "is"
                           : "computes");
  if (dpt__record_last(r, &last))
    snprintf(text + n, RANK - (size_t)n, is_in ? "%s in %s for %.1f s" : "%s after %s %.1f s ago",
             word    ? ","
             : is_in ? ""
                     : ",",
             dpt__operation_text(what, &last),
             (double)(dpt__now() - (is_in ? last.began : last.ended)) * 1e-9);
}

/* Describes a rank of another host, which has another clock. */
static void report_describe_news(char text[RANK], int k, const dpt__news *news) {
  char what[DPT__OPERATION_TEXT];
  snprintf(text, RANK, "rank %d on %s: last heard of %.1f s ago%s%s", k, news->host,
           (double)dpt__hosts_silence() * 1e-9,
           !news->last             ? ""
           : news->operation.ended ? ", computing after "
                                   : ", in ",
           news->last ? dpt__operation_text(what, &news->operation) : "");
}

static void report_describe(char text[RANK], int k) {
  const dpt__news *news = dpt__hosts_state_of(k);
  if (dpt__job_own.local[k])
    report_describe_process(text, k, dpt__job_own.local[k]);
  else if (news)
    report_describe_news(text, k, news);
  else
    snprintf(text, RANK, "rank %d: has no record on this host", k);
}

static int report_has_arrived(int k, const dpt__operation *own) {
  return k == dpt__job_own.rank || dpt__waits_has_begun(k, own);
}

/* Returns 1 if a rank that has come is unreachable now: its machine or the network is down, or its
 * process is stopped or dead. */
static int report_is_unreachable(int k) {
  const dpt__record *r = dpt__job_own.local[k];
  if (!r) return dpt__hosts_silence() > dpt__timeout() / 2;
  int state = report_state_of(r);
  return state == 'T' || state == 't' || dpt__rank_died(r);
}

static void report_add(char text[DPT__REPORT], const char *more) {
  size_t n = strlen(text);
  if (n + strlen(more) < DPT__REPORT - 1) strcpy(text + n, more);
}

/* Adds the ranks that have come: "; come: 0-2, 5". */
static void report_add_arrived(char text[DPT__REPORT], const dpt__ranks *g,
                               const dpt__operation *own) {
  char line[40];
  report_add(text, "; come: ");
  for (int i = 0, first = 1; i < g->n; i++) {
    int begin = g->list[i], end = begin;
    if (!report_has_arrived(begin, own)) continue;
    while (i + 1 < g->n && g->list[i + 1] == end + 1 && report_has_arrived(end + 1, own))
      i++, end++;
    snprintf(line, sizeof line, end > begin ? "%s%d-%d" : "%s%d", first ? "" : ", ", begin, end);
    report_add(text, line);
    first = 0;
  }
}

static void report_add_rank(char text[DPT__REPORT], int k) {
  char line[RANK + 2] = "; ";
  report_describe(line + 2, k);
  report_add(text, line);
}

/* Returns 1 if rank k is at the other end of a message of this rank's operation. */
static int report_is_peer(int k, uint64_t which) {
  int rank = dpt__job_own.rank, n = dpt__peer_channels(rank);
  for (int i = 0; i < n; i++) {
    dpt__channel c;
    dpt__peer_channel(rank, i, &c);
    if (dpt__is_pair(c.key) && c.which == which &&
        (k == dpt__pair_from(c.key) || k == dpt__pair_to(c.key)))
      return 1;
  }
  return 0;
}

/* Describes the ranks that have not come, and those that are unreachable, even outside the group:
 * others may wait for them. */
void dpt__report_late(char text[DPT__REPORT], const dpt__operation *own) {
  char what[DPT__OPERATION_TEXT];
  dpt__operation last;
  uint64_t which = dpt__peer_last(dpt__job_own.rank, &last);
  snprintf(text, DPT__REPORT,
           "rank %d: %s (operation %llu) has taken longer than %g s (DPT_TIMEOUT)",
           dpt__job_own.rank, dpt__operation_text(what, own), (unsigned long long)own->number,
           (double)dpt__timeout() * 1e-9);
  dpt__lock(&dpt__job_own.lock);
  const dpt__ranks *g = dpt__job_find(own->signature.group);
  if (g) report_add_arrived(text, g, own);
  for (int k = 0; k < dpt__job_own.size; k++) {
    int needed = !g && report_is_peer(k, which);
    for (int i = 0; g && i < g->n; i++) needed |= g->list[i] == k && !report_has_arrived(k, own);
    if (k != dpt__job_own.rank && (needed || report_is_unreachable(k))) report_add_rank(text, k);
  }
  dpt__unlock(&dpt__job_own.lock);
}

void dpt__report_start(char text[DPT__REPORT]) {
  const dpt__job *job = &dpt__job_own;
  char line[RANK];
  snprintf(text, DPT__REPORT,
           "rank %d: connecting the %d ranks has taken longer than %g s (DPT_TIMEOUT)", job->rank,
           job->size, (double)dpt__timeout() * 1e-9);
  for (int k = 0; k < job->size; k++) {
    const dpt__record *r = k == job->rank ? NULL : dpt__record_open(job->name, k);
    const char *word = r ? report_word_of(r) : NULL;
    if (r)
      snprintf(line, sizeof line, "; rank %d (process %d): %s", k, r->pid, word ? word : "runs");
    else if (k != job->rank)
      snprintf(line, sizeof line, "; rank %d: does not use dpt.distributed yet on this host", k);
    if (k != job->rank) report_add(text, line);
    if (r) dpt__record_close(r);
  }
}

void dpt__report_end(char text[DPT__REPORT]) {
  const dpt__job *job = &dpt__job_own;
  snprintf(text, DPT__REPORT,
           "rank %d has ended its script and waits for the others, some of which have not answered "
           "for %g s (DPT_TIMEOUT)",
           job->rank, (double)dpt__timeout() * 1e-9);
  for (int k = 0; k < job->size; k++)
    if (k != job->rank) report_add_rank(text, k);
}
