/* collective.h: operations of ranks on tensors, after the world has been joined. */
#ifndef DPT_DISTRIBUTED_COLLECTIVE_H
#define DPT_DISTRIBUTED_COLLECTIVE_H
#include "distributed/job.h"

/* Implement dpt_collective_run, dpt_collective_exchange, dpt_world_group and
 * dpt_world_transport. */
int dpt__collective_run(const dpt_collective *call, const dpt_tensor *in, dpt_tensor *out,
                        uint64_t *number);
int dpt__collective_exchange(int group, int n, const dpt_transfer *messages, const char *name,
                             uint64_t *number);
int dpt__collective_group(const char *fn, int n, const int *list, int *number);
int dpt__collective_transport(int group, const char **transport, const char **why);

#endif
