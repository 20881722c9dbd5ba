/* kernels.h: the prototypes of all host kernels, from device/kernels.def; see each kernel's
 * file. */
#ifndef DPT_HOST_KERNELS_H
#define DPT_HOST_KERNELS_H
#include "device/backend.h"

#define DPT_KERNEL(name, why) int dpt__host_##name(dpt__context *context, const void *args);
#include "device/kernels.def"
#undef DPT_KERNEL

#endif
