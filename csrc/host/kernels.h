/* kernels.h: the prototypes of all host kernels (device/kernels.def); each file documents its
 * own. */
#ifndef DPT_HOST_KERNELS_H
#define DPT_HOST_KERNELS_H
#include "device/backend.h"

#define DPT_KERNEL(name, why) int dpt__host_##name(dpt__context *context, const void *args);
#include "device/kernels.def"
#undef DPT_KERNEL

#endif
