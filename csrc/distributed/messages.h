/* messages.h: what ranks send to single other ranks. */
#ifndef DPT_DISTRIBUTED_MESSAGES_H
#define DPT_DISTRIBUTED_MESSAGES_H
#include "comm/communicators.h"
#include "distributed/job.h"

typedef struct dpt__message {
  dpt__signature
      signature; /* of a send or receive; root: the other rank, by its number in the world */
  char *data;
  int32_t peer, tag; /* peer: the other rank, by its group rank */
} dpt__message;

/* Advances the channels of n messages, to an operation of that number in the record. */
void dpt__messages_advance(const dpt__ranks *group, int n, const dpt__message *messages,
                           uint64_t which);
/* Puts those that both ends send and receive by the devices' library into a native stream. */
int dpt__messages_begin(const dpt__ranks *group, void *native, int n, const dpt__message *messages,
                        dpt__ongoing *ongoing);
/* Sends and receives the others at once, and the signatures of all; returns when that is done. */
int dpt__messages_run(const dpt__ranks *group, int n, const dpt__message *messages);

#endif
