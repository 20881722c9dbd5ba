/* groups.c: see groups.h.
 *
 * Invariant: all ranks make the same groups in the same order, so a group has the same number and
 * hash on all of them. A rank only marks a group as released; the group is freed when the next one
 * is made, since all its ranks must free the engine's part at the same time.
 */
#include "distributed/groups.h"

#include "comm/communicators.h"
#include "distributed/compare.h"
#include "distributed/watchdog.h"

#include <stdlib.h>
#include <string.h>

/* Returns a hash that differs even between groups of the same ranks. `made` is multiplied before
 * the first rank is mixed in: otherwise a small rank could cancel the difference between two small
 * numbers. The highest bit is reserved for pairs' keys. */
static uint64_t groups_hash(uint64_t made, int n, const int *list) {
  uint64_t hash = (14695981039346656037u ^ made) * 1099511628211u;
  for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)list[i]) * 1099511628211u;
  return (hash & ~(1ull << 63)) | 1;
}

int dpt__group_new(const char *fn, int n, const int *list, dpt__ranks **group) {
  dpt__ranks *g = calloc(1, sizeof *g);
  if (g) g->list = malloc((size_t)n * sizeof *list);
  if (!g || !g->list) {
    free(g);
    return dpt__no_memory("%s: no host memory for a group of ranks", fn);
  }
  memcpy(g->list, list, (size_t)n * sizeof *list);
  g->n = n;
  g->rank = g->channel = -1;
  for (int i = 0; i < n; i++)
    if (list[i] == dpt__job_own.rank) g->rank = i;
  *group = g;
  return 0;
}

void dpt__group_free(dpt__ranks *g) {
  free(g->list);
  free(g);
}

/* A rank's vote on whether a group is freed. */
typedef struct claim {
  int64_t released;
  dpt__channel channel;
} claim;

static void groups_claim(claim *mine, int n) {
  dpt__job *job = &dpt__job_own;
  dpt__lock(&job->lock);
  for (int i = 1; i < n; i++) {
    const dpt__ranks *g = job->group[i];
    mine[i].released = g && atomic_load(&g->released);
    if (g && g->channel >= 0) dpt__record_get_channel(job->record, g->channel, &mine[i].channel);
  }
  dpt__unlock(&job->lock);
}

/* Returns 1 if all ranks have released a group. Ends the job if its ranks have not run the same
 * operations in it. all: (ranks, n). */
static int groups_are_done(const claim *all, int n, int number, const dpt__ranks *g) {
  const dpt__job *job = &dpt__job_own;
  const claim *mine = &all[job->rank * n + number];
  char text[DPT__FINDING];
  for (int k = 0; k < job->size; k++)
    if (!all[k * n + number].released) return 0;
  for (int i = 0; i < g->n && g->rank >= 0 && mine->channel.key; i++) {
    const claim *its = &all[g->list[i] * n + number];
    if (dpt__compare_ends(text, job->rank, &mine->channel, g->list[i], &its->channel, NULL))
      dpt__abort_job("%s", text);
  }
  return 1;
}

static int groups_end(dpt__ranks *g, int number) {
  dpt__job *job = &dpt__job_own;
  int status = g->joined && job->engine->ungroup(g->joined);
  if (g->devices) dpt__communicator_leave(g->devices);
  dpt__record_set_channel(job->record, g->channel, &(dpt__channel){0});
  dpt__lock(&job->lock);
  job->group[number] = NULL;
  dpt__unlock(&job->lock);
  dpt__group_free(g);
  return status;
}

/* Returns a group. Only the maker of groups changes the list. */
static dpt__ranks *groups_at(int number) {
  dpt__job *job = &dpt__job_own;
  dpt__lock(&job->lock);
  dpt__ranks *g = job->group[number];
  dpt__unlock(&job->lock);
  return g;
}

static int groups_free_released(int n) {
  dpt__job *job = &dpt__job_own;
  claim *all = calloc((size_t)(job->size + 1) * (size_t)n, sizeof *all);
  claim *mine = all + (size_t)job->size * (size_t)n;
  if (!all) return dpt__no_memory("no host memory for the numbers of groups");
  groups_claim(mine, n);
  int64_t bytes = n * (int64_t)sizeof *mine;
  int status = 0;
  if (job->engine)
    status = job->engine->all_gather(groups_at(0)->joined, mine, all, bytes);
  else
    memcpy(all, mine, (size_t)bytes);
  for (int i = 1; i < n && !status; i++) {
    dpt__ranks *g = groups_at(i);
    if (g && groups_are_done(all, n, i, g)) status = groups_end(g, i);
  }
  free(all);
  return status;
}

int dpt__groups_make(dpt__ranks *g, int *number) {
  dpt__job *job = &dpt__job_own;
  dpt__lock(&job->lock);
  int n = job->groups, i = 0;
  dpt__unlock(&job->lock);
  if (n > 1) DPT__TRY(groups_free_released(n));
  while (i < n && groups_at(i)) i++;
  if (i == DPT__GROUPS)
    return dpt__fail("there are %d groups of ranks, which is the maximum", DPT__GROUPS);
  g->hash = groups_hash(job->groups_made++, g->n, g->list);
  if (job->engine) DPT__TRY(job->engine->group(g->n, g->list, &g->joined));
  if (g->rank >= 0) g->channel = dpt__record_channel(job->record, g->hash);
  dpt__lock(&job->lock);
  job->group[i] = g;
  if (i == job->groups) job->groups++;
  dpt__unlock(&job->lock);
  *number = i;
  return 0;
}
