/* world.h: this process as a rank of its job.
 *
 * Invariant: the world is joined once, at the first use, and left when the process ends. A process
 * that mpirun or srun did not start is a world of one rank, without an engine. What ends the job
 * ends all its ranks, each with one error message (watchdog.c).
 */
#ifndef DPT_DISTRIBUTED_WORLD_H
#define DPT_DISTRIBUTED_WORLD_H
#include "device/device.h"
#include "distributed/engine.h"
#include "distributed/record.h"

enum { DPT__GROUPS = 64, DPT__WHY = 256 };

typedef struct dpt__ranks {
  void *joined;    /* the engine's; NULL: this rank is not in it */
  int n, rank;     /* ranks, and this one's group rank; -1: not in it */
  int *list;       /* their numbers in the world */
  uint64_t hash;   /* of the list */
  uint64_t issued; /* operations so far but sends and receives */
  uint64_t chain;  /* of the operation that ran last (record.h) */
  /* devices.c; written by one operation, before `asked` */
  atomic_int asked;
  struct dpt__communicator *devices; /* NULL: device memory goes by the engine; `why` says why */
  int device;                        /* this rank's in it */
  char why[DPT__WHY];
} dpt__ranks;

typedef struct dpt__world {
  const dpt__engine *engine; /* NULL: one rank */
  int rank, size, local_rank, local_size;
  char library[128], job[64];
  dpt__record *record;
  const dpt__record **local; /* (size): records of other ranks of this host, else NULL */
  dpt__stream *stream;       /* its thread calls the engine, for one operation after the other */
  atomic_int ngroup;
  dpt__ranks group[DPT__GROUPS]; /* 0: all ranks */
  void *leaving;                 /* the engine's, of all ranks, for the end alone */
  uint64_t paired;               /* sends and receives so far */
  _Atomic uint64_t pending; /* the operation that runs now, by its number in the record; 0: none */
} dpt__world;

extern dpt__world dpt__world_own;

/* Joins the world; fn names the function in messages. */
int dpt__world_ready(const char *fn);
/* The group of a signature's hash. */
const dpt__ranks *dpt__ranks_of(uint64_t hash);

/* ---- collective.c ---- */

/* All ranks of the world make a communicator of those ranks, as an operation of theirs. */
int dpt__collective_group(int n, const int *list, uint64_t hash, void **joined);

/* Asks once whether the group's devices can be joined; all its ranks call it, each with a device of
 * its own (0: it has none). */
int dpt__collective_join_devices(int group, int device);

/* ---- devices.c: what the devices' own library does ---- */

int dpt__devices_join(dpt__ranks *group, int device);
/* Whether the library can do it; and does it, on memory of the group's device, of a type that may
 * be wider than the signature's. */
int dpt__devices_take(const dpt__signature *signature);
int dpt__devices_call(const dpt__ranks *group, const dpt__signature *signature, int dtype,
                      const void *from, void *to);

/* ---- narrow.c: numbers that travel in 16 bits ---- */

/* Whether a reduction's do; and reduces count elements of its type, in place, for all ranks. */
int dpt__narrow_takes(const dpt__signature *signature);
int dpt__narrow_all_reduce(const dpt__ranks *group, const dpt__signature *signature, void *data,
                           int64_t count);

/* ---- watchdog.c ---- */

int dpt__watch_begin(void);
/* For ranks that all have ended their scripts: nothing is exchanged between hosts any more; then
 * the thread ends. */
void dpt__watch_drain(void);
void dpt__watch_end(void);
/* Ends this rank with a message, after it has let the others know. */
void dpt__world_abort(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn, cold));
/* Ends the job if another rank of this host is in another operation than this. */
void dpt__watch_compare(const dpt__operation *own);
/* The same for one rank's operation of the same number. */
void dpt__watch_compare_one(const dpt__operation *own, int rank, const dpt__operation *its);
/* After the engine has failed: waits as long as the watchdog needs to find out why, if it can. */
void dpt__watch_let_explain(void);
/* Whether this rank's operation waits for rank k; came: k has been in it. */
int dpt__watch_needs(const dpt__operation *own, int k, int came);

/* ---- hosts.c: ranks of other hosts ---- */

int dpt__hosts_open(void); /* before the first operation */
/* The watchdog's: says what this rank does and hears of the others, without waiting. */
void dpt__hosts_exchange(const dpt__operation *pending /* or NULL */);
/* Ends what was begun; 0: not yet. */
int dpt__hosts_drain(void);
/* Nanoseconds since all were heard of; 0: there is one host. */
int64_t dpt__hosts_silence(void);
/* What is known of rank k, in words; whether it has come to the operation. */
void dpt__hosts_describe(char *text, size_t size, int k);
int dpt__hosts_came(int k, const dpt__operation *own);

/* ---- report.c: what a deadline that has passed says ---- */

/* Of a rank of this host. */
int dpt__rank_died(const dpt__record *record);
/* Ends the job: the operation, or joining the ranks, has taken too long. */
void dpt__report_late(const dpt__operation *own) __attribute__((noreturn, cold));
void dpt__report_start(void) __attribute__((noreturn, cold));
/* Ends the job: what is waited for at its end does not come. */
void dpt__report_end(void) __attribute__((noreturn, cold));

#endif
