/* engine.h: the library that connects the processes of a job (MPI), seen from dpt.
 *
 * Invariant: a plugin (libdpt_mpi.so) fills one table; nothing else knows the library. Ranks are
 * counted from 0. Each function blocks until this rank has done its part, and returns 0, or 1 after
 * services->fail. Two threads call at once: the one that runs collectives, and the watchdog, which
 * uses only `exchange` and `abort`; the two never share a communicator.
 */
#ifndef DPT_DISTRIBUTED_ENGINE_H
#define DPT_DISTRIBUTED_ENGINE_H
#include "device/collectives.h" /* dpt__reduce_op */

enum { DPT__ENGINE_ABI = 4 };

typedef struct dpt__engine {
  int abi;
  /* Connects the ranks. `name`: the library and its version. */
  int (*start)(char name[128], int *rank, int *size, int *local_rank, int *local_size);
  /* is_local[k] = 1 for each rank k of this host. */
  int (*local)(int *is_local);
  /* Those ranks (by their numbers in the world, in this order) as a communicator of their own,
   * which every rank of the world makes; NULL for ranks that are not in it. */
  int (*group)(int n, const int *ranks, void **group);

  int (*barrier)(void *group);
  /* In place, on count elements of a type of dpt.h other than f16. */
  int (*all_reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how);
  int (*reduce)(void *group, void *data, int64_t count, int dtype, enum dpt__reduce_op how,
                int root);
  /* Rank i gets the i-th of size parts of `from`; count: of one part. */
  int (*reduce_scatter)(void *group, const void *from, void *to, int64_t count, int dtype,
                        enum dpt__reduce_op how);
  /* `to` gets each rank's bytes, in the order of ranks; bytes: of one rank. */
  int (*all_gather)(void *group, const void *from, void *to, int64_t bytes);
  /* Rank i gets each rank's i-th part, in the order of ranks; bytes: of a part, below 2 GiB. */
  int (*all_to_all)(void *group, const void *from, void *to, int64_t bytes);
  int (*broadcast)(void *group, void *data, int64_t bytes, int root);
  int (*gather)(void *group, const void *from, void *to, int64_t bytes, int root);
  int (*scatter)(void *group, const void *from, void *to, int64_t bytes, int root);
  int (*send)(void *group, const void *data, int64_t bytes, int to, int tag);
  int (*receive)(void *group, void *data, int64_t bytes, int from, int tag);

  /* The watchdog's: what each rank says to all, begun where nothing is under way, and asked about,
   * so that a rank that is out of reach stops nobody. bytes: of one rank. */
  int (*exchange)(const void *mine, void *all, int64_t bytes, int *done);
  void (*abort)(int status); /* ends all ranks; may not return */
  int (*finish)(void);       /* all ranks are here */
} dpt__engine;

/* What the plugin may call of libdpt. */
typedef struct dpt__engine_services {
  int (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* is 1 */
} dpt__engine_services;

/* The one symbol of the plugin, dpt_engine; NULL: of another version. */
typedef const dpt__engine *dpt__engine_fn(int abi, const dpt__engine_services *services);

#endif
