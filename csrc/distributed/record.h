/* record.h: records of the operations of each rank of this host, in files that all of them map.
 *
 * Invariant: a rank writes only its own file, and creates a new one when it starts. The file
 * survives if its process is killed, and then shows its last operations (the flight recorder). An
 * operation is recorded before it begins and marked when it ends; the last DPT__RECORDED are kept.
 * Readers copy word by word while the owner writes: a copy is valid if its number is the same
 * before and after. Times are of the host's monotonic clock.
 */
#ifndef DPT_DISTRIBUTED_RECORD_H
#define DPT_DISTRIBUTED_RECORD_H
#include "dpt.h"
#include <stdatomic.h>
#include <stdint.h>

enum { DPT__RECORDED = 1024, DPT__CHANNELS = 4096, DPT__RECORD_NAME = 64, DPT__RECORD_TEXT = 2048 };

/* How an operation is done; must be equal on all ranks. */
enum dpt__signature_flag {
  DPT__IN_ORDER = 1,   /* sums in double, in rank order (deterministic mode) */
  DPT__ON_DEVICES = 2, /* by the library of the devices' backend (devices.c) */
};

/* The part of an operation that must be equal on all ranks of a group, or on both ends of a
 * message. */
typedef struct dpt__signature {
  uint32_t what;     /* as dpt_collective */
  uint8_t how, wire; /* wire: the type in which elements are sent (compress.c); 0: unchanged */
  uint16_t flags;    /* enum dpt__signature_flag */
  uint32_t dtype, root;
  int64_t count;
  uint64_t layout; /* as dpt_collective; 0 for sends and receives */
  uint64_t group;  /* the group's hash; 0 for sends and receives */
} dpt__signature;

typedef struct dpt__operation {
  uint64_t number; /* from 1, in its group; a message: among all messages of this rank */
  dpt__signature signature;
  uint64_t chain;       /* hash of the signatures of the group's operations up to this one */
  int64_t began, ended; /* ended: 0 while it runs */
  char name[DPT__RECORD_NAME];
} dpt__operation;

enum { DPT__OPERATION_WORDS = sizeof(dpt__operation) / 8 };

/* This rank's progress in a channel. A channel is a sequence of operations that all of its ranks
 * begin in the same order: the operations of a group, or the messages from one rank to another
 * whose tags are of one class. */
typedef struct dpt__channel {
  uint64_t key;    /* a group's hash, or dpt__pair_key; 0: free */
  uint64_t number; /* number of the last operation begun, from 1 */
  uint64_t chain;  /* hash of the operations' signatures; for messages, independent of order */
  uint64_t which;  /* number of the last operation in the record */
} dpt__channel;
enum { DPT__CHANNEL_WORDS = sizeof(dpt__channel) / 8 };

/* See leave.c. */
enum dpt__rank_state {
  DPT__RANK_STARTING,
  DPT__RANK_RUNNING,
  DPT__RANK_FAILED, /* `text` has the reason */
  DPT__RANK_LEAVING,
  DPT__RANK_LEFT
};

typedef struct dpt__record {
  char magic[8];
  int32_t rank, size, pid;
  int32_t origin; /* of a failed rank: the rank of this host that printed the reason */
  _Atomic int32_t state;
  _Atomic int64_t beat; /* time of its watchdog's last check */
  uint64_t pids;        /* PID namespace of `pid`: containers have their own */
  char host[DPT__RECORD_NAME];
  char text[DPT__RECORD_TEXT];
  char program[DPT__RECORD_NAME];
  double epoch; /* seconds since 1970 when the monotonic clock was 0 */
  _Atomic uint64_t
      written; /* operations so far; the last one's slot: (written - 1) % DPT__RECORDED */
  _Atomic uint64_t slot[DPT__RECORDED][DPT__OPERATION_WORDS]; /* the first word is the number */
  _Atomic int32_t channels; /* entries so far, including freed ones */
  _Atomic uint64_t channel[DPT__CHANNELS][DPT__CHANNEL_WORDS];
} dpt__record;

/* Sets the program name for records made from now on. A name that is too long keeps only its
 * end. */
void dpt__record_program(const char *name);
/* Returns a new record of this rank, for a job of that name, in the folder of DPT_FLIGHT (default:
 * the folder of temporary files). Never NULL: if no file can be made, the record is in process
 * memory. */
dpt__record *dpt__record_new(const char *job, int rank, int size);
/* Returns the record of a process that is not a rank of a job, in process memory. */
dpt__record *dpt__record_of_process(void);
/* Opens another rank's record on this host for reading. Returns NULL if it has none. */
const dpt__record *dpt__record_open(const char *job, int rank);
const dpt__record *dpt__record_open_path(const char *path);
void dpt__record_close(const dpt__record *record);
/* Removes this rank's file after a normal end, unless DPT_FLIGHT is set. */
void dpt__record_remove(const char *job, int rank);

/* Begin an operation (sets `began`) and mark it as ended. dpt__record_begin returns its number in
 * the record, from 1, which dpt__record_next returns beforehand: the caller has already advanced
 * the operation's channels to that number. */
uint64_t dpt__record_next(const dpt__record *record);
uint64_t dpt__record_begin(dpt__record *record, dpt__operation *operation);
void dpt__record_end(dpt__record *record, uint64_t which);
/* Copies an operation. Returns 0 if it is not, or no longer, in the record. */
int dpt__record_read(const dpt__record *record, uint64_t which, dpt__operation *copy);
/* Copies the last operation and returns its number in the record; 0: none. */
uint64_t dpt__record_last(const dpt__record *record, dpt__operation *copy);
/* Copies a group's operation `number`. Returns 0 if it is not in the record. */
int dpt__record_find(const dpt__record *record, uint64_t group, uint64_t number,
                     dpt__operation *copy);

/* ---- channels ---- */

uint64_t dpt__pair_key(int from, int to, int tag);
/* dpt__is_pair returns 1 for a key of dpt__pair_key, whose ranks the other functions return. */
static inline int dpt__is_pair(uint64_t key) { return key >> 63 != 0; }
static inline int dpt__pair_from(uint64_t key) { return (int)(key >> 35 & 0xfffffff); }
static inline int dpt__pair_to(uint64_t key) { return (int)(key >> 7 & 0xfffffff); }

/* Returns the index of the channel with that key, which is added if needed; -1 if the record is
 * full.
 */
int dpt__record_channel(dpt__record *record, uint64_t key);
/* Writes channel i; index -1 is ignored. */
void dpt__record_set_channel(dpt__record *record, int i, const dpt__channel *channel);
void dpt__record_get_channel(const dpt__record *record, int i, dpt__channel *copy);

#endif
