/* job.h: this process as a rank of its job: the data that the files of this folder share.
 *
 * Invariant: the world is joined once, at the first use, and left when the process ends (world.c,
 * leave.c). A process that mpirun or srun did not start is a world of one rank, without an engine.
 */
#ifndef DPT_DISTRIBUTED_JOB_H
#define DPT_DISTRIBUTED_JOB_H
#include "base/lock.h"
#include "device/device.h"
#include "distributed/engine.h"
#include "distributed/texts.h"

enum { DPT__GROUPS = 1024, DPT__WHY = 256 };

typedef struct dpt__ranks {
  void *joined;        /* the engine's; NULL: this rank is not in it */
  int n, rank;         /* ranks, and this one's group rank; -1: not in it */
  int *list;           /* their numbers in the world */
  uint64_t hash;       /* differs between groups of the same ranks */
  int channel;         /* in the record */
  uint64_t issued;     /* operations so far but messages */
  uint64_t chain;      /* of the operation that ran last (record.h) */
  atomic_int released; /* this rank does not use it any more */
  /* devices.c; written by one operation, before `asked` */
  atomic_int asked;
  struct dpt__communicator *devices; /* NULL: device memory goes by the engine; `why` says why */
  int device;                        /* this rank's in it */
  char why[DPT__WHY];
} dpt__ranks;

typedef struct dpt__job {
  const dpt__engine *engine; /* NULL: one rank */
  int rank, size, local_rank, local_size;
  char library[128], name[64];
  dpt__record *record;
  const dpt__record **local; /* (size): records of other ranks of this host, else NULL */
  dpt__stream *stream;       /* its thread calls the engine, for one operation after the other */
  dpt__mutex lock;           /* of the list of groups */
  int groups DPT__GUARDED_BY(lock); /* numbers given so far */
  dpt__ranks *
      group[DPT__GROUPS] DPT__GUARDED_BY(lock); /* 0: all ranks; NULL: none has the number */
  uint64_t groups_made;                         /* so far */
  void *leaving;                                /* the engine's, of all ranks, for the end alone */
  uint64_t messages;                            /* operations that are messages, so far */
  _Atomic uint64_t pending; /* the operation that runs now, by its number in the record; 0: none */
} dpt__job;

extern dpt__job dpt__job_own;

/* The group of a number, or an error; it exists until it is released. */
int dpt__job_group(const char *fn, int number, dpt__ranks **group);
/* The group of a hash, or NULL. */
const dpt__ranks *dpt__job_find(uint64_t hash) DPT__REQUIRES(dpt__job_own.lock);

#endif
