/* threads.h: OS threads of dpt's own, and libgomp's threads beside them.
 *
 * Invariant: libgomp's threads spin for a short time alone while they wait, since lua/dpt/ffi.lua
 * asks for that; so idle ones take no core from streams.
 */
#ifndef DPT_DEVICE_THREADS_H
#define DPT_DEVICE_THREADS_H
#include <pthread.h>

/* A thread of dpt's own: signals blocked, counted by DPT_FAULT=thread:n; what names it in the
 * message of a failure ("stream 0 of device 2"). */
int dpt__thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what);

/* Ends the threads that libgomp keeps for the calling one, which is about to let a stream compute
 * with several: where libgomp knows of more threads than cores none of them spins for long. */
void dpt__gomp_rest(void);
/* The calling thread computes with so many from now on; returns with how many before. */
int dpt__gomp_use(int threads);

#endif
