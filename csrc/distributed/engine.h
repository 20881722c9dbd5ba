/* engine.h: the interface to the library that connects the processes of a job (MPI).
 *
 * Invariant: a plugin (libdpt_mpi.so) fills one table; no other code depends on the library. Ranks
 * are counted from 0. Each function blocks until this rank has done its part, and returns 0, or 1
 * after services->fail. Only one thread at a time calls the operations of groups: the one that runs
 * collectives, or the one that joins and leaves the world. The watchdog calls `heartbeat` and
 * `abort` concurrently; it never uses the communicators of the other threads.
 */
#ifndef DPT_DISTRIBUTED_ENGINE_H
#define DPT_DISTRIBUTED_ENGINE_H
#include "device/collectives.h" /* dpt__reduce_op */

enum { DPT__ENGINE_ABI = 6 };

/* A message to or from one rank of a group. Messages between the same two ranks with the same tag
 * arrive in the order in which they were begun. */
typedef struct dpt__transfer {
  void *data;
  int64_t bytes;
  int32_t peer, tag;
  int32_t receives; /* 1: receives into `data` a message of exactly `bytes` bytes */
} dpt__transfer;

typedef struct dpt__engine {
  int abi;
  /* Connects the ranks. `name` receives the library's name and version. */
  int (*start)(char name[128], int *rank, int *size, int *local_rank, int *local_size);
  /* Sets is_local[k] to 1 for each rank k of this host. */
  int (*local)(int *is_local);
  /* Creates a communicator of n world ranks, in the given order. All ranks of the world call it;
   * *group becomes NULL on ranks that are not members. */
  int (*group)(int n, const int *ranks, void **group);
  /* Frees a group. Collective: all its ranks call it. */
  int (*ungroup)(void *group);

  int (*barrier)(void *group);
  /* Reduce in place `count` elements of a type of dpt.h that is not reduced. A minimum or maximum
   * of floats is NaN, with the same bits on all ranks, if the element is NaN on any rank. */
  int (*all_reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how);
  int (*reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how,
                int root);
  /* Rank i receives the i-th of `size` parts of `from`, reduced. count: elements of one part. */
  int (*reduce_scatter)(void *group, const void *from, void *to, int64_t count, int dtype,
                        enum dpt__reduce_op how);
  /* Gathers each rank's bytes into `to`, ordered by rank. bytes: of one rank. */
  int (*all_gather)(void *group, const void *from, void *to, int64_t bytes);
  /* Rank i receives the i-th part of each rank, ordered by rank. bytes: of one part. */
  int (*all_to_all)(void *group, const void *from, void *to, int64_t bytes);
  int (*broadcast)(void *group, void *data, int64_t bytes, int root);
  int (*gather)(void *group, const void *from, void *to, int64_t bytes, int root);
  int (*scatter)(void *group, const void *from, void *to, int64_t bytes, int root);
  /* Begins n transfers; the list may be freed after the call. */
  int (*begin)(void *group, int n, const dpt__transfer *list, void **begun);
  /* Waits for the first n transfers of `begun`; frees it if n is all of them. */
  int (*await)(void *begun, int n);

  /* Sends `mine` to all ranks, for the watchdog. Begins a round if none is under way and polls it,
   * so that an unreachable rank blocks no other. bytes: of one rank. */
  int (*heartbeat)(const void *mine, void *all, int64_t bytes, int *done);
  void (*abort)(int status); /* ends all ranks; may not return */
  int (*finish)(void);       /* called after all ranks have left */
} dpt__engine;

/* Functions of libdpt that the plugin may call. */
typedef struct dpt__engine_services {
  int (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* returns 1 */
} dpt__engine_services;

/* The plugin's only symbol, dpt_engine. Returns NULL if the plugin is of another version. */
typedef const dpt__engine *dpt__engine_fn(int abi, const dpt__engine_services *services);

#endif
