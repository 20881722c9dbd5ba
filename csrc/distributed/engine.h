/* engine.h: the library that connects the processes of a job (MPI), seen from dpt.
 *
 * Invariant: a plugin (libdpt_mpi.so) fills one table; nothing else knows the library. Ranks are
 * counted from 0. Each function blocks until this rank has done its part, and returns 0, or 1 after
 * services->fail. One thread at a time calls the operations of groups: the one that runs
 * collectives, or the one that joins and leaves the world. The watchdog calls `heartbeat` and
 * `abort` beside it; the two never share a communicator.
 */
#ifndef DPT_DISTRIBUTED_ENGINE_H
#define DPT_DISTRIBUTED_ENGINE_H
#include "device/collectives.h" /* dpt__reduce_op */

enum { DPT__ENGINE_ABI = 5 };

/* A message to or from one rank of a group; messages of the same two ranks and tag arrive in the
 * order in which they were begun. */
typedef struct dpt__transfer {
  void *data;
  int64_t bytes;
  int32_t peer, tag;
  int32_t receives; /* 1: `data` is written, by a message of as many bytes */
} dpt__transfer;

typedef struct dpt__engine {
  int abi;
  /* Connects the ranks. `name`: the library and its version. */
  int (*start)(char name[128], int *rank, int *size, int *local_rank, int *local_size);
  /* is_local[k] = 1 for each rank k of this host. */
  int (*local)(int *is_local);
  /* Those ranks (by their numbers in the world, in this order) as a communicator of their own,
   * which every rank of the world makes; NULL for ranks that are not in it. */
  int (*group)(int n, const int *ranks, void **group);
  /* Frees a group; all its ranks call it. */
  int (*ungroup)(void *group);

  int (*barrier)(void *group);
  /* In place, on count elements of a type of dpt.h other than f16. A minimum or maximum of floats
   * is NaN, with the same bits on all ranks, if any rank's element is. */
  int (*all_reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how);
  int (*reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how,
                int root);
  /* Rank i gets the i-th of size parts of `from`; count: of one part. */
  int (*reduce_scatter)(void *group, const void *from, void *to, int64_t count, int dtype,
                        enum dpt__reduce_op how);
  /* `to` gets each rank's bytes, in the order of ranks; bytes: of one rank. */
  int (*all_gather)(void *group, const void *from, void *to, int64_t bytes);
  /* Rank i gets each rank's i-th part, in the order of ranks; bytes: of a part. */
  int (*all_to_all)(void *group, const void *from, void *to, int64_t bytes);
  int (*broadcast)(void *group, void *data, int64_t bytes, int root);
  int (*gather)(void *group, const void *from, void *to, int64_t bytes, int root);
  int (*scatter)(void *group, const void *from, void *to, int64_t bytes, int root);
  /* Begins n transfers; the list need not outlive the call. */
  int (*begin)(void *group, int n, const dpt__transfer *list, void **begun);
  /* Waits for the first n transfers of `begun`; frees it if those are all. */
  int (*await)(void *begun, int n);

  /* The watchdog's: tells all ranks `mine`. Begins a round if none is under way and asks about it,
   * so that a rank that is out of reach stops nobody. bytes: of one rank. */
  int (*heartbeat)(const void *mine, void *all, int64_t bytes, int *done);
  void (*abort)(int status); /* ends all ranks; may not return */
  int (*finish)(void);       /* all ranks have left */
} dpt__engine;

/* What the plugin may call of libdpt. */
typedef struct dpt__engine_services {
  int (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* is 1 */
} dpt__engine_services;

/* The one symbol of the plugin, dpt_engine; NULL: of another version. */
typedef const dpt__engine *dpt__engine_fn(int abi, const dpt__engine_services *services);

#endif
