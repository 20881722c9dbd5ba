/* world.c: joining the other ranks, groups of them, and the end (see world.h). */
#include "distributed/world.h"

#include "device/plugin.h"
#include "device/timeout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dpt__world dpt__world_own = {.size = 1, .local_size = 1, .job = "alone"};
static dpt__mutex lock = DPT__MUTEX_INIT;
static int ready DPT__GUARDED_BY(lock);

/* ---- who started this process ---- */

/* The first of these variables that is set. */
static const char *world_variable(const char *const *names) {
  for (; *names; names++) {
    const char *value = getenv(*names);
    if (value && *value) return value;
  }
  return NULL;
}

/* As each launcher names them: Open MPI, PMIx (Open MPI 5, Slurm), Hydra (MPICH), Slurm. */
static const char *const RANKS[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
                                    NULL};
static const char *const SIZES[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
static const char *const JOBS[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", NULL};

/* Whether an MPI launcher started this process. Slurm sets SLURM_PROCID in a batch script, too,
 * which is no task of a step; tasks have SLURM_STEP_ID. */
static int world_was_launched(void) {
  static const char *const MPI[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};
  return world_variable(MPI) || (getenv("SLURM_PROCID") && getenv("SLURM_STEP_ID"));
}

static void world_name_job(char job[64]) {
  const char *name = world_variable(JOBS);
  if (name)
    snprintf(job, 64, "%s", name);
  else
    snprintf(job, 64, "%d", (int)getppid());
  for (char *c = job; *c; c++)
    if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_", *c)) *c = '_';
}

/* ---- the engine ---- */

static const dpt__engine_services services = {dpt__plugin_fail};

static int world_open_engine(const char *fn, const dpt__engine **engine) {
  void *library = dpt__plugin_open("mpi");
  if (!library)
    return dpt__fail("%s: this process is one of several ranks, but dpt cannot use MPI: %s (build "
                     "dpt again where MPI is installed)",
                     fn, dlerror());
  dpt__engine_fn *get;
  *(void **)&get = dlsym(library, "dpt_engine");
  *engine = get ? get(DPT__ENGINE_ABI, &services) : NULL;
  if (!*engine) return dpt__fail("%s: libdpt_mpi.so is of another version of dpt", fn);
  return 0;
}

/* ---- groups ---- */

const dpt__ranks *dpt__ranks_of(uint64_t hash) {
  dpt__world *w = &dpt__world_own;
  for (int i = atomic_load(&w->ngroup) - 1; i > 0; i--)
    if (w->group[i].hash == hash) return &w->group[i];
  return &w->group[0];
}

/* Two groups of the same ranks are two. */
static uint64_t world_hash_of(int number, int n, const int *list) {
  uint64_t hash = 14695981039346656037u + (uint64_t)number;
  for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)list[i]) * 1099511628211u;
  return hash;
}

static int world_add_group(const char *fn, int n, const int *list, int *made) {
  dpt__world *w = &dpt__world_own;
  int number = atomic_load(&w->ngroup);
  if (number == DPT__GROUPS)
    return dpt__fail("%s: there are %d groups of ranks, which is the most", fn, DPT__GROUPS);
  dpt__ranks *g = &w->group[number];
  *g = (dpt__ranks){.n = n, .rank = -1, .hash = world_hash_of(number, n, list)};
  g->list = malloc((size_t)n * sizeof *list);
  if (!g->list) return dpt__no_memory("%s: no host memory for a group of ranks", fn);
  memcpy(g->list, list, (size_t)n * sizeof *list);
  for (int i = 0; i < n; i++)
    if (list[i] == w->rank) g->rank = i;
  int status = !w->engine ? 0
               : number   ? dpt__collective_group(n, list, g->hash, &g->joined)
                          : w->engine->group(n, list, &g->joined);
  if (status) {
    free(g->list);
    return dpt__fail_in("%s", fn);
  }
  *made = number;
  atomic_store(&w->ngroup, number + 1);
  return 0;
}

/* ---- the end ---- */

/* What another thread has failed it ends. */
static void world_set_state(int32_t next) {
  _Atomic int32_t *state = &dpt__world_own.record->state;
  int32_t now = atomic_load(state);
  while (now != DPT__RANK_FAILED)
    if (atomic_compare_exchange_weak(state, &now, next)) return;
  for (;;) pause();
}

/* Before the end of the process waits for kernels and destroys MPI's libraries. What this rank has
 * queued it still does; then all wait for each other, where no barrier of a script can be met. */
static void world_leave(int status) {
  dpt__world *w = &dpt__world_own;
  if (status) dpt__world_abort("rank %d has ended with status %d", w->rank, status);
  world_set_state(DPT__RANK_LEAVING);
  dpt__event_wait_quietly(dpt__event_last(w->stream));
  w->engine->barrier(w->leaving);
  world_set_state(DPT__RANK_LEFT);
  dpt__watch_drain();
  w->engine->finish();
  dpt__watch_end();
  dpt__record_remove(w->job, w->rank);
}

/* ---- joining ---- */

static dpt__device device = {.backend = &dpt__host, .threads = 1};

