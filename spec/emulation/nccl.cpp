/* nccl.cpp: stands in for libnccl.so.2 under the emulation: computes on the thread that ends a
 * group, whose queues have done everything before (a launch has ended when it returns).
 *
 * Invariant: sums have the bits of dpt's copies (NCCL promises no such thing), so that any spec can
 * run on it. What NCCL demands is demanded: all ranks of a communicator in one group, with the same
 * calls in the same order, on queues of their own. DPT_FAKE_NCCL asks for faults by words with
 * spaces between them. "version=N" is what ncclGetVersion says; with "reject" no communicator can
 * be made, with "unready" none is ever ready; "wrong" makes sums too large by 1. With "hang=N" the
 * N-th group of collectives does not end, with "fail=N" it ends in an error, with "stuck=A,B" no
 * group ends that has both devices (from 0).
 */
#include "nccl.h"

#include "cuda_fp16.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct operation {
  char what;
  const void *from;
  void *to;
  size_t count;
  ncclDataType_t type;
  int root;
  cudaStream_t stream;
};

struct clique {
  std::vector<ncclComm_t> rank;
};

std::vector<clique *> cliques;
std::atomic<int> inside, groups;
thread_local int depth;
thread_local std::vector<ncclComm_t> touched;
const char *last_error = "";

/* The value of a word of DPT_FAKE_NCCL; NULL where it is not there. */
const char *asked(const char *word) {
  const char *text = getenv("DPT_FAKE_NCCL");
  const char *at = text ? strstr(text, word) : nullptr;
  return at ? at + strlen(word) : nullptr;
}

ncclResult_t reject(ncclResult_t result, const char *why) {
  last_error = why;
  return result;
}

} // namespace

struct emulated_rank {
  clique *of;
  int rank;
  int pending; /* polls until it is ready */
  ncclResult_t error;
  std::vector<operation> calls;
  std::vector<cudaStream_t> held;
};

namespace {

size_t size_of(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
    return 2;
  case ncclInt32:
  case ncclFloat32:
    return 4;
  default:
    return 8;
  }
}

/* Element i of all ranks' call k, added up as dpt adds: by rising rank, wide, rounded once. */
template <typename T, typename A>
void add(const clique *c, size_t k, size_t count, std::vector<char> &total) {
  for (size_t i = 0; i < count; i++) {
    A sum = 0;
    for (ncclComm_t rank : c->rank) sum += (A)((const T *)rank->calls[k].from)[i];
    ((T *)total.data())[i] = (T)sum;
  }
}

void add_halves(const clique *c, size_t k, size_t count, std::vector<char> &total) {
  for (size_t i = 0; i < count; i++) {
    double sum = 0;
    for (ncclComm_t rank : c->rank) sum += __half2float(((const __half *)rank->calls[k].from)[i]);
    ((__half *)total.data())[i] = __double2half(sum);
  }
}

std::vector<char> sum(const clique *c, size_t k, size_t count, ncclDataType_t type) {
  std::vector<char> total(count * size_of(type));
  switch (type) {
  case ncclFloat16:
    add_halves(c, k, count, total);
    break;
  case ncclFloat32:
    add<float, double>(c, k, count, total);
    break;
  case ncclFloat64:
    add<double, double>(c, k, count, total);
    break;
  case ncclInt32:
    add<uint32_t, uint64_t>(c, k, count, total);
    break;
  case ncclInt64:
    add<uint64_t, uint64_t>(c, k, count, total);
    break;
  default:
    add<uint8_t, uint64_t>(c, k, count, total);
  }
  if (asked("wrong") && type == ncclFloat32)
    for (size_t i = 0; i < count; i++) ((float *)total.data())[i] += 1;
  return total;
}

void compute(const clique *c, size_t k) {
  const operation &o = c->rank[0]->calls[k];
  size_t n = c->rank.size(), bytes = o.count * size_of(o.type);
  std::vector<char> data;
  if (o.what == 'b') {
    const char *from = (const char *)c->rank[(size_t)o.root]->calls[k].from;
    data.assign(from, from + bytes);
  } else if (o.what == 'g') {
    for (ncclComm_t rank : c->rank) {
      const char *from = (const char *)rank->calls[k].from;
      data.insert(data.end(), from, from + bytes);
    }
  } else {
    data = sum(c, k, o.what == 's' ? o.count * n : o.count, o.type);
  }
  for (size_t r = 0; r < n; r++) {
    if (o.what == 'r' && (int)r != o.root) continue;
    size_t from = o.what == 's' ? r * bytes : 0;
    memmove(c->rank[r]->calls[k].to, data.data() + from, o.what == 's' ? bytes : data.size());
  }
}

