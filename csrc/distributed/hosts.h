/* hosts.h: what ranks of other hosts do. */
#ifndef DPT_DISTRIBUTED_HOSTS_H
#define DPT_DISTRIBUTED_HOSTS_H
#include "distributed/job.h"

/* The state of a rank, as it tells all others. */
typedef struct dpt__news {
  int32_t state, closing; /* closing: it needs no other round */
  int32_t more;           /* channels have changed that it has not told of yet */
  int32_t full;           /* it has had more channels than a record holds */
  int32_t changed;        /* entries of `channel`, each with its index */
  uint64_t last;          /* its last operation, by its number in its record; 0: none */
  dpt__operation operation;
  int32_t index[16];
  dpt__channel channel[16];
  char host[DPT__RECORD_NAME], text[512];
} dpt__news;

/* Hears of all ranks for the first time; before the first operation. */
int dpt__hosts_open(void);
/* A round: begun if none is under way and it is time, and asked about. *heard: it has ended. */
int dpt__hosts_round(int closing, int *heard);
/* Returns the last news of rank k; NULL: there is one host. */
const dpt__news *dpt__hosts_news(int k);
/* Returns how many channels rank k has told of, and copies channel i. */
int dpt__hosts_channels(int k);
void dpt__hosts_channel(int k, int i, dpt__channel *copy);
/* Nanoseconds since all were heard of; 0: there is one host. */
int64_t dpt__hosts_silence(void);

#endif
