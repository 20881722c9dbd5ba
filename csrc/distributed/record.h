/* record.h: what each rank of this host does, in files that all of them map.
 *
 * Invariant: a rank writes its own file only, and begins it anew when it starts; the file stays
 * when its process is killed, so that it says afterwards what went on (the flight recorder). An
 * operation is recorded before it begins and marked when it ends; the last DPT__RECORDED are there.
 * Others read while it is written, word by word: what was read counts if its number is the same
 * before and after. Times are those of the host's monotonic clock.
 */
#ifndef DPT_DISTRIBUTED_RECORD_H
#define DPT_DISTRIBUTED_RECORD_H
#include "dpt.h"
#include <stdatomic.h>
#include <stdint.h>

enum { DPT__RECORDED = 1024, DPT__RECORD_NAME = 64, DPT__RECORD_TEXT = 2048 };

/* How an operation is done, which all ranks have to do alike. */
enum dpt__signature_flag {
  DPT__IN_ORDER = 1,   /* a sum wide and in the order of ranks (deterministic mode) */
  DPT__ON_DEVICES = 2, /* by the library of the devices' backend (devices.c) */
  DPT__AS_HALVES = 4,  /* numbers travel as halves, or as bfloat16 (narrow.c) */
  DPT__AS_BFLOAT16 = 8
};

/* What has to be equal on all ranks of a group. */
typedef struct dpt__signature {
  uint32_t what;       /* as dpt_collective */
  uint16_t how, flags; /* flags: enum dpt__signature_flag */
  uint32_t dtype, root;
  int64_t count;
  uint64_t layout; /* as dpt_collective; 0 for sends and receives */
  uint64_t group;  /* a hash of its ranks; 0 for sends and receives, which two ranks call */
} dpt__signature;

typedef struct dpt__operation {
  uint64_t number; /* in its group's order, from 1 */
  dpt__signature signature;
  uint64_t chain;       /* a hash of the signatures of all operations of the group up to this one */
  int64_t began, ended; /* ended 0: not yet */
  char name[DPT__RECORD_NAME];
} dpt__operation;

/* Behind dpt.h's collectives. */
enum { DPT__RANKS_MAKE_GROUP = DPT_RANKS_RECEIVE + 1, DPT__RANKS_JOIN_DEVICES };
enum { DPT__OPERATION_WORDS = sizeof(dpt__operation) / 8 };

enum dpt__rank_state {
  DPT__RANK_STARTING, /* connects to the others */
  DPT__RANK_RUNNING,
  DPT__RANK_FAILED,  /* `text` says why */
  DPT__RANK_LEAVING, /* its script has ended */
  DPT__RANK_LEFT     /* so have those of all others */
};

typedef struct dpt__record {
  char magic[8];
  int32_t rank, size, pid;
  _Atomic int32_t state;
  _Atomic int64_t beat; /* when its watchdog looked last */
  uint64_t pids;        /* which processes `pid` counts among: containers have their own */
  char host[DPT__RECORD_NAME];
  char text[DPT__RECORD_TEXT];
  _Atomic uint64_t
      written; /* operations so far; the last one's slot: (written - 1) % DPT__RECORDED */
  _Atomic uint64_t slot[DPT__RECORDED][DPT__OPERATION_WORDS]; /* the first word is the number */
} dpt__record;

/* This rank's record, of a job of that name, in the folder of DPT_FLIGHT (default: of temporary
 * files). Always there: if no file can be made, it is this process's memory. */
dpt__record *dpt__record_new(const char *job, int rank, int size);
/* The same for a process that is no rank of a job: no file is made. */
dpt__record *dpt__record_alone(void);
/* Another rank's on this host, to be read; NULL: it has none. */
const dpt__record *dpt__record_open(const char *job, int rank);
void dpt__record_close(const dpt__record *record);
/* This rank has ended as it should: its file goes, unless DPT_FLIGHT asks for it. */
void dpt__record_remove(const char *job, int rank);

/* An operation begins (`began` is set here; which is it, from 1), and has ended. */
uint64_t dpt__record_begin(dpt__record *record, dpt__operation *operation);
void dpt__record_end(dpt__record *record, uint64_t which);
/* A copy of an operation; 0: it is not there (any more). */
int dpt__record_read(const dpt__record *record, uint64_t which, dpt__operation *copy);
int dpt__record_last(const dpt__record *record, dpt__operation *copy);
/* The same for a group's operation `number`. */
int dpt__record_find(const dpt__record *record, uint64_t group, uint64_t number,
                     dpt__operation *copy);

/* Whether two ranks take part, whatever the others do: it has no place in a group's order. */
int dpt__is_paired(const dpt__signature *signature);
/* "allReduce", as DPT_RANKS_ALL_REDUCE; "allReduce of 12 Float elements (sum)" */
const char *dpt__collective_name(uint32_t what);
const char *dpt__signature_text(char text[160], const dpt__signature *signature);
/* The same and what it is for: "allReduce of 12 Float elements (sum), gradients, bucket 1" */
enum { DPT__OPERATION_TEXT = 160 + DPT__RECORD_NAME };
const char *dpt__operation_text(char text[DPT__OPERATION_TEXT], const dpt__operation *operation);

#endif
