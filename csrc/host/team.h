/* team.h: keeps the OpenMP threads of a region on processors of their own.
 *
 * Some kernels, those of small virtual machines above all, wake a thread on the processor of the
 * one that wakes it and leave it there, while the other one spins for it at the region's end: a
 * product of 25 us then takes the 8 ms of the spin, again and again.
 *
 * Invariant: where the threads of a region were apart in the last one, a region costs one look at
 * the processor's number for each thread. After a region every thread may run where it might
 * before.
 */
#ifndef DPT_HOST_TEAM_H
#define DPT_HOST_TEAM_H

typedef struct dpt__team dpt__team;

/* Before a region of n threads that this thread begins. */
dpt__team *dpt__team_begin(int n);
/* In the region, called by each of its threads. */
void dpt__team_here(dpt__team *team);
/* After the region. */
void dpt__team_end(dpt__team *team);

#endif
