/* peers.c: see peers.h. */
#include "distributed/peers.h"

#include "distributed/hosts.h"

#include <stdio.h>

static const dpt__record *peer_record(int k) {
  const dpt__job *job = &dpt__job_own;
  return k == job->rank ? job->record : job->local[k];
}

int dpt__peer_state(int k) {
  const dpt__record *r = peer_record(k);
  const dpt__news *news = dpt__hosts_state_of(k);
  return r ? atomic_load(&r->state) : news ? news->state : DPT__RANK_RUNNING;
}

int dpt__peer_is_complete(int k) {
  const dpt__record *r = peer_record(k);
  const dpt__news *news = dpt__hosts_state_of(k);
  return r ? atomic_load(&r->channels) < DPT__CHANNELS : news && !news->more && !news->full;
}

uint64_t dpt__peer_last(int k, dpt__operation *copy) {
  const dpt__record *r = peer_record(k);
  const dpt__news *news = dpt__hosts_state_of(k);
  if (r) return dpt__record_last(r, copy);
  if (!news || !news->last) return 0;
  *copy = news->operation;
  return news->last;
}

int dpt__peer_find(int k, uint64_t group, uint64_t number, dpt__operation *copy) {
  const dpt__record *r = peer_record(k);
  if (r) return dpt__record_find(r, group, number, copy);
  return dpt__peer_last(k, copy) && copy->signature.group == group && copy->number == number;
}

int dpt__peer_channels(int k) {
  const dpt__record *r = peer_record(k);
  return r ? atomic_load(&r->channels) : dpt__hosts_channels(k);
}

void dpt__peer_channel(int k, int i, dpt__channel *copy) {
  const dpt__record *r = peer_record(k);
  if (r)
    dpt__record_get_channel(r, i, copy);
  else
    dpt__hosts_channel(k, i, copy);
}

void dpt__peer_find_channel(int k, uint64_t key, dpt__channel *copy) {
  int n = dpt__peer_channels(k);
  for (int i = 0; i < n; i++) {
    dpt__peer_channel(k, i, copy);
    if (copy->key == key) return;
  }
  *copy = (dpt__channel){.key = key};
}

const char *dpt__peer_name(char text[96], int k) {
  const dpt__news *news = dpt__hosts_state_of(k);
  int remote = !peer_record(k) && news;
  snprintf(text, 96, remote ? "rank %d on %s" : "rank %d", k, remote ? news->host : "");
  return text;
}
