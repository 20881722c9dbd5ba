/* collectives.h: a backend's library for work of several devices together (NCCL), of one process or
 * of several.
 *
 * Invariant: only csrc/comm calls these, one thread at a time; none of them waits for
 * a device or for another rank: what takes time goes on by itself and is asked about.
 */
#ifndef DPT_DEVICE_COLLECTIVES_H
#define DPT_DEVICE_COLLECTIVES_H
#include <stdint.h>

enum dpt__collective {
  DPT__BROADCAST, /* all get what the root has */
  DPT__REDUCE,    /* the root gets the sum */
  DPT__ALL_REDUCE,
  DPT__ALL_GATHER,     /* count: of what each rank has */
  DPT__REDUCE_SCATTER, /* count: of what each rank gets */
  DPT__SEND,           /* to rank `root` */
  DPT__RECEIVE         /* from rank `root` */
};

/* MEAN: of floats, and not of distributed/engine.h. */
enum dpt__reduce_op { DPT__OP_SUM, DPT__OP_MIN, DPT__OP_MAX, DPT__OP_MEAN };

/* One collective; dtype is not looked at by those that only move: they count bytes. */
typedef struct dpt__collective_call {
  int32_t what, dtype, root; /* a rank, from 0 */
  int64_t count;
  int32_t op; /* enum dpt__reduce_op */
} dpt__collective_call;

/* Where a rank reads and writes; NULL if it does not. */
typedef struct dpt__buffers {
  const void *from;
  void *to;
} dpt__buffers;

enum { DPT__COLLECTIVES_ID = 128 }; /* bytes */

typedef struct dpt__collectives {
  const char *name; /* "NCCL" */
  /* 0: the library is there and fits; asked again after `abort`. */
  int (*open)(void);
  /* Begins to join `ranks` devices, of which this process has n, each there once, by the backend's
   * numbers: rank first + i is unit[i]. One process makes the id, and all join by it. */
  int (*new_id)(void *id);
  int (*join)(const void *id, int ranks, int first, int n, const int *unit, void **communicator);
  /* *ready = 1: what was begun on the communicator is done (of issue: everything is in the native
   * streams). 1 and an error message if the library has met an error. */
  int (*state)(void *communicator, int *ready);
  /* Begins to put n calls, as one, into the native streams of this process's ranks; buffers is
   * (n, those ranks). */
  int (*issue)(void *communicator, void *const *streams, int n, const dpt__collective_call *call,
               const dpt__buffers *buffers);
  /* *pending stands for what was issued; `query` frees it in the end: *done = 1 or an error. */
  int (*record)(void *communicator, void *const *streams, void **pending);
  int (*query)(void *pending, int *done);
  /* Frees a communicator on which nothing runs; its other ranks need not call it. */
  void (*leave)(void *communicator);
  /* Ends what runs on any communicator. None is used after that. May take long. */
  void (*abort)(void);
} dpt__collectives;

#endif
