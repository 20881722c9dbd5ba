/* groups.h: makes and frees groups of ranks. */
#ifndef DPT_DISTRIBUTED_GROUPS_H
#define DPT_DISTRIBUTED_GROUPS_H
#include "distributed/job.h"

/* Allocates a group of the given ranks of the world. */
int dpt__group_new(const char *fn, int n, const int *list, dpt__ranks **group);
void dpt__group_free(dpt__ranks *group);
/* Frees the groups that all ranks have released, and gives the new group a number and a
 * communicator of the engine. Collective: all ranks of the world call it. */
int dpt__groups_make(dpt__ranks *group, int *number);

#endif