bool is_stuck(const clique *c, int number) {
  const char *hang = asked("hang="), *stuck = asked("stuck=");
  if (hang && atoi(hang) == number) return true;
  int a = -1, b = -1, found = 0;
  if (!stuck || sscanf(stuck, "%d,%d", &a, &b) != 2) return false;
  for (ncclComm_t rank : c->rank) {
    int device = rank->calls[0].stream->device;
    found += device == a || device == b;
  }
  return found == 2;
}

ncclResult_t check(const clique *c) {
  for (ncclComm_t rank : c->rank) {
    const std::vector<operation> &a = rank->calls, &b = c->rank[0]->calls;
    if (a.size() != b.size()) return reject(ncclInvalidUsage, "a rank has fewer calls");
    for (size_t k = 0; k < a.size(); k++)
      if (a[k].what != b[k].what || a[k].count != b[k].count || a[k].type != b[k].type ||
          a[k].root != b[k].root || a[k].root < 0 || a[k].root >= (int)c->rank.size() ||
          (rank != c->rank[0] && a[k].stream->device == b[k].stream->device))
        return reject(ncclInvalidUsage, "ranks differ in a call");
  }
  return ncclSuccess;
}

ncclResult_t run(clique *c) {
  ncclResult_t result = check(c);
  if (result) return result;
  int number = ++groups;
  const char *fail = asked("fail=");
  bool fails = fail && atoi(fail) == number, stays = is_stuck(c, number);
  if (fails) reject(ncclSystemError, "a link went down on demand");
  for (size_t k = 0; !stays && !fails && k < c->rank[0]->calls.size(); k++) compute(c, k);
  for (ncclComm_t rank : c->rank) {
    rank->pending = 2;
    rank->error = fails ? ncclSystemError : ncclSuccess;
    if (stays) {
      rank->held.push_back(rank->calls[0].stream);
      rank->calls[0].stream->held++;
    }
    rank->calls.clear();
  }
  return ncclInProgress;
}

ncclResult_t take(ncclComm_t comm, const operation &o) {
  if (!depth || !comm || !o.stream) return reject(ncclInvalidArgument, "a call outside a group");
  if (comm->pending) return reject(ncclInvalidUsage, "the communicator is not ready");
  comm->calls.push_back(o);
  touched.push_back(comm);
  return ncclSuccess;
}

/* Two threads must never be in here at once. */
struct guard {
  guard() {
    if (inside++) {
      fprintf(stderr, "NCCL's stand-in: two threads at once\n");
      abort();
    }
  }
  ~guard() { inside--; }
};

} // namespace

ncclResult_t ncclGetVersion(int *version) {
  const char *wanted = asked("version=");
  *version = wanted ? atoi(wanted) : NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error" : "invalid usage";
}
const char *ncclGetLastError(ncclComm_t) { return last_error; }
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  guard g;
  clique *c = new clique();
  cliques.push_back(c);
  memcpy(id->internal, &c, sizeof c);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int n, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  guard g;
  clique *c;
  memcpy(&c, id.internal, sizeof c);
  if (config->blocking || !depth || rank >= n || rank != (int)c->rank.size())
    return reject(ncclInvalidArgument, "dpt makes non-blocking communicators in a group");
  if (asked("reject")) return reject(ncclSystemError, "no sockets on demand");
  *comm = new emulated_rank{c, rank, asked("unready") ? -1 : 3, ncclSuccess, {}, {}};
  c->rank.push_back(*comm);
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  guard g;
  if (!comm) return reject(ncclInvalidArgument, "no communicator");
  *error = comm->pending ? ncclInProgress : comm->error;
  if (comm->pending > 0) comm->pending--;
  return ncclSuccess;
}
/* It stays allocated: what is called after it is to be found by its state. */
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  guard g;
  for (cudaStream_t stream : comm->held) stream->held--;
  comm->held.clear();
  comm->pending = -1;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart(void) {
  depth++;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd(void) {
  guard g;
  std::vector<ncclComm_t> comms;
  ncclResult_t result = ncclSuccess;
  if (--depth) return ncclSuccess;
  comms.swap(touched);
  for (ncclComm_t comm : comms)
    if (!comm->calls.empty() && (result == ncclSuccess || result == ncclInProgress))
      result = run(comm->of);
  return result;
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'b', from, to, count, type, root, stream});
}
ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'r', from, to, count, type, root, stream});
}
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'a', from, to, count, type, 0, stream});
}
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'g', from, to, count, type, 0, stream});
}
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'s', from, to, count, type, 0, stream});
}