static int world_new_stream(void) {
  dpt__world_own.stream = dpt__stream_new(&device, 0, 0);
  if (!dpt__world_own.stream) return 1;
  device.streams[0] = dpt__world_own.stream;
  atomic_store(&device.nstream, 1);
  return 0;
}

/* Other ranks of this host have their records by now. */
static int world_open_records(void) {
  dpt__world *w = &dpt__world_own;
  int *is_local = calloc((size_t)w->size, sizeof *is_local);
  w->local = calloc((size_t)w->size, sizeof *w->local);
  int status = !is_local || !w->local ? dpt__no_memory("distributed: no host memory for ranks")
               : w->engine            ? w->engine->local(is_local)
                                      : 0;
  for (int k = 0; k < w->size && !status; k++)
    if (is_local[k] && k != w->rank) w->local[k] = dpt__record_open(w->job, k);
  free(is_local);
  return status;
}

static int world_add_all(const char *fn) {
  dpt__world *w = &dpt__world_own;
  int n = w->size, number = 0, *all = malloc((size_t)n * sizeof *all);
  if (!all) return dpt__no_memory("%s: no host memory for ranks", fn);
  for (int i = 0; i < n; i++) all[i] = i;
  int status =
      world_add_group(fn, n, all, &number) || (w->engine && w->engine->group(n, all, &w->leaving));
  free(all);
  return status;
}

/* Other ranks wait for this one: what fails here ends the job. */
static int world_connect_ranks(const char *fn) {
  dpt__world *w = &dpt__world_own;
  int size = w->size;
  DPT__TRY(w->engine->start(w->library, &w->rank, &w->size, &w->local_rank, &w->local_size));
  w->record->rank = w->rank;
  w->record->size = w->size;
  if (size > 1 && w->size != size)
    return dpt__fail("it was started as one of %d ranks, but %s connects %d: the launcher is none "
                     "of this MPI (srun --mpi=list says what Slurm can do)",
                     size, w->library, w->size);
  return world_open_records() || dpt__hosts_open() || world_new_stream() || world_add_all(fn);
}

static int world_join(const char *fn) DPT__REQUIRES(lock) {
  dpt__world *w = &dpt__world_own;
  const char *rank = world_variable(RANKS), *size = world_variable(SIZES);
  DPT__TRY(dpt__timeout_keep());
  if (!world_was_launched()) {
    w->record = dpt__record_alone();
    DPT__TRY(world_open_records() || world_new_stream() || world_add_all(fn));
  } else {
    DPT__TRY(world_open_engine(fn, &w->engine));
    world_name_job(w->job);
    w->rank = rank ? atoi(rank) : 0;
    w->size = size ? atoi(size) : 1;
    w->record = dpt__record_new(w->job, w->rank, w->size);
    if (dpt__watch_begin() || world_connect_ranks(fn))
      dpt__world_abort("rank %d: %s", w->rank, dpt_message());
    dpt__shutdown_before(world_leave);
    dpt__shutdown_watch();
  }
  world_set_state(DPT__RANK_RUNNING);
  ready = 1;
  return 0;
}

int dpt__world_ready(const char *fn) {
  dpt__lock(&lock);
  int status = ready ? dpt__timeout_keep() : world_join(fn); /* a script may set it anew */
  dpt__unlock(&lock);
  return status;
}

/* ---- the public functions ---- */

int dpt_world_join(dpt_world_info *info) {
  DPT__TRY(dpt__world_ready("distributed"));
  const dpt__world *w = &dpt__world_own;
  *info = (dpt_world_info){.rank = w->rank,
                           .size = w->size,
                           .local_rank = w->local_rank,
                           .local_size = w->local_size,
                           .library = w->library};
  return 0;
}

int dpt_world_group(int n, const int *ranks, int *number) {
  DPT__TRY(dpt__world_ready("distributed.group"));
  for (int i = 0; i < n; i++) {
    if (ranks[i] < 0 || ranks[i] >= dpt__world_own.size)
      return dpt__fail("distributed.group: got rank %d, wanted 0 to %d", ranks[i],
                       dpt__world_own.size - 1);
    for (int k = 0; k < i; k++)
      if (ranks[k] == ranks[i])
        return dpt__fail("distributed.group: rank %d is there twice", ranks[i]);
  }
  if (n < 1) return dpt__fail("distributed.group: got no ranks");
  dpt__lock(&lock);
  int status = world_add_group("distributed.group", n, ranks, number);
  dpt__unlock(&lock);
  return status;
}

int dpt_world_group_rank(int number, int *rank, int *size) {
  DPT__TRY(dpt__world_ready("distributed"));
  if (number < 0 || number >= atomic_load(&dpt__world_own.ngroup))
    return dpt__fail("distributed: there is no group %d", number);
  *rank = dpt__world_own.group[number].rank;
  *size = dpt__world_own.group[number].n;
  return 0;
}

int dpt_world_failed(const char *why) {
  const dpt__world *w = &dpt__world_own;
  if (w->engine) dpt__world_abort("rank %d: %s", w->rank, why);
  if (world_was_launched()) { /* the launcher ends those that wait for this rank to join */
    fprintf(stderr, "dpt: rank %s: %s\n", world_variable(RANKS), why);
    exit(1);
  }
  return 0;
}
