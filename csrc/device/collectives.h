/* collectives.h: a backend's library for work of several devices together (NCCL).
 *
 * Invariant: only the communication room calls these, one thread at a time; none of them waits for
 * a device or for another rank: what takes time goes on by itself and is asked about.
 */
#ifndef DPT_DEVICE_COLLECTIVES_H
#define DPT_DEVICE_COLLECTIVES_H
#include <stdint.h>

enum dpt__collective {
  DPT__BROADCAST, /* all get what the root has */
  DPT__REDUCE,    /* the root gets the sum */
  DPT__ALL_REDUCE,
  DPT__ALL_GATHER,    /* count: of what each rank has */
  DPT__REDUCE_SCATTER /* count: of what each rank gets */
};

/* One collective; dtype is not looked at by those that only move: they count bytes. */
typedef struct dpt__group_call {
  int32_t what, dtype, root; /* a rank, from 0 */
  int64_t count;
} dpt__group_call;

/* Where a rank reads and writes; NULL where it does not. */
typedef struct dpt__place {
  const void *from;
  void *to;
} dpt__place;

typedef struct dpt__collectives {
  const char *name; /* "NCCL" */
  /* 0: the library is there and fits; asked again after `abort`. */
  int (*open)(void);
  /* Begins to join n devices, each there once, by the backend's numbers: rank i is unit[i]. */
  int (*join)(int n, const int *unit, void **group);
  /* *ready = 1: what was begun on the group is done (of issue: everything is in the queues). 1 and
   * a sentence where the library has met an error. */
  int (*state)(void *group, int *ready);
  /* Begins to put n calls, as one, into the ranks' queues; place is (n, ranks). */
  int (*issue)(void *group, void *const *queues, int n, const dpt__group_call *call,
               const dpt__place *place);
  /* *ticket = what is behind them in the queues; it is given back by `passed` in the end: *over = 1
   * or an error. */
  int (*mark)(void *group, void *const *queues, void **ticket);
  int (*passed)(void *ticket, int *over);
  /* Ends what runs on any group. No group is used after that. May take long. */
  void (*abort)(void);
} dpt__collectives;

#endif
