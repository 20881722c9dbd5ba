/* waits.c: see waits.h. */
#include "distributed/waits.h"

#include "distributed/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 if rank k is a member of a channel. */
static int waits_is_member(const dpt__channel *c, int k) DPT__REQUIRES(dpt__job_own.lock) {
  if (dpt__is_pair(c->key)) return k == dpt__pair_from(c->key) || k == dpt__pair_to(c->key);
  const dpt__ranks *g = dpt__job_find(c->key);
  for (int i = 0; g && i < g->n; i++)
    if (g->list[i] == k) return 1;
  return 0;
}

static int waits_is_behind(const dpt__channel *c, int k) {
  dpt__channel its;
  dpt__peer_find_channel(k, c->key, &its);
  return its.number < c->number;
}

int dpt__waits_has_begun(int k, const dpt__operation *own) {
  return !waits_is_behind(&(dpt__channel){.key = own->signature.group, .number = own->number}, k);
}

static int waits_absent(char text[DPT__FINDING], uint64_t which, const dpt__operation *own, int k)
    DPT__REQUIRES(dpt__job_own.lock) {
  char what[DPT__OPERATION_TEXT], name[96];
  int rank = dpt__job_own.rank, n = dpt__peer_channels(rank);
  for (int i = 0; i < n; i++) {
    dpt__channel mine;
    dpt__peer_channel(rank, i, &mine);
    if (!mine.key || mine.which != which || !waits_is_member(&mine, k) ||
        !waits_is_behind(&mine, k))
      continue;
    snprintf(text, DPT__FINDING, "%s has ended its script, and rank %d waits for it in %s",
             dpt__peer_name(name, k), rank, dpt__operation_text(what, own));
    return 1;
  }
  return 0;
}

int dpt__waits_absent(char text[DPT__FINDING], uint64_t which, const dpt__operation *own) {
  int found = 0;
  dpt__lock(&dpt__job_own.lock);
  for (int k = 0; k < dpt__job_own.size && !found; k++)
    if (k != dpt__job_own.rank && dpt__peer_state(k) >= DPT__RANK_LEAVING &&
        dpt__peer_is_complete(k))
      found = waits_absent(text, which, own, k);
  dpt__unlock(&dpt__job_own.lock);
  return found;
}

/* ---- cycles ----
 *
 * A rank runs one operation at a time. So if each rank of a cycle is in an operation that the next
 * one has not begun, these ranks do not call their operations in the same order.
 */

typedef struct walk {
  char *seen; /* (size) */
  int *path;  /* (size): the ranks of the cycle, starting with this one */
  int length;
} walk;

/* Searches for a path from rank x back to this one; returns 1 if it finds one. */
static int waits_walk(walk *w, int x) DPT__REQUIRES(dpt__job_own.lock) {
  dpt__operation operation;
  uint64_t which = dpt__peer_last(x, &operation);
  int n = dpt__peer_channels(x);
  w->seen[x] = 1;
  w->path[w->length++] = x;
  for (int i = 0; i < n && which && !operation.ended; i++) {
    dpt__channel c;
    dpt__peer_channel(x, i, &c);
    if (!c.key || c.which != which) continue;
    for (int y = 0; y < dpt__job_own.size; y++)
      if (y != x && waits_is_member(&c, y) && waits_is_behind(&c, y) &&
          (y == dpt__job_own.rank || (!w->seen[y] && waits_walk(w, y))))
        return 1;
  }
  w->length--;
  return 0;
}

/* Describes a cycle: "rank 0 waits for rank 1 in A, rank 1 for rank 2 in B, and rank 2 for rank 0
 * in C of another group: ..." */
static void waits_describe_cycle(char text[DPT__FINDING], const walk *w) {
  char what[DPT__OPERATION_TEXT];
  uint64_t group = 0;
  int messages = 0;
  size_t n = 0;
  for (int i = 0; i < w->length && n < DPT__FINDING - 1; i++) {
    dpt__operation operation = {0};
    int k = w->path[i], last = i == w->length - 1;
    dpt__peer_last(k, &operation);
    const dpt__signature *s = &operation.signature;
    if (!i) group = s->group;
    messages += dpt__is_message(s);
    n += (size_t)snprintf(text + n, DPT__FINDING - n, "%srank %d %sfor rank %d in %s%s",
                          !i     ? ""
                          : last ? ", and "
                                 : ", ",
                          k, i ? "" : "waits ", last ? w->path[0] : w->path[i + 1],
                          dpt__operation_text(what, &operation),
                          !dpt__is_message(s) && s->group != group ? " of another group" : "");
  }
  if (n < DPT__FINDING)
    snprintf(text + n, DPT__FINDING - n, ": %s",
             messages == w->length
                 ? "a send may wait for its receive; distributed.exchange sends and receives "
                   "simultaneously"
                 : "each rank must call the operations of all its groups in the same order");
}

int dpt__waits_find_cycle(char text[DPT__FINDING]) {
  const dpt__job *job = &dpt__job_own;
  walk w = {calloc((size_t)job->size, 1), malloc((size_t)job->size * sizeof(int)), 0};
  int found = 0;
  dpt__lock(&dpt__job_own.lock);
  if (w.seen && w.path) found = waits_walk(&w, job->rank);
  dpt__unlock(&dpt__job_own.lock);
  if (found) waits_describe_cycle(text, &w);
  free(w.seen);
  free(w.path);
  return found;
}

/* ---- the end ---- */

int dpt__waits_find_unmatched(char text[DPT__FINDING]) {
  int rank = dpt__job_own.rank, n = dpt__peer_channels(rank), found = 0;
  dpt__lock(&dpt__job_own.lock);
  for (int i = 0; i < n && !found; i++) {
    dpt__channel mine, its;
    dpt__operation missing;
    dpt__peer_channel(rank, i, &mine);
    for (int k = 0; k < dpt__job_own.size && mine.key && !found; k++) {
      if (k == rank || !dpt__peer_is_complete(k) || !waits_is_member(&mine, k)) continue;
      dpt__peer_find_channel(k, mine.key, &its);
      int known = dpt__peer_find(rank, mine.key, its.number + 1, &missing);
      found = dpt__compare_ends(text, rank, &mine, k, &its, known ? &missing : NULL);
    }
  }
  dpt__unlock(&dpt__job_own.lock);
  return found;
}
