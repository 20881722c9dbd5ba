/* peers.h: the state of each rank of the job, this one included. It is read from the rank's record
 * if the rank is on this host, from its news otherwise. A rank without either counts as running.
 */
#ifndef DPT_DISTRIBUTED_PEERS_H
#define DPT_DISTRIBUTED_PEERS_H
#include "distributed/job.h"

/* Returns the state of rank k (enum dpt__rank_state). */
int dpt__peer_state(int k);
/* Returns 1 if the channels below are all that rank k has. A rank of another host may not have
 * reported all yet, and a record holds at most DPT__CHANNELS. */
int dpt__peer_is_complete(int k);
/* Copies its last operation and returns the operation's number in its record; 0: none is known. */
uint64_t dpt__peer_last(int k, dpt__operation *copy);
/* Copies its operation `number` of a group. Returns 0 if that is not known. */
int dpt__peer_find(int k, uint64_t group, uint64_t number, dpt__operation *copy);
/* Return the number of its channels; copy the i-th. A channel with key 0 is unused or unknown. */
int dpt__peer_channels(int k);
void dpt__peer_channel(int k, int i, dpt__channel *copy);
/* Copies the channel with that key; {key, 0} if the rank has begun nothing in it. */
void dpt__peer_find_channel(int k, uint64_t key, dpt__channel *copy);
/* Formats its name: "rank 2", "rank 2 on node1". */
const char *dpt__peer_name(char text[96], int k);

#endif
