/* threads.h: OS threads of dpt's own, and libgomp's threads beside them.
 *
 * Invariant: streams that compute with one thread are known to libgomp by one idle thread that the
 * first of them announces: libgomp's idle threads spin for milliseconds as long as it knows of no
 * more threads than cores, which is right for operations on host tensors alone, but takes the cores
 * from streams.
 */
#ifndef DPT_DEVICE_THREADS_H
#define DPT_DEVICE_THREADS_H
#include <pthread.h>

/* A thread of dpt's own: signals blocked, counted by DPT_FAULT=thread:n; what names it in the
 * message of a failure ("stream 0 of device 2"). */
int dpt__thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what);

/* The calling thread, which is new, will compute with so many threads; who started it waits until
 * what has to be announced is. */
void dpt__gomp_begin(int threads);
void dpt__gomp_wait(int threads);
/* The calling thread computes with so many from now on; returns with how many before. */
int dpt__gomp_use(int threads);

#endif
