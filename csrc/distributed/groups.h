/* groups.h: groups of ranks are made and freed. */
#ifndef DPT_DISTRIBUTED_GROUPS_H
#define DPT_DISTRIBUTED_GROUPS_H
#include "distributed/job.h"

/* Allocates a group of those ranks of the world. */
int dpt__group_new(const char *fn, int n, const int *list, dpt__ranks **group);
void dpt__group_free(dpt__ranks *group);
/* Frees the groups that all ranks have released, and gives the new one a number and the engine's
 * communicator; an operation of all ranks of the world. */
int dpt__groups_make(dpt__ranks *group, int *number);

#endif
