/* scratch.h: temporary memory of a running kernel, per thread (dpt__scratch is in backend.h). */
#ifndef DPT_DEVICE_SCRATCH_H
#define DPT_DEVICE_SCRATCH_H
#include <stddef.h>

/* After each kernel: what it took may be used again. */
void dpt__scratch_reset(void);

/* While a stream's thread records a graph, the memory that its kernels take is the graph's: divert
 * puts the thread's own aside, restore takes it back and gives the graph's. */
void dpt__scratch_divert(void);
void *dpt__scratch_restore(void);
void dpt__scratch_free(void *memory /* or NULL */);

#endif
