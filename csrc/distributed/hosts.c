/* hosts.c: see hosts.h.
 *
 * Invariant: after the world is joined, only the watchdog's thread calls these functions. News is
 * exchanged in rounds that all ranks begin, by calls that are begun and then polled. While a rank
 * is stopped or unreachable, no round ends, and the others' last known state is that of the last
 * round. A round reports the channels that have changed, as many as fit; the rest follow in the
 * next rounds.
 */
#include "distributed/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_MS = 200, MS = 1000000, ENTRIES = sizeof((dpt__news *)0)->index / sizeof(int32_t) };

static dpt__news mine, *arriving, *known; /* the last two: (size), or NULL on one host */
static dpt__channel **channels;  /* (size): the channels that each rank has reported, by index */
static int *capacity, under_way; /* capacity: (size): allocated length of each */
static uint64_t reported[DPT__CHANNELS]; /* `which` of each channel when last reported */
static int from;                         /* the channel to check first */
static int64_t heard, next;

static void hosts_publish_channels(const dpt__record *r) {
  int n = atomic_load(&r->channels);
  mine.changed = mine.more = 0;
  mine.full = n == DPT__CHANNELS;
  for (int k = 0; k < n && !mine.more; k++) {
    int i = (from + k) % n;
    dpt__channel now;
    dpt__record_get_channel(r, i, &now);
    if (!now.key || now.which == reported[i]) continue;
    mine.more = mine.changed == ENTRIES;
    if (mine.more) {
      from = i;
    } else {
      mine.index[mine.changed] = i;
      mine.channel[mine.changed++] = now;
      reported[i] = now.which;
    }
  }
}

static void hosts_publish(int closing) {
  const dpt__record *r = dpt__job_own.record;
  mine.state = atomic_load(&r->state); /* read first: after LEAVING the rest no longer changes */
  mine.closing = closing;
  mine.last = dpt__record_last(r, &mine.operation);
  hosts_publish_channels(r);
  memcpy(mine.host, r->host, sizeof mine.host);
  if (mine.state == DPT__RANK_FAILED) snprintf(mine.text, sizeof mine.text, "%.511s", r->text);
}

/* Stores the channels that rank k has reported. */
static int hosts_keep_channels(int k) {
  const dpt__news *news = &known[k];
  for (int e = 0; e < news->changed; e++) {
    int i = news->index[e], more = 2 * i + 16;
    if (i >= capacity[k]) {
      dpt__channel *grown = realloc(channels[k], (size_t)more * sizeof *grown);
      if (!grown) return dpt__no_memory("distributed: no host memory for the watchdog");
      memset(grown + capacity[k], 0, (size_t)(more - capacity[k]) * sizeof *grown);
      channels[k] = grown;
      capacity[k] = more;
    }
    channels[k][i] = news->channel[e];
  }
  return 0;
}

int dpt__hosts_round(int closing, int *ended) {
  const dpt__job *job = &dpt__job_own;
  *ended = 0;
  if (!known || (!under_way && !closing && dpt__now() < next)) return 0;
  if (!under_way) hosts_publish(closing);
  under_way = 1;
  DPT__TRY(job->engine->heartbeat(&mine, arriving, sizeof mine, ended));
  if (!*ended) return 0;
  under_way = 0;
  heard = dpt__now();
  next = heard + (int64_t)ROUND_MS * MS;
  memcpy(known, arriving, (size_t)job->size * sizeof *known);
  for (int k = 0; k < job->size; k++) DPT__TRY(hosts_keep_channels(k));
  return 0;
}

int dpt__hosts_open(void) {
  const dpt__job *job = &dpt__job_own;
  size_t n = (size_t)job->size;
  if (job->local_size == job->size) return 0;
  arriving = calloc(n, sizeof *arriving);
  known = calloc(n, sizeof *known);
  channels = calloc(n, sizeof *channels);
  capacity = calloc(n, sizeof *capacity);
  if (!arriving || !known || !channels || !capacity)
    return dpt__no_memory("distributed: no host memory for the watchdog");
  for (int ended = 0; !ended; dpt__sleep(MS)) DPT__TRY(dpt__hosts_round(0, &ended));
  return 0; /* no limit here: the watchdog limits joining */
}

const dpt__news *dpt__hosts_state_of(int k) { return known ? &known[k] : NULL; }

int dpt__hosts_channels(int k) { return known ? capacity[k] : 0; }

void dpt__hosts_channel(int k, int i, dpt__channel *copy) { *copy = channels[k][i]; }

int64_t dpt__hosts_silence(void) { return known ? dpt__now() - heard : 0; }
