/* peers.h: the state of each rank of the job, this one included: from its record if it is on this
 * host, else from its news. A rank without either counts as running.
 */
#ifndef DPT_DISTRIBUTED_PEERS_H
#define DPT_DISTRIBUTED_PEERS_H
#include "distributed/job.h"

/* enum dpt__rank_state */
int dpt__peer_state(int k);
/* Returns 1 if the channels below are all that it has: a rank of another host may not have told of
 * all yet, and a record holds DPT__CHANNELS. */
int dpt__peer_is_complete(int k);
/* Copies its last operation, and returns the number of that in its record; 0: none is known. */
uint64_t dpt__peer_last(int k, dpt__operation *copy);
/* Copies its operation `number` of a group; 0: it is not known. */
int dpt__peer_find(int k, uint64_t group, uint64_t number, dpt__operation *copy);
/* Its channels: how many, and a copy of the i-th; of one without a key nothing is known. */
int dpt__peer_channels(int k);
void dpt__peer_channel(int k, int i, dpt__channel *copy);
/* Copies the channel of that key; {key, 0}: it has begun nothing in it. */
void dpt__peer_find_channel(int k, uint64_t key, dpt__channel *copy);
/* "rank 2", "rank 2 on node1" */
const char *dpt__peer_name(char text[96], int k);

#endif
