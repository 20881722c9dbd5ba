/* record.c: the files of the flight recorder (see record.h). */
#define _GNU_SOURCE
#include "distributed/record.h"

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
static const char MAGIC[8] = "dptrank5";

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
  /* allocates the disk blocks now, so that a full disk does not raise SIGBUS later */
  if ((!writes || !posix_fallocate(file, 0, sizeof(dpt__record))) && !fstat(file, &info) &&
      info.st_size == (off_t)sizeof(dpt__record) && info.st_uid == getuid())
    at = mmap(NULL, sizeof(dpt__record), protection, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? NULL : at;
}

static dpt__record own; /* used if no file is made */
static char program[DPT__RECORD_NAME];

void dpt__record_program(const char *name) {
  size_t n = strlen(name), most = sizeof program - 1;
  snprintf(program, sizeof program, "%s", n > most ? name + n - most : name);
}

static dpt__record *record_begin(dpt__record *r, int rank, int size) {
  struct stat pids;
  r->rank = rank;
  r->size = size;
  r->pid = getpid();
  r->pids = stat("/proc/self/ns/pid", &pids) ? 0 : (uint64_t)pids.st_ino;
  gethostname(r->host, sizeof r->host - 1);
  memcpy(r->program, program, sizeof program);
  r->epoch = dpt_epoch() - dpt_clock();
  atomic_store(&r->beat, dpt__now());
  atomic_store(&r->state, DPT__RANK_STARTING);
  memcpy(r->magic, MAGIC, sizeof MAGIC);
  return r;
}

dpt__record *dpt__record_new(const char *job, int rank, int size) {
  char path[512];
  unlink(record_path_of(path, job, rank)); /* others may still map the file of an earlier job */
  dpt__record *r = record_map(path, O_RDWR | O_CREAT | O_EXCL, PROT_READ | PROT_WRITE);
  return record_begin(r ? r : &own, rank, size);
}

dpt__record *dpt__record_of_process(void) { return record_begin(&own, 0, 1); }

const dpt__record *dpt__record_open_path(const char *path) {
  dpt__record *r = record_map(path, O_RDONLY, PROT_READ);
  if (!r || !memcmp(r->magic, MAGIC, sizeof MAGIC)) return r;
  munmap(r, sizeof *r);
  return NULL;
}

const dpt__record *dpt__record_open(const char *job, int rank) {
  char path[512];
  return dpt__record_open_path(record_path_of(path, job, rank));
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

uint64_t dpt__record_next(const dpt__record *r) {
  return atomic_load_explicit(&r->written, memory_order_relaxed) + 1;
}

uint64_t dpt__record_begin(dpt__record *r, dpt__operation *operation) {
  uint64_t which = dpt__record_next(r);
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

uint64_t dpt__record_last(const dpt__record *r, dpt__operation *copy) {
  uint64_t written = atomic_load(&r->written);
  return written && dpt__record_read(r, written, copy) ? written : 0;
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

/* ---- channels ---- */

enum { TAG_CLASSES = 128 }; /* within a class, only messages with equal tags arrive in order */

uint64_t dpt__pair_key(int from, int to, int tag) {
  return 1ull << 63 | (uint64_t)from << 35 | (uint64_t)to << 7 |
         (uint64_t)(tag & (TAG_CLASSES - 1));
}

int dpt__record_channel(dpt__record *r, uint64_t key) {
  int n = atomic_load_explicit(&r->channels, memory_order_relaxed), spare = n;
  for (int i = 0; i < n; i++) {
    uint64_t its = atomic_load_explicit(&r->channel[i][0], memory_order_relaxed);
    if (its == key) return i;
    if (!its) spare = i;
  }
  if (spare == DPT__CHANNELS) return -1;
  dpt__record_set_channel(r, spare, &(dpt__channel){.key = key});
  if (spare == n) atomic_store(&r->channels, n + 1);
  return spare;
}

/* Writes channel i. The key is 0 while the words of another channel are being replaced. */
void dpt__record_set_channel(dpt__record *r, int i, const dpt__channel *channel) {
  uint64_t words[DPT__CHANNEL_WORDS];
  if (i < 0) return;
  memcpy(words, channel, sizeof words);
  if (atomic_load_explicit(&r->channel[i][0], memory_order_relaxed) != channel->key)
    atomic_store(&r->channel[i][0], 0);
  for (int w = DPT__CHANNEL_WORDS - 1; w >= 0; w--)
    atomic_store_explicit(&r->channel[i][w], words[w], memory_order_release);
}

void dpt__record_get_channel(const dpt__record *r, int i, dpt__channel *copy) {
  uint64_t words[DPT__CHANNEL_WORDS];
  for (int w = 0; w < DPT__CHANNEL_WORDS; w++)
    words[w] = atomic_load_explicit(&r->channel[i][w], memory_order_acquire);
  memcpy(copy, words, sizeof words);
}
