/* hosts.h: the state of ranks on other hosts. */
#ifndef DPT_DISTRIBUTED_HOSTS_H
#define DPT_DISTRIBUTED_HOSTS_H
#include "distributed/job.h"

/* The state that a rank sends to all others. */
typedef struct dpt__news {
  int32_t state, closing; /* closing: it needs no further round */
  int32_t more;           /* 1: more channels have changed than this news reports */
  int32_t full;           /* 1: its record has no space for more channels */
  int32_t changed;        /* number of entries of `channel` and `index` */
  uint64_t last;          /* number of its last operation in its record; 0: none */
  dpt__operation operation;
  int32_t index[16];
  dpt__channel channel[16];
  char host[DPT__RECORD_NAME], text[512];
} dpt__news;

/* Waits for the first news of all ranks. Called before the first operation. */
int dpt__hosts_open(void);
/* Begins a round if none is under way and one is due, and polls it. *heard: 1 if it has ended. */
int dpt__hosts_round(int closing, int *heard);
/* Returns the last news of rank k, or NULL if all ranks are on one host. */
const dpt__news *dpt__hosts_state_of(int k);
/* Return the number of channels that rank k has reported; copy channel i. */
int dpt__hosts_channels(int k);
void dpt__hosts_channel(int k, int i, dpt__channel *copy);
/* Returns the nanoseconds since the last complete round; 0 if all ranks are on one host. */
int64_t dpt__hosts_silence(void);

#endif
