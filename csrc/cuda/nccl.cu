/* nccl.cu: implements device/collectives.h with NCCL.
 *
 * Invariant: communicators are non-blocking, so that no call waits for another rank. One thread at
 * a time calls NCCL; it serves all of this process's ranks of a communicator between one
 * ncclGroupStart and ncclGroupEnd. Kernels of two communicators never run at once on one device:
 * each waits there for the one before, so that the order is the same on all devices.
 */
#include "cuda/group.h"
#include "cuda/library.h"

#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>

/* ---- groups, and calls that wait for GPUs ---- */

static struct {
  std::mutex lock;
  std::condition_variable changed;
  int groups, others; /* running */
} apart;

static void apart_leave(int &own) {
  std::lock_guard<std::mutex> guard(apart.lock);
  own--;
  apart.changed.notify_all();
}

/* A call that takes longer than 5 s waits for a kernel that hangs. The launching thread must go on,
 * since it holds the lock that the watchdog of collectives (comm/communicators.c) needs to abort
 * that kernel. */
void dpt__group_begin(void) {
  std::unique_lock<std::mutex> guard(apart.lock);
  apart.changed.wait_for(guard, std::chrono::seconds(5), [] { return !apart.others; });
  apart.groups++;
}
void dpt__group_end(void) { apart_leave(apart.groups); }

dpt__apart_from_groups::dpt__apart_from_groups() {
  std::unique_lock<std::mutex> guard(apart.lock);
  apart.changed.wait(guard, [] { return !apart.groups; });
  apart.others++;
}
dpt__apart_from_groups::~dpt__apart_from_groups() { apart_leave(apart.others); }

