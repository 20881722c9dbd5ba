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
/* Copies rank k's last operation and returns the operation's number in that rank's record; 0: none
 * is known. */
uint64_t dpt__peer_last(int k, dpt__operation *copy);
/* Copies rank k's operation `number` of a group. Returns 0 if it is not known. */
int dpt__peer_find(int k, uint64_t group, uint64_t number, dpt__operation *copy);
/* Return the number of rank k's channels; copy channel i. A channel with key 0 is unused or
 * unknown. */
int dpt__peer_channels(int k);
void dpt__peer_channel(int k, int i, dpt__channel *copy);
/* Copies rank k's channel with that key; {key, 0} if the rank has begun nothing in it. */
void dpt__peer_find_channel(int k, uint64_t key, dpt__channel *copy);
/* Formats rank k's name: "rank 2", "rank 2 on node1". */
const char *dpt__peer_name(char text[96], int k);

#endif
