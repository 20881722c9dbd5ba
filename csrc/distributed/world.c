/* world.c: joins the other ranks, and defines the public functions, which join at the first
 * call. */
#include "device/plugin.h"
#include "device/timeout.h"
#include "distributed/collective.h"
#include "distributed/groups.h"
#include "distributed/hosts.h"
#include "distributed/leave.h"
#include "distributed/settings.h"
#include "distributed/watchdog.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dpt__mutex lock = DPT__MUTEX_INIT;
static int ready DPT__GUARDED_BY(lock);

/* ---- the launcher ---- */

/* Returns the value of the first of these variables that is set. */
static const char *world_variable(const char *const *names) {
  for (; *names; names++) {
    const char *value = getenv(*names);
    if (value && *value) return value;
  }
  return NULL;
}

/* The variables of each launcher: Open MPI, PMIx (Open MPI 5, Slurm), Hydra (MPICH), Slurm. */
static const char *const RANKS[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
                                    NULL};
static const char *const SIZES[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
static const char *const JOBS[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", NULL};

/* Names an environment variable that marks ranks. A process that a rank starts inherits the
 * launcher's variables. So a rank sets this variable to its job and process id when the library is
 * loaded; a process that finds another process of its job there is not a rank. */
static const char MARK[] = "_DPT_RANK_PROCESS";
static int is_child;

/* Returns 1 if an MPI launcher started this process. Slurm sets SLURM_PROCID in a batch script as
 * well, which is not a task of a step; only tasks have SLURM_STEP_ID. */
static int world_was_launched(void) {
  static const char *const MPI[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};
  int launched = world_variable(MPI) || (getenv("SLURM_PROCID") && getenv("SLURM_STEP_ID"));
  return launched && !is_child;
}

__attribute__((constructor)) static void world_mark_process(void) {
  const char *job = world_variable(JOBS), *mark = getenv(MARK);
  char own[128];
  int n = snprintf(own, sizeof own, "%s ", job ? job : "");
  is_child = mark && n < (int)sizeof own && !strncmp(mark, own, (size_t)n) &&
             atoi(mark + n) != (int)getpid();
  if (!world_was_launched() || n >= (int)sizeof own) return;
  snprintf(own + n, sizeof own - (size_t)n, "%d", (int)getpid());
  setenv(MARK, own, 1);
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
    return dpt__fail("%s: this process is one of several ranks, but dpt cannot use MPI: %s "
                     "(rebuild dpt where MPI is installed)",
                     fn, dlerror());
  dpt__engine_fn *get;
  *(void **)&get = dlsym(library, "dpt_engine");
  *engine = get ? get(DPT__ENGINE_ABI, &services) : NULL;
  if (!*engine) return dpt__fail("%s: libdpt_mpi.so is from another version of dpt", fn);
  return 0;
}

/* ---- joining ---- */

static dpt__device device = {.backend = &dpt__host, .threads = 1};

static int world_new_stream(void) {
  dpt__job_own.stream = dpt__stream_new(&device, 0, 0);
  if (!dpt__job_own.stream) return 1;
  device.streams[0] = dpt__job_own.stream;
  atomic_store(&device.nstream, 1);
  return 0;
}

/* Opens the records of this host's other ranks, which have been made by now. */
static int world_open_records(void) {
  dpt__job *job = &dpt__job_own;
  int *is_local = calloc((size_t)job->size, sizeof *is_local);
  job->local = calloc((size_t)job->size, sizeof *job->local);
  int status = !is_local || !job->local ? dpt__no_memory("distributed: no host memory for ranks")
               : job->engine            ? job->engine->local(is_local)
                                        : 0;
  for (int k = 0; k < job->size && !status; k++)
    if (is_local[k] && k != job->rank) job->local[k] = dpt__record_open(job->name, k);
  free(is_local);
  return status;
}

static int world_add_all(const char *fn) {
  dpt__job *job = &dpt__job_own;
  int n = job->size, number, *all = malloc((size_t)n * sizeof *all);
  dpt__ranks *g = NULL;
  if (!all) return dpt__no_memory("%s: no host memory for ranks", fn);
  for (int i = 0; i < n; i++) all[i] = i;
  int status = dpt__group_new(fn, n, all, &g) || dpt__groups_make(g, &number) ||
               (job->engine && job->engine->group(n, all, &job->leaving));
  free(all);
  return status;
}

/* Connects the ranks. A failure ends the job, since other ranks wait for this one. */
static int world_connect_ranks(const char *fn) {
  dpt__job *job = &dpt__job_own;
  int size = job->size;
  DPT__TRY(
      job->engine->start(job->library, &job->rank, &job->size, &job->local_rank, &job->local_size));
  job->record->rank = job->rank;
  job->record->size = job->size;
  if (size > 1 && job->size != size)
    return dpt__fail("it was started as one of %d ranks, but %s connects %d: the launcher does not "
                     "belong to this MPI (srun --mpi=list lists what Slurm supports)",
                     size, job->library, job->size);
  return world_open_records() || dpt__hosts_open() || world_new_stream() || world_add_all(fn) ||
         dpt__settings_compare();
}

static int world_join(const char *fn) DPT__REQUIRES(lock) {
  dpt__job *job = &dpt__job_own;
  const char *rank = world_variable(RANKS), *size = world_variable(SIZES);
  DPT__TRY(dpt__timeout_keep());
  if (!world_was_launched()) {
    job->record = dpt__record_of_process();
    DPT__TRY(world_open_records() || world_new_stream() || world_add_all(fn));
  } else {
    DPT__TRY(world_open_engine(fn, &job->engine));
    world_name_job(job->name);
    job->rank = rank ? atoi(rank) : 0;
    job->size = size ? atoi(size) : 1;
    job->record = dpt__record_new(job->name, job->rank, job->size);
    if (dpt__watch_begin() || world_connect_ranks(fn))
      dpt__abort_job("rank %d: %s", job->rank, dpt_message());
    dpt__shutdown_before(dpt__leave);
    dpt__shutdown_watch();
  }
  dpt__set_state(DPT__RANK_RUNNING);
  ready = 1;
  return 0;
}

static int world_ready(const char *fn) {
  dpt__lock(&lock);
  int status = ready ? dpt__timeout_keep() : world_join(fn); /* a script may have changed it */
  dpt__unlock(&lock);
  return status;
}

/* ---- the public functions ---- */

void dpt_world_program(const char *name) { dpt__record_program(name); }

int dpt_world_join(dpt_world_info *info) {
  DPT__TRY(world_ready("distributed"));
  const dpt__job *job = &dpt__job_own;
  *info = (dpt_world_info){.rank = job->rank,
                           .size = job->size,
                           .local_rank = job->local_rank,
                           .local_size = job->local_size,
                           .library = job->library};
  return 0;
}

int dpt_world_group(int n, const int *ranks, int *number) {
  DPT__TRY(world_ready("distributed.group"));
  for (int i = 0; i < n; i++) {
    if (ranks[i] < 0 || ranks[i] >= dpt__job_own.size)
      return dpt__fail("distributed.group: got rank %d, wanted 0 to %d", ranks[i],
                       dpt__job_own.size - 1);
    for (int k = 0; k < i; k++)
      if (ranks[k] == ranks[i])
        return dpt__fail("distributed.group: rank %d is there twice", ranks[i]);
  }
  if (n < 1) return dpt__fail("distributed.group: got no ranks, wanted at least 1");
  return dpt__collective_group("distributed.group", n, ranks, number);
}

void dpt_world_group_release(int number) {
  dpt__ranks *g;
  if (number > 0 && !dpt__job_group("distributed.group", number, &g)) atomic_store(&g->released, 1);
}

int dpt_world_group_rank(int number, int *rank, int *size) {
  dpt__ranks *g;
  DPT__TRY(world_ready("distributed") || dpt__job_group("distributed", number, &g));
  *rank = g->rank;
  *size = g->n;
  return 0;
}

int dpt_world_transport(int number, const char **transport, const char **why) {
  DPT__TRY(world_ready("distributed.transport"));
  return dpt__collective_transport(number, transport, why);
}

int dpt_collective_run(const dpt_collective *call, const dpt_tensor *in, dpt_tensor *out,
                       uint64_t *number) {
  DPT__TRY(world_ready(dpt__collective_name((uint32_t)call->what)));
  return dpt__collective_run(call, in, out, number);
}

int dpt_collective_exchange(int group, int n, const dpt_transfer *messages, const char *name,
                            uint64_t *number) {
  DPT__TRY(world_ready("exchange"));
  return dpt__collective_exchange(group, n, messages, name, number);
}

int dpt_world_failed(const char *why) {
  const dpt__job *job = &dpt__job_own;
  if (job->engine) dpt__abort_job("rank %d: %s", job->rank, why);
  if (world_was_launched()) { /* the launcher ends the ranks that wait for this one */
    fprintf(stderr, "dpt: rank %s: %s\n", world_variable(RANKS), why);
    exit(1);
  }
  return 0;
}
