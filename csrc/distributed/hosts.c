/* hosts.c: what ranks of other hosts do (see world.h).
 *
 * Invariant: only the watchdog's thread comes here once the world is joined. News travels in rounds
 * that all ranks begin, by calls that are begun and asked about: a rank that is stopped or out of
 * reach ends no round, so that what is known of the others is what the last round said.
 */
#include "distributed/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_MS = 200, MS = 1000000 };

typedef struct news {
  int32_t state, has_operation, closing; /* closing: the sender needs no other round */
  dpt__operation operation;              /* its last one */
  char host[DPT__RECORD_NAME], text[512];
} news;

static news mine, *arriving, *known; /* (size) of the last two; NULL: one host */
static int64_t heard, next;
static int exchanging;

static void hosts_say(int closing) {
  const dpt__record *r = dpt__world_own.record;
  mine.state = atomic_load(&r->state);
  mine.has_operation = dpt__record_last(r, &mine.operation);
  mine.closing = closing;
  memcpy(mine.host, r->host, sizeof mine.host);
  if (mine.state == DPT__RANK_FAILED) snprintf(mine.text, sizeof mine.text, "%.511s", r->text);
}

/* What rank k was in last is compared with what this rank did at that place. */
static void hosts_compare(int k) {
  const dpt__operation *its = &known[k].operation;
  dpt__operation own;
  if (known[k].has_operation && !dpt__is_paired(&its->signature) &&
      dpt__record_find(dpt__world_own.record, its->signature.group, its->number, &own))
    dpt__watch_compare_one(&own, k, its);
}

int dpt__hosts_came(int k, const dpt__operation *own) {
  if (!known) return 0;
  const dpt__operation *its = &known[k].operation;
  return known[k].has_operation && its->signature.group == own->signature.group &&
         its->number >= own->number;
}

/* A round: begun where none is, and asked about; whether it is over. */
static int hosts_exchange(int closing) {
  const dpt__world *w = &dpt__world_own;
  int done = 0;
  if (!exchanging) hosts_say(closing);
  exchanging = 1;
  if (w->engine->exchange(&mine, arriving, sizeof mine, &done))
    dpt__world_abort("rank %d: %s", w->rank, dpt_message());
  if (!done) return 0;
  exchanging = 0;
  heard = dpt__now();
  next = heard + (int64_t)EXCHANGE_MS * MS;
  memcpy(known, arriving, (size_t)w->size * sizeof *known);
  return 1;
}

int dpt__hosts_open(void) {
  const dpt__world *w = &dpt__world_own;
  if (w->local_size == w->size) return 0;
  arriving = calloc((size_t)w->size, sizeof *arriving);
  known = calloc((size_t)w->size, sizeof *known);
  if (!arriving || !known) return dpt__no_memory("distributed: no host memory for the watchdog");
  while (!hosts_exchange(0)) dpt__sleep(MS); /* joining has a deadline, too */
  return 0;
}

void dpt__hosts_exchange(const dpt__operation *pending) {
  const dpt__world *w = &dpt__world_own;
  char what[DPT__OPERATION_TEXT];
  if (!known || (!exchanging && dpt__now() < next) || !hosts_exchange(0)) return;
  for (int k = 0; k < w->size; k++) {
    if (k == w->rank || w->local[k]) continue;
    if (known[k].state == DPT__RANK_FAILED) dpt__world_abort("%.511s", known[k].text);
    hosts_compare(k);
    if (known[k].state >= DPT__RANK_LEAVING && pending &&
        dpt__watch_needs(pending, k, dpt__hosts_came(k, pending)))
      dpt__world_abort("rank %d on %s has ended its script, and rank %d waits for it in %s", k,
                       known[k].host, w->rank, dpt__operation_text(what, pending));
  }
}

int dpt__hosts_drain(void) {
  if (!hosts_exchange(1)) return 0;
  for (int k = 0; k < dpt__world_own.size; k++)
    if (!known[k].closing) return 0;
  return 1;
}

int64_t dpt__hosts_silence(void) { return known ? dpt__now() - heard : 0; }

void dpt__hosts_describe(char *text, size_t size, int k) {
  char what[DPT__OPERATION_TEXT];
  if (!known) {
    snprintf(text, size, "rank %d: has no record on this host", k);
    return;
  }
  snprintf(text, size, "rank %d on %s: last heard of %.1f s ago%s%s", k, known[k].host,
           (double)dpt__hosts_silence() * 1e-9, known[k].has_operation ? ", in " : "",
           known[k].has_operation ? dpt__operation_text(what, &known[k].operation) : "");
}
