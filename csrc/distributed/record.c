/* record.c: the files of the flight recorder (see record.h). */
#define _GNU_SOURCE
#include "distributed/record.h"

#include "base/dtype.h"
#include "base/status.h"
#include "device/counter.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(dpt__operation) % 8 == 0, "an operation is a number of words");
_Static_assert((int)DPT__RECORDED == (int)DPT_FLIGHT_ENTRIES,
               "dpt.h says how many operations are kept");
_Static_assert(DPT__RECORD_TEXT == sizeof(((dpt_flight *)0)->text), "dpt.h has the same text");

static const char MAGIC[8] = "dptrank2";

/* ---- files ---- */

const char *dpt_flight_folder(void) {
  const char *folder = getenv("DPT_FLIGHT");
  if (!folder || !*folder) folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

static const char *record_path_of(char path[512], const char *job, int rank) {
  snprintf(path, 512, "%s/dpt-flight-%u-%s-%d", dpt_flight_folder(), (unsigned)getuid(), job, rank);
  return path;
}

static void *record_map(const char *path, int flags, int protection) {
  int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat info;
  if (file < 0) return NULL;
  void *at = MAP_FAILED;
  int writes = (protection & PROT_WRITE) != 0;
  /* the disk's blocks are taken now: a full one is no SIGBUS later */
  if ((!writes || !posix_fallocate(file, 0, sizeof(dpt__record))) && !fstat(file, &info) &&
      info.st_size == (off_t)sizeof(dpt__record) && info.st_uid == getuid())
    at = mmap(NULL, sizeof(dpt__record), protection, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? NULL : at;
}

static dpt__record own; /* where no file is made */

static dpt__record *record_begin(dpt__record *r, int rank, int size) {
  struct stat pids;
  r->rank = rank;
  r->size = size;
  r->pid = getpid();
  r->pids = stat("/proc/self/ns/pid", &pids) ? 0 : (uint64_t)pids.st_ino;
  gethostname(r->host, sizeof r->host - 1);
  atomic_store(&r->beat, dpt__now());
  atomic_store(&r->state, DPT__RANK_STARTING);
  memcpy(r->magic, MAGIC, sizeof MAGIC);
  return r;
}

dpt__record *dpt__record_new(const char *job, int rank, int size) {
  char path[512];
  unlink(record_path_of(path, job, rank)); /* others may still map that of an earlier job */
  dpt__record *r = record_map(path, O_RDWR | O_CREAT | O_EXCL, PROT_READ | PROT_WRITE);
  return record_begin(r ? r : &own, rank, size);
}

dpt__record *dpt__record_alone(void) { return record_begin(&own, 0, 1); }

static const dpt__record *record_open_path(const char *path) {
  dpt__record *r = record_map(path, O_RDONLY, PROT_READ);
  if (!r || !memcmp(r->magic, MAGIC, sizeof MAGIC)) return r;
  munmap(r, sizeof *r);
  return NULL;
}

const dpt__record *dpt__record_open(const char *job, int rank) {
  char path[512];
  return record_open_path(record_path_of(path, job, rank));
}

void dpt__record_close(const dpt__record *r) { munmap((void *)(uintptr_t)r, sizeof *r); }

void dpt__record_remove(const char *job, int rank) {
  char path[512];
  const char *kept = getenv("DPT_FLIGHT");
  if (!kept || !*kept) unlink(record_path_of(path, job, rank));
}

/* ---- operations ---- */

static void record_write_words(_Atomic uint64_t *slot, const dpt__operation *operation) {
  uint64_t words[DPT__OPERATION_WORDS];
  memcpy(words, operation, sizeof words);
  for (int i = 1; i < DPT__OPERATION_WORDS; i++)
    atomic_store_explicit(&slot[i], words[i], memory_order_relaxed);
}

uint64_t dpt__record_begin(dpt__record *r, dpt__operation *operation) {
  uint64_t which = atomic_load_explicit(&r->written, memory_order_relaxed) + 1;
  _Atomic uint64_t *slot = r->slot[(which - 1) % DPT__RECORDED];
  operation->began = dpt__now();
  operation->ended = 0;
  atomic_store_explicit(&slot[0], 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  record_write_words(slot, operation);
  atomic_store_explicit(&slot[0], operation->number, memory_order_release);
  atomic_store(&r->written, which);
  return which;
}

void dpt__record_end(dpt__record *r, uint64_t which) {
  enum { ENDED = offsetof(dpt__operation, ended) / 8 };
  atomic_store_explicit(&r->slot[(which - 1) % DPT__RECORDED][ENDED], (uint64_t)dpt__now(),
                        memory_order_relaxed);
}

int dpt__record_read(const dpt__record *r, uint64_t which, dpt__operation *copy) {
  const _Atomic uint64_t *slot = r->slot[(which - 1) % DPT__RECORDED];
  uint64_t words[DPT__OPERATION_WORDS];
  words[0] = atomic_load_explicit(&slot[0], memory_order_acquire);
  for (int i = 1; i < DPT__OPERATION_WORDS; i++)
    words[i] = atomic_load_explicit(&slot[i], memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  memcpy(copy, words, sizeof words);
  copy->name[DPT__RECORD_NAME - 1] = 0;
  return words[0] && words[0] == atomic_load_explicit(&slot[0], memory_order_relaxed);
}

int dpt__record_last(const dpt__record *r, dpt__operation *copy) {
  uint64_t written = atomic_load(&r->written);
  return written && dpt__record_read(r, written, copy);
}

int dpt__record_find(const dpt__record *r, uint64_t group, uint64_t number, dpt__operation *copy) {
  uint64_t written = atomic_load(&r->written);
  uint64_t first = written > DPT__RECORDED ? written - DPT__RECORDED : 0;
  for (uint64_t which = written; which > first; which--) {
    if (!dpt__record_read(r, which, copy) || copy->signature.group != group) continue;
    if (copy->number <= number) return copy->number == number;
  }
  return 0;
}

/* ---- in words ---- */

static const char *const WHAT[] = {"barrier",   "allReduce",     "reduce", "broadcast",
                                   "allGather", "reduceScatter", "gather", "scatter",
                                   "send",      "receive",       "group",  "joining of devices"};
static const char *const HOW[] = {"sum", "min", "max", "mean"};

int dpt__is_paired(const dpt__signature *s) {
  return s->what == DPT_RANKS_SEND || s->what == DPT_RANKS_RECEIVE;
}

const char *dpt__collective_name(uint32_t what) {
  return what <= DPT__RANKS_JOIN_DEVICES ? WHAT[what] : "?";
}

const char *dpt__signature_text(char text[160], const dpt__signature *s) {
  char end[48] = "";
  const char *in_order = s->flags & DPT__IN_ORDER ? " in the order of ranks" : "";
  const char *on_devices = s->flags & DPT__ON_DEVICES ? ", between devices" : "";
  char layout[40] = "";
  if (s->layout) snprintf(layout, sizeof layout, " in tensors of sizes %08x", (unsigned)s->layout);
  const char *wire = s->flags & DPT__AS_HALVES     ? " as halves"
                     : s->flags & DPT__AS_BFLOAT16 ? " as bfloat16"
                                                   : "";
  const char *name = dpt__collective_name(s->what);
  if (s->what == DPT_RANKS_ALL_REDUCE || s->what == DPT_RANKS_REDUCE_SCATTER)
    snprintf(end, sizeof end, " (%s%s)", HOW[s->how & 3], in_order);
  else if (s->what == DPT_RANKS_REDUCE)
    snprintf(end, sizeof end, " (%s%s), root %u", HOW[s->how & 3], in_order, s->root);
  else if (dpt__is_paired(s))
    snprintf(end, sizeof end, " %s rank %u", s->what == DPT_RANKS_SEND ? "to" : "from", s->root);
  else if (s->what != DPT_RANKS_ALL_GATHER)
    snprintf(end, sizeof end, ", root %u", s->root);
  if (s->what == DPT_RANKS_BARRIER || s->what == DPT__RANKS_JOIN_DEVICES)
    snprintf(text, 160, "%s", name);
  else if (s->what == DPT__RANKS_MAKE_GROUP)
    snprintf(text, 160, "group of %lld ranks (list %08x)", (long long)s->count, s->root);
  else
    snprintf(text, 160, "%s of %lld %s elements%s%s%s%s", name, (long long)s->count,
             s->dtype < DPT_NDTYPE ? dpt__dtype_name((int)s->dtype) : "?", layout, wire, end,
             on_devices);
  return text;
}

const char *dpt__operation_text(char text[DPT__OPERATION_TEXT], const dpt__operation *operation) {
  size_t n = strlen(dpt__signature_text(text, &operation->signature));
  if (operation->name[0]) snprintf(text + n, DPT__OPERATION_TEXT - n, ", %s", operation->name);
  return text;
}

/* ---- dpt flight ---- */

int dpt_flight_read(const char *path, dpt_flight *flight, dpt_flight_entry *entries) {
  const dpt__record *r = record_open_path(path);
  if (!r) return dpt__fail("flight: %s is no record of a rank", path);
  *flight = (dpt_flight){.rank = r->rank,
                         .size = r->size,
                         .pid = r->pid,
                         .state = atomic_load(&r->state),
                         .beat = atomic_load(&r->beat)};
  memcpy(flight->host, r->host, sizeof flight->host - 1);
  memcpy(flight->text, r->text, sizeof flight->text - 1);
  uint64_t written = atomic_load(&r->written);
  uint64_t first = written > DPT__RECORDED ? written - DPT__RECORDED : 0;
  for (uint64_t which = first + 1; which <= written; which++) {
    dpt_flight_entry *to = &entries[flight->count];
    dpt__operation o;
    if (!dpt__record_read(r, which, &o)) continue;
    flight->count++;
    *to = (dpt_flight_entry){.number = o.number,
                             .group = o.signature.group,
                             .what = (int)o.signature.what,
                             .began = o.began,
                             .ended = o.ended};
    memcpy(to->name, o.name, sizeof to->name);
    dpt__signature_text(to->text, &o.signature);
  }
  dpt__record_close(r);
  return 0;
}
