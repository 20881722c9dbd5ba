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

enum { DPT__RECORDED = 1024, DPT__CHANNELS = 4096, DPT__RECORD_NAME = 64, DPT__RECORD_TEXT = 2048 };

/* How an operation is done, which all ranks have to do alike. */
enum dpt__signature_flag {
  DPT__IN_ORDER = 1,   /* a sum wide and in the order of ranks (deterministic mode) */
  DPT__ON_DEVICES = 2, /* by the library of the devices' backend (devices.c) */
  DPT__AS_HALVES = 4,  /* numbers travel as halves, or as bfloat16 (narrow.c) */
  DPT__AS_BFLOAT16 = 8
};

/* The part of an operation that all ranks of a group share; of a send or receive: both ranks. */
typedef struct dpt__signature {
  uint32_t what;       /* as dpt_collective */
  uint16_t how, flags; /* flags: enum dpt__signature_flag */
  uint32_t dtype, root;
  int64_t count;
  uint64_t layout; /* as dpt_collective; 0 for sends and receives */
  uint64_t group;  /* its hash; 0 for sends and receives */
} dpt__signature;

typedef struct dpt__operation {
  uint64_t number; /* in its group's order, from 1; of messages: among all of this rank */
  dpt__signature signature;
  uint64_t chain;       /* a hash of the signatures of all operations of the group up to this one */
  int64_t began, ended; /* ended 0: not yet */
  char name[DPT__RECORD_NAME];
} dpt__operation;

enum { DPT__OPERATION_WORDS = sizeof(dpt__operation) / 8 };

/* A sequence of operations that ranks begin in one order: a group's, or the messages from one rank
 * to another with tags of one class; and the number that this rank has begun. */
typedef struct dpt__channel {
  uint64_t key;    /* a group's hash, or dpt__pair_key; 0: free */
  uint64_t number; /* of the last operation begun, from 1 */
  uint64_t chain;  /* a hash of their signatures; of messages, whatever their order */
  uint64_t which;  /* the last operation, by its number in the record */
} dpt__channel;
enum { DPT__CHANNEL_WORDS = sizeof(dpt__channel) / 8 };

/* See leave.c. */
enum dpt__rank_state {
  DPT__RANK_STARTING,
  DPT__RANK_RUNNING,
  DPT__RANK_FAILED, /* `text` says why */
  DPT__RANK_LEAVING,
  DPT__RANK_LEFT
};

typedef struct dpt__record {
  char magic[8];
  int32_t rank, size, pid;
  int32_t origin; /* of a failed rank: the rank of this host that has printed why */
  _Atomic int32_t state;
  _Atomic int64_t beat; /* when its watchdog looked last */
  uint64_t pids;        /* which processes `pid` counts among: containers have their own */
  char host[DPT__RECORD_NAME];
  char text[DPT__RECORD_TEXT];
  char program[DPT__RECORD_NAME];
  double epoch; /* seconds since 1970 when the monotonic clock was 0 */
  _Atomic uint64_t
      written; /* operations so far; the last one's slot: (written - 1) % DPT__RECORDED */
  _Atomic uint64_t slot[DPT__RECORDED][DPT__OPERATION_WORDS]; /* the first word is the number */
  _Atomic int32_t channels;                                   /* entries so far, with freed ones */
  _Atomic uint64_t channel[DPT__CHANNELS][DPT__CHANNEL_WORDS];
} dpt__record;

/* Sets the program that records made from now on name: the end of a longer name. */
void dpt__record_program(const char *name);
/* This rank's record, of a job of that name, in the folder of DPT_FLIGHT (default: of temporary
 * files). Always there: if no file can be made, it is this process's memory. */
dpt__record *dpt__record_new(const char *job, int rank, int size);
/* The same for a process that is no rank of a job: no file is made. */
dpt__record *dpt__record_alone(void);
/* Another rank's on this host, to be read; NULL: it has none. */
const dpt__record *dpt__record_open(const char *job, int rank);
const dpt__record *dpt__record_open_path(const char *path);
void dpt__record_close(const dpt__record *record);
/* This rank has ended as it should: its file goes, unless DPT_FLIGHT asks for it. */
void dpt__record_remove(const char *job, int rank);

/* Begins an operation (sets `began`), and marks it as ended; returns its number in the record, from
 * 1. Its channels have been advanced before, to that number: dpt__record_next. */
uint64_t dpt__record_next(const dpt__record *record);
uint64_t dpt__record_begin(dpt__record *record, dpt__operation *operation);
void dpt__record_end(dpt__record *record, uint64_t which);
/* Copies an operation; 0: it is not there (any more). */
int dpt__record_read(const dpt__record *record, uint64_t which, dpt__operation *copy);
/* Copies the last one, and returns its number in the record; 0: none. */
uint64_t dpt__record_last(const dpt__record *record, dpt__operation *copy);
/* Copies a group's operation `number`; 0: it is not there. */
int dpt__record_find(const dpt__record *record, uint64_t group, uint64_t number,
                     dpt__operation *copy);

/* ---- channels ---- */

uint64_t dpt__pair_key(int from, int to, int tag);
/* The two ranks of a pair's key. */
static inline int dpt__is_pair(uint64_t key) { return key >> 63 != 0; }
static inline int dpt__pair_from(uint64_t key) { return (int)(key >> 35 & 0xfffffff); }
static inline int dpt__pair_to(uint64_t key) { return (int)(key >> 7 & 0xfffffff); }

/* Returns the index of the channel of that key, which is added if needed; -1: there are too many.
 */
int dpt__record_channel(dpt__record *record, uint64_t key);
/* Writes channel i; index -1 is ignored. */
void dpt__record_set_channel(dpt__record *record, int i, const dpt__channel *channel);
void dpt__record_get_channel(const dpt__record *record, int i, dpt__channel *copy);

#endif
