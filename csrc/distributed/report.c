/* report.c: what a deadline that has passed says (see world.h).
 *
 * Invariant: it only reads records and what the last news from other hosts was. Ranks that have
 * come are listed by number; each that has not, or that is silent since, gets what is known of it,
 * as far as there is space.
 */
#include "device/timeout.h"
#include "distributed/world.h"

#include <stdio.h>
#include <string.h>

enum { RANK = 320, REPORT = 1900 };

/* As /proc has it: R, S, T (stopped), Z (died) ...; 0: there is no such process. */
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

static int report_is_visible(const dpt__record *r) {
  return r->pids == dpt__world_own.record->pids;
}

int dpt__rank_died(const dpt__record *r) {
  int state = report_is_visible(r) ? report_process_state(r->pid) : 'R';
  return !state || state == 'Z' || state == 'X';
}

static const char *report_word_of(const dpt__record *r) {
  int state = atomic_load(&r->state),
      process = report_is_visible(r) ? report_process_state(r->pid) : 'R';
  if (!process || process == 'Z' || process == 'X') return "has died";
  if (process == 'T' || process == 't') return "is stopped";
  if (state == DPT__RANK_FAILED) return "has failed";
  if (state >= DPT__RANK_LEAVING) return "has ended its script";
  if (state == DPT__RANK_STARTING) return "connects to the others";
  return "is not there";
}

/* Rank k of this host, or of another one. */
static void report_describe(char text[RANK], int k) {
  const dpt__record *r = dpt__world_own.local[k];
  dpt__operation last;
  char what[DPT__OPERATION_TEXT];
  if (!r) {
    dpt__hosts_describe(text, RANK, k);
    return;
  }
  int n = snprintf(text, RANK, "rank %d (process %d): %s", k, r->pid, report_word_of(r));
  if (dpt__record_last(r, &last))
    snprintf(text + n, RANK - (size_t)n, ", after %s %.1f s ago", dpt__operation_text(what, &last),
             (double)(dpt__now() - last.began) * 1e-9);
}

static int report_has_come(int k, const dpt__operation *own) {
  const dpt__world *w = &dpt__world_own;
  dpt__operation its;
  if (k == w->rank) return 1;
  if (dpt__is_paired(&own->signature)) return 0;
  if (!w->local[k]) return dpt__hosts_came(k, own);
  return dpt__record_find(w->local[k], own->signature.group, own->number, &its);
}

/* A rank of another host that has come may have gone since: its machine or the network is away. */
static int report_is_silent(int k) {
  const dpt__world *w = &dpt__world_own;
  return k != w->rank && !w->local[k] && dpt__hosts_silence() > dpt__timeout() / 2;
}

static void report_add(char text[REPORT], const char *more) {
  size_t n = strlen(text);
  if (n + strlen(more) < REPORT - 1) strcpy(text + n, more);
}

/* "; come: 0-2, 5" */
static void report_add_come(char text[REPORT], const dpt__ranks *g, const dpt__operation *own) {
  char line[40];
  report_add(text, "; come: ");
  for (int i = 0, first = 1; i < g->n; i++) {
    int begin = g->list[i], end = begin;
    if (!report_has_come(begin, own)) continue;
    while (i + 1 < g->n && g->list[i + 1] == end + 1 && report_has_come(end + 1, own)) i++, end++;
    snprintf(line, sizeof line, end > begin ? "%s%d-%d" : "%s%d", first ? "" : ", ", begin, end);
    report_add(text, line);
    first = 0;
  }
}

static void report_add_rank(char text[REPORT], int k) {
  char line[RANK + 2] = "; ";
  report_describe(line + 2, k);
  report_add(text, line);
}

void dpt__report_late(const dpt__operation *own) {
  const dpt__ranks *g = dpt__ranks_of(own->signature.group);
  char text[REPORT], what[DPT__OPERATION_TEXT];
  snprintf(text, sizeof text,
           "rank %d: %s (operation %llu) has taken longer than %g s (DPT_TIMEOUT)",
           dpt__world_own.rank, dpt__operation_text(what, own), (unsigned long long)own->number,
           (double)dpt__timeout() * 1e-9);
  if (dpt__is_paired(&own->signature)) {
    report_add_rank(text, (int)own->signature.root);
  } else {
    report_add_come(text, g, own);
    for (int i = 0; i < g->n; i++)
      if (!report_has_come(g->list[i], own) || report_is_silent(g->list[i]))
        report_add_rank(text, g->list[i]);
  }
  dpt__world_abort("%s", text);
}

void dpt__report_start(void) {
  const dpt__world *w = &dpt__world_own;
  char text[REPORT], line[RANK];
  snprintf(text, sizeof text,
           "rank %d: connecting the %d ranks has taken longer than %g s (DPT_TIMEOUT)", w->rank,
           w->size, (double)dpt__timeout() * 1e-9);
  for (int k = 0; k < w->size; k++) {
    const dpt__record *r = k == w->rank ? NULL : dpt__record_open(w->job, k);
    if (r)
      snprintf(line, sizeof line, "; rank %d (process %d): %s", k, r->pid, report_word_of(r));
    else if (k != w->rank)
      snprintf(line, sizeof line, "; rank %d: does not use dpt.distributed yet on this host", k);
    if (k != w->rank) report_add(text, line);
    if (r) dpt__record_close(r);
  }
  dpt__world_abort("%s", text);
}

void dpt__report_end(void) {
  const dpt__world *w = &dpt__world_own;
  char text[REPORT];
  snprintf(text, sizeof text,
           "rank %d has ended its script and waits for the others, of which some have not answered "
           "for %g s (DPT_TIMEOUT)",
           w->rank, (double)dpt__timeout() * 1e-9);
  for (int k = 0; k < w->size; k++)
    if (k != w->rank) report_add_rank(text, k);
  dpt__world_abort("%s", text);
}
