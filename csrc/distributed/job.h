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
  void *joined;        /* the engine's group; NULL: this rank is not a member */
  int n, rank;         /* number of ranks, and this rank's group rank; -1: not a member */
  int *list;           /* world ranks of its members */
  uint64_t hash;       /* unique even among groups of the same ranks */
  int channel;         /* its channel in the record */
  uint64_t issued;     /* operations so far, without messages */
  uint64_t chain;      /* chain of the last operation (record.h) */
  atomic_int released; /* 1: this rank no longer uses it */
  /* devices.c; written by one operation before it sets `devices_queried` */
  atomic_int devices_queried;
  struct dpt__communicator *devices; /* NULL: the engine moves device memory; see `why` */
  int device;                        /* this rank's device in the communicator */
  char why[DPT__WHY];
} dpt__ranks;

typedef struct dpt__job {
  const dpt__engine *engine; /* NULL: one rank */
  int rank, size, local_rank, local_size;
  char library[128], name[64];
  dpt__record *record;
  const dpt__record **local; /* (size): records of this host's other ranks; NULL for the rest */
  dpt__stream *stream;       /* its thread calls the engine, one operation at a time */
  dpt__mutex lock;           /* guards the list of groups */
  int groups DPT__GUARDED_BY(lock); /* group numbers used so far */
  dpt__ranks *
      group[DPT__GROUPS] DPT__GUARDED_BY(lock); /* entry 0: all ranks; NULL: no such group */
  uint64_t groups_made;                         /* groups made so far */
  void *leaving;            /* the engine's group of all ranks, used only for leaving */
  uint64_t messages;        /* message operations so far */
  _Atomic uint64_t pending; /* record number of the running operation; 0: none */
} dpt__job;

extern dpt__job dpt__job_own;

/* Finds the group of a number, or fails; it exists until it is released. */
int dpt__job_group(const char *fn, int number, dpt__ranks **group);
/* Returns the group with that hash, or NULL. */
const dpt__ranks *dpt__job_find(uint64_t hash) DPT__REQUIRES(dpt__job_own.lock);

#endif