namespace {

struct {
#define DPT_FUNCTION(name) decltype(&::name) name;
#include "cuda/nccl.def"
#undef DPT_FUNCTION
} nccl;

/* Returns 0 if the call has succeeded or is still in progress. */
int status_of(ncclResult_t result, const char *call) {
  if (result == ncclSuccess || result == ncclInProgress) return 0;
  const char *last = nccl.ncclGetLastError(NULL);
  return dpt__library_fail(call, nccl.ncclGetErrorString(result),
                           last && *last ? last : "set NCCL_DEBUG=WARN for details");
}
#define DPT__NCCL(call)                                                                            \
  do {                                                                                             \
    if (status_of((call), #call)) return 1;                                                        \
  } while (0)

/* The oldest accepted version: since 2.22 NCCL aborts communicators of one process together. A
 * newer library of the same major version runs code that was built for an older one. */
enum { OLDEST = 22200 };

int take(dpt__library *library) {
  int version;
#define DPT_FUNCTION(name)                                                                         \
  if (dpt__library_find(library, #name, (void **)&nccl.name)) return 1;
#include "cuda/nccl.def"
#undef DPT_FUNCTION
  DPT__NCCL(nccl.ncclGetVersion(&version));
  if (version >= OLDEST && version < (NCCL_MAJOR + 1) * 10000) return 0;
  return dpt__cuda_fail(
      "NCCL has version %d (as reported by ncclGetVersion), wanted %d to %d99, dpt "
      "was built with %d",
      version, (int)OLDEST, NCCL_MAJOR * 100 + 99, NCCL_VERSION_CODE);
}

#ifdef DPT_EMULATED
#define DPT_NCCL_FILE ""
#endif
dpt__library library = {"NCCL",
                        "DPT_NCCL",
                        DPT__SONAME("libnccl.so.", NCCL_MAJOR),
                        "nccl/lib",
                        DPT_NCCL_FILE,
                        NULL,
                        take,
                        PTHREAD_MUTEX_INITIALIZER,
                        NULL,
                        0,
                        0,
                        NULL,
                        "libnccl.so"};

struct communicator;

/* The event after each device's last collective, and that collective's communicator. */
struct {
  cudaEvent_t event;
  const communicator *by;
} latest[256];

struct pending {
  pending *next; /* in the list of unused ones */
  communicator *of;
  int passed;           /* ranks whose events have completed, from the first on */
  cudaEvent_t event[1]; /* NULL: not created yet */
};

struct communicator {
  communicator *next;
  int n;            /* ranks of this process */
  int *unit;        /* (n) */
  ncclComm_t *comm; /* (n) */
  pending *spare;
  bool launching; /* a group on several devices is not yet in all their streams */
};

communicator *communicators; /* all that exist */

int open() {
#ifdef DPT_EMULATED
  const char *file = getenv("DPT_NCCL");
  if (!file || !*file)
    return dpt__cuda_fail("emulated devices have none (set DPT_NCCL to the file of a substitute)");
#endif
  return dpt__library_open(&library);
}

/* ---- communicators ---- */

static_assert(sizeof(ncclUniqueId) <= DPT__COLLECTIVES_ID, "an id has enough memory");

int new_id(void *id) {
  DPT__NCCL(nccl.ncclGetUniqueId((ncclUniqueId *)id));
  return 0;
}

int start_ranks(communicator *g, const ncclUniqueId &id, int ranks, int first) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  DPT__NCCL(nccl.ncclGroupStart());
  int status = 0;
  for (int i = 0; i < g->n && !status; i++) {
    dpt__visit visit(g->unit[i]);
    status = visit.failed ||
             status_of(nccl.ncclCommInitRankConfig(&g->comm[i], ranks, id, first + i, &config),
                       "ncclCommInitRankConfig");
  }
  ncclResult_t end = nccl.ncclGroupEnd();
  return status || status_of(end, "ncclGroupEnd");
}

int join(const void *id_, int ranks, int first, int n, const int *unit, void **out) {
  communicator *g = (communicator *)calloc(1, sizeof *g);
  int *units = (int *)calloc((size_t)n, sizeof *units);
  ncclComm_t *comm = (ncclComm_t *)calloc((size_t)n, sizeof *comm);
  if (!g || !units || !comm) {
    free(g);
    free(units);
    free(comm);
    return dpt__cuda_fail("no host memory for communicators of %d devices", n);
  }
  for (int i = 0; i < n; i++) units[i] = unit[i];
  *g = {communicators, n, units, comm, NULL, false};
  *out = communicators = g;
  ncclUniqueId id;
  memcpy(&id, id_, sizeof id);
  return start_ranks(g, id, ranks, first);
}

/* With one rank here nothing is locked: no launch waits for another device of this process, and
 * other processes launch their ranks themselves. */
void begin_launch(communicator *g) {
  if (g->n == 1) return;
  dpt__group_begin();
  g->launching = true;
}

void end_launch(communicator *g) {
  if (g->launching) dpt__group_end();
  g->launching = false;
}

int state_of_ranks(const communicator *g, int *ready) {
  *ready = 1;
  for (int i = 0; i < g->n; i++) {
    ncclResult_t now = ncclInternalError;
    DPT__NCCL(nccl.ncclCommGetAsyncError(g->comm[i], &now));
    if (status_of(now, "communication")) return 1;
    if (now == ncclInProgress) *ready = 0;
  }
  return 0;
}

int state(void *communicator_, int *ready) {
  communicator *g = (communicator *)communicator_;
  int status = state_of_ranks(g, ready);
  if (status || *ready) end_launch(g);
  return status;
}

/* ---- collectives ---- */

/* Returns NCCL's type; bytes for a type that it does not have, whose tensors are only moved. */
ncclDataType_t type_of(int dtype) {
  constexpr ncclDataType_t NONE = ncclUint8;
  switch (dtype) {
#define X(id, type, suffix, name, compute, bits, file, cuda, nccl, ...)                            \
  case id:                                                                                         \
    return nccl;
    DPT_DTYPES(X)
#undef X
  }
  return NONE;
}

ncclRedOp_t op_of(int op) {
  switch (op) {
  case DPT__OP_MIN:
    return ncclMin;
  case DPT__OP_MAX:
    return ncclMax;
  case DPT__OP_MEAN:
    return ncclAvg;
  default:
    return ncclSum;
  }
}

int issue_call(const dpt__collective_call *call, const dpt__buffers *buffers, ncclComm_t comm,
               cudaStream_t stream) {
  size_t count = (size_t)call->count;
  ncclDataType_t type = type_of(call->dtype);
  ncclRedOp_t op = op_of(call->op);
  switch (call->what) {
  case DPT__BROADCAST:
    DPT__NCCL(
        nccl.ncclBroadcast(buffers->from, buffers->to, count, ncclUint8, call->root, comm, stream));
    return 0;
  case DPT__REDUCE:
    DPT__NCCL(
        nccl.ncclReduce(buffers->from, buffers->to, count, type, op, call->root, comm, stream));
    return 0;
  case DPT__ALL_REDUCE:
    DPT__NCCL(nccl.ncclAllReduce(buffers->from, buffers->to, count, type, op, comm, stream));
    return 0;
  case DPT__ALL_GATHER:
    DPT__NCCL(nccl.ncclAllGather(buffers->from, buffers->to, count, ncclUint8, comm, stream));
    return 0;
  case DPT__SEND:
    DPT__NCCL(nccl.ncclSend(buffers->from, count, ncclUint8, call->root, comm, stream));
    return 0;
  case DPT__RECEIVE:
    DPT__NCCL(nccl.ncclRecv(buffers->to, count, ncclUint8, call->root, comm, stream));
    return 0;
  default:
    DPT__NCCL(nccl.ncclReduceScatter(buffers->from, buffers->to, count, type, op, comm, stream));
    return 0;
  }
}

/* Issues rank i's calls, after its stream waits for another communicator's last collective. */
int issue_rank(communicator *g, int i, dpt__native_stream *native, int n,
               const dpt__collective_call *call, const dpt__buffers *buffers) {
  dpt__visit visit(g->unit[i]);
  if (visit.failed) return 1;
  if (latest[g->unit[i]].by && latest[g->unit[i]].by != g)
    DPT__CUDA(cudaStreamWaitEvent(native->stream, latest[g->unit[i]].event, 0));
  for (int k = 0; k < n; k++)
    if (issue_call(&call[k], &buffers[k * g->n + i], g->comm[i], native->stream)) return 1;
  return 0;
}

int issue_ranks(communicator *g, void *const *streams, int n, const dpt__collective_call *call,
                const dpt__buffers *buffers) {
  int status = 0;
  DPT__NCCL(nccl.ncclGroupStart());
  for (int i = 0; i < g->n && !status; i++)
    status = issue_rank(g, i, (dpt__native_stream *)streams[i], n, call, buffers);
  ncclResult_t end = nccl.ncclGroupEnd();
  return status || status_of(end, "ncclGroupEnd");
}

int issue(void *communicator_, void *const *streams, int n, const dpt__collective_call *call,
          const dpt__buffers *buffers) {
  communicator *g = (communicator *)communicator_;
  begin_launch(g);
  int status = issue_ranks(g, streams, n, call, buffers);
  if (status) end_launch(g);
  return status;
}

/* ---- pending collectives ---- */

int new_pending(communicator *g, pending **out) {
  pending *t = (pending *)calloc(1, sizeof *t + (size_t)g->n * sizeof *t->event);
  if (!t) return dpt__cuda_fail("no host memory for the events of a collective");
  t->of = g;
  *out = g->spare = t; /* owned by the communicator from here on */
  return 0;
}

/* Records an event; creates it if it is NULL. */
int record_event(cudaEvent_t *event, dpt__native_stream *native) {
  if (!*event) DPT__CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  DPT__CUDA(cudaEventRecord(*event, native->stream));
  return 0;
}

int record_rank(communicator *g, int i, dpt__native_stream *native, cudaEvent_t *event) {
  auto &last = latest[g->unit[i]];
  dpt__visit visit(g->unit[i]);
  if (visit.failed || record_event(event, native) || record_event(&last.event, native)) return 1;
  last.by = g;
  return 0;
}

int record(void *communicator_, void *const *streams, void **out) {
  communicator *g = (communicator *)communicator_;
  pending *t = g->spare;
  if (!t && new_pending(g, &t)) return 1;
  for (int i = 0; i < g->n; i++)
    if (record_rank(g, i, (dpt__native_stream *)streams[i], &t->event[i])) return 1;
  g->spare = t->next;
  t->passed = 0;
  *out = t;
  return 0;
}

int query(void *pending_, int *over) {
  pending *t = (pending *)pending_;
  *over = 0;
  for (; t->passed < t->of->n; t->passed++) {
    if (dpt__cuda_passed(t->event[t->passed], over)) return 1;
    if (!*over) return 0;
  }
  *over = 1;
  t->next = t->of->spare;
  t->of->spare = t;
  return 0;
}

int free_events(const communicator *g, const pending *t) {
  for (int i = 0; i < g->n; i++) {
    dpt__visit visit(g->unit[i]);
    if (visit.failed) return 1;
    if (t->event[i]) DPT__CUDA(cudaEventDestroy(t->event[i]));
  }
  return 0;
}

void abort_ranks(communicator *g) {
  if (dpt__cuda_settle()) return; /* NCCL switches to the rank's device and back */
  for (int i = 0; i < g->n; i++) {
    if (!g->comm[i] || status_of(nccl.ncclCommAbort(g->comm[i]), "ncclCommAbort")) continue;
    g->comm[i] = NULL;
  }
}

/* Uses ncclCommAbort, since ncclCommDestroy may wait for other ranks. */
void leave(void *communicator_) {
  communicator *g = (communicator *)communicator_, **link = &communicators;
  while (*link && *link != g) link = &(*link)->next;
  if (*link) *link = g->next;
  for (auto &last : latest)
    if (last.by == g) last.by = NULL;
  abort_ranks(g);
  for (pending *t; (t = g->spare); free(t)) {
    g->spare = t->next;
    free_events(g, t);
  }
  free(g->unit);
  free(g->comm);
  free(g);
}

/* Aborts all communicators in one group: to end one, NCCL may wait for kernels of another. */
void abort_all() {
  for (communicator *g = communicators; g; g = g->next) end_launch(g);
  if (status_of(nccl.ncclGroupStart(), "ncclGroupStart")) return;
  for (communicator *g = communicators; g; g = g->next) abort_ranks(g);
  if (status_of(nccl.ncclGroupEnd(), "ncclGroupEnd")) return;
}

/* Does not free communicators: queued work may refer to them. */
void end_all() {
  abort_all();
  communicators = NULL;
  for (auto &last : latest) last.by = NULL;
}

} // namespace

const dpt__collectives dpt__cuda_collectives = {"NCCL", open,   new_id, join,  state,
                                                issue,  record, query,  leave, end_all};
