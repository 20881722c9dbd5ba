/* devices.h: operations on device memory by the library of the devices' backend (NCCL). */
#ifndef DPT_DISTRIBUTED_DEVICES_H
#define DPT_DISTRIBUTED_DEVICES_H
#include "comm/communicators.h"
#include "distributed/job.h"

/* Joins the group's devices if all its ranks can. `device` is this rank's, 0 for none. Collective:
 * all ranks of the group call it. */
int dpt__devices_join(dpt__ranks *group, int device);
/* Returns 1 if the library supports the operation. */
int dpt__devices_take(const dpt__signature *signature);
/* Enqueues the operation on a native stream of the group's device. `dtype` is the type in memory,
 * which may be wider than the signature's. */
int dpt__devices_begin(const dpt__ranks *group, void *native, const dpt__signature *signature,
                       int dtype, const void *from, void *to, dpt__ongoing *ongoing);

#endif
