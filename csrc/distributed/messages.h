/* messages.h: point-to-point messages between ranks. */
#ifndef DPT_DISTRIBUTED_MESSAGES_H
#define DPT_DISTRIBUTED_MESSAGES_H
#include "comm/communicators.h"
#include "distributed/job.h"

typedef struct dpt__message {
  dpt__signature signature; /* of a send or receive; root: the other rank's world rank */
  char *data;
  int32_t peer, tag; /* peer: the other rank's group rank */
} dpt__message;

/* Advances the channels of n messages. which: the record's number of the operation. */
void dpt__messages_advance(const dpt__ranks *group, int n, const dpt__message *messages,
                           uint64_t which);
/* Enqueues the messages that both ends transfer by the devices' library on a native stream. */
int dpt__messages_begin(const dpt__ranks *group, void *native, int n, const dpt__message *messages,
                        dpt__ongoing *ongoing);
/* Sends and receives the remaining messages, and the signatures of all messages, concurrently.
 * Returns when they are done. */
int dpt__messages_run(const dpt__ranks *group, int n, const dpt__message *messages);

#endif
