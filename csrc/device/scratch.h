/* scratch.h: temporary memory of a running kernel, per thread (dpt__scratch is in backend.h).
 *
 * Invariant: memory that was taken stays where it is until the kernel returns. A kernel runs on a
 * stream's thread or on its caller's. The stream's takes blocks of its device's allocator, so that
 * limits, statistics and emptyCache see them, and gives them back when the kernel has returned: in
 * the order of the stream's queue the next item may use them at once. Many kernels know only while
 * they run how much they need (it goes by the values, or by what a library chooses), so all take it
 * then; where there is none although everything that is cached was given back, the stream keeps an
 * error. The caller's takes plain memory.
 */
#ifndef DPT_DEVICE_SCRATCH_H
#define DPT_DEVICE_SCRATCH_H
/* While a stream's thread records a graph, the memory that its kernels take is the graph's: restore
 * hands it over, free gives it back when the graph is not at work any more. */
void dpt__scratch_divert(void);
void *dpt__scratch_restore(void);
void dpt__scratch_free(void *memory /* or NULL */);

#endif
