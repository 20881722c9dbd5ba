/* threads.h: dpt's OS threads, and libgomp's threads beside them.
 *
 * Invariant: libgomp's threads spin only for a short time while they wait, because lua/dpt/ffi.lua
 * sets that; so idle ones take no core from streams.
 */
#ifndef DPT_DEVICE_THREADS_H
#define DPT_DEVICE_THREADS_H
#include <pthread.h>

/* Starts a thread of dpt: signals blocked, counted by DPT_FAULT=thread:n; `what` names it in the
 * message of a failure ("stream 0 of device 2"). */
int dpt__thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what);

/* Ends the threads that libgomp keeps for the calling thread, which is about to start a stream that
 * computes with several threads: if libgomp has more threads than there are cores, none of them
 * spins for long. */
void dpt__gomp_end_team(void);
/* Sets the number of threads that the calling thread computes with; returns the previous number. */
int dpt__gomp_set_threads(int threads);

#endif
