/* devices.h: operations of device memory by the library of the devices' backend (NCCL). */
#ifndef DPT_DISTRIBUTED_DEVICES_H
#define DPT_DISTRIBUTED_DEVICES_H
#include "comm/communicators.h"
#include "distributed/job.h"

/* Joins the group's devices, of which this rank has one (0: none), if all its ranks can; all its
 * ranks call it. */
int dpt__devices_join(dpt__ranks *group, int device);
/* Returns 1 if the library does such an operation. */
int dpt__devices_take(const dpt__signature *signature);
/* Puts it into a native stream of the group's device, on that device's memory, of a type that may
 * be wider than the signature's. */
int dpt__devices_begin(const dpt__ranks *group, void *native, const dpt__signature *signature,
                       int dtype, const void *from, void *to, dpt__ongoing *ongoing);

#endif
