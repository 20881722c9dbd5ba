/* collectives.h: a backend's library of collectives (NCCL) among devices, of one process or of
 * several.
 *
 * Invariant: only csrc/comm calls these, one thread at a time. None of them waits for a device or
 * for another rank: long operations proceed in the background and are polled.
 */
#ifndef DPT_DEVICE_COLLECTIVES_H
#define DPT_DEVICE_COLLECTIVES_H
#include <stdint.h>

enum dpt__collective {
  DPT__BROADCAST, /* all receive the root's data */
  DPT__REDUCE,    /* the root receives the sum */
  DPT__ALL_REDUCE,
  DPT__ALL_GATHER,     /* count: of each rank's input */
  DPT__REDUCE_SCATTER, /* count: of each rank's output */
  DPT__SEND,           /* to rank `root` */
  DPT__RECEIVE         /* from rank `root` */
};

/* MEAN: for floats only; not for distributed/engine.h. */
enum dpt__reduce_op { DPT__OP_SUM, DPT__OP_MIN, DPT__OP_MAX, DPT__OP_MEAN };

/* One collective. Those that only move data ignore dtype: they count bytes. */
typedef struct dpt__collective_call {
  int32_t what, dtype, root; /* a rank, from 0 */
  int64_t count;
  int32_t op; /* enum dpt__reduce_op */
} dpt__collective_call;

/* A rank's input and output; NULL for none. */
typedef struct dpt__buffers {
  const void *from;
  void *to;
} dpt__buffers;

enum { DPT__COLLECTIVES_ID = 128 }; /* bytes */

typedef struct dpt__collectives {
  const char *name; /* "NCCL" */
  /* Returns 0 if the library is present and has a suitable version; called again after `abort`. */
  int (*open)(void);
  /* Begins to join `ranks` devices. This process has n of them, each once, numbered as in the
   * backend: rank first + i is unit[i]. One process creates the id by new_id, and all processes
   * pass it to join. */
  int (*new_id)(void *id);
  int (*join)(const void *id, int ranks, int first, int n, const int *unit, void **communicator);
  /* *ready = 1: the operation begun on the communicator is done (for issue: everything is in the
   * native streams). Returns 1 with an error message if the library has met an error. */
  int (*state)(void *communicator, int *ready);
  /* Begins to put n calls, as one group, into the native streams of this process's ranks; buffers
   * is (n, those ranks). */
  int (*issue)(void *communicator, void *const *streams, int n, const dpt__collective_call *call,
               const dpt__buffers *buffers);
  /* record: *pending represents the work issued so far. query: sets *done = 1 or fails, and then
   * frees it. */
  int (*record)(void *communicator, void *const *streams, void **pending);
  int (*query)(void *pending, int *done);
  /* Frees a communicator on which nothing runs; the other ranks need not call it. */
  void (*leave)(void *communicator);
  /* Aborts everything that runs on any communicator. None may be used after that. May take long. */
  void (*abort)(void);
} dpt__collectives;

#endif
