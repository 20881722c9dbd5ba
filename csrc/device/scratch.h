/* scratch.h: temporary memory of a running kernel, per thread (dpt__scratch is in backend.h). */
#ifndef DPT_DEVICE_SCRATCH_H
#define DPT_DEVICE_SCRATCH_H
#include <stddef.h>

/* After each kernel: what it took may be used again. */
void dpt__scratch_reset(void);

#endif
