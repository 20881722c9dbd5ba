/* nccl.cpp: replaces libnccl.so.2 under the emulation. A group is an item in the queue of each
 * rank, and blocks that queue until all ranks have arrived, as NCCL's kernels do. If a process has
 * all ranks, the last one to arrive computes. Ranks of several processes share a memory segment
 * named by the unique id: each writes its data there and reads the others'.
 *
 * Invariant: sums have the bits of dpt's copies (which NCCL does not promise), so that any spec can
 * run on it. NCCL's requirements are enforced: all ranks of a communicator in one group (or each in
 * a process of its own), with the same calls in the same order, on separate queues. DPT_FAKE_NCCL
 * requests faults by words separated by spaces. "version=N" is the result of ncclGetVersion. With
 * "reject" no communicator can be created, with "unready" none ever becomes ready; "wrong" makes
 * sums too large by 1. With "hang=N" the N-th group of collectives never ends, with "fail=N" it
 * ends in an error; with "stuck=A,B" no group ends that has both devices (from 0). "one-gpu"
 * rejects ranks of several processes, as NCCL does if two of them share a GPU. With "slow=N" a
 * group of collectives is in its queues after N polls.
 */
#include "nccl.h"

#include "cuda/element.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
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
  ncclRedOp_t op;
};

/* The part of the shared segment that one rank writes and the others read. Its pages are allocated
 * at first access. */
enum { RANKS = 16, CALLS = 64, BYTES = 1 << 26 };
struct shared_call {
  char what;
  size_t count;
  int type, root, op;
};
struct shared_rank {
  std::atomic<uint64_t> posted, consumed; /* number of groups so far */
  int calls;
  shared_call call[CALLS];
  char data[BYTES];
};
/* A channel for messages from one rank to another, in pieces. */
enum { PIECE = 1 << 20 };
struct mailbox {
  std::atomic<uint64_t> posted, taken; /* number of pieces so far */
  size_t bytes;
  char data[PIECE];
};
struct shared {
  std::atomic<int> joined;
  shared_rank rank[RANKS];
  mailbox mail[RANKS][RANKS]; /* from, to */
};

struct clique {
  int process;
  uint64_t number;              /* index among the process's ids */
  int n;                        /* ranks in all processes */
  std::vector<ncclComm_t> rank; /* of this process */
  shared *all;                  /* NULL: all ranks are in this process */
  uint64_t groups;
  bool launching; /* only if all ranks are in this process */
};

std::vector<clique *> cliques;
std::atomic<int> inside, groups, launching;
thread_local int depth;
thread_local std::vector<ncclComm_t> touched;
thread_local std::vector<clique *> made; /* in this group */
std::atomic<const char *> last_error{""};

/* Returns the value of a word of DPT_FAKE_NCCL, or NULL if it is absent. */
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
  int pending; /* polls until it is ready; negative: never */
  std::atomic<int> error, aborted;
  std::vector<operation> calls;
};

namespace {

size_t size_of(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt32:
  case ncclFloat32:
    return 4;
  default:
    return 8;
  }
}

typedef std::vector<const void *> sources; /* of all ranks */

/* Sums each element over all ranks as dpt does: in the order of ranks, wide, rounded once. */
template <typename T, typename A, typename widen_fn, typename narrow_fn>
void reduce(const sources &from, size_t count, ncclRedOp_t op, std::vector<char> &total,
            widen_fn widen, narrow_fn narrow) {
  for (size_t i = 0; i < count; i++) {
    A sum = widen(((const T *)from[0])[i]);
    for (size_t r = 1; r < from.size(); r++) {
      A next = widen(((const T *)from[r])[i]);
      if (op == ncclMin)
        sum = next < sum ? next : sum;
      else if (op == ncclMax)
        sum = next > sum ? next : sum;
      else
        sum += next;
    }
    if (op == ncclAvg) sum /= (A)from.size();
    ((T *)total.data())[i] = narrow(sum);
  }
}

template <typename T, typename A>
void add(const sources &from, size_t count, ncclRedOp_t op, std::vector<char> &total) {
  reduce<T, A>(
      from, count, op, total, [](T x) { return (A)x; }, [](A x) { return (T)x; });
}

template <typename T>
void add_reduced(const sources &from, size_t count, ncclRedOp_t op, std::vector<char> &total) {
  reduce<T, double>(
      from, count, op, total, [](T x) { return (double)dpt__load(x); },
      [](double x) { return dpt__store<T>::from(x); });
}

std::vector<char> sum(const sources &from, size_t count, ncclDataType_t type, ncclRedOp_t op) {
  std::vector<char> total(count * size_of(type));
  switch (type) {
  case ncclFloat16:
    add_reduced<dpt__half>(from, count, op, total);
    break;
  case ncclBfloat16:
    add_reduced<dpt__bfloat16>(from, count, op, total);
    break;
  case ncclFloat32:
    add<float, double>(from, count, op, total);
    break;
  case ncclFloat64:
    add<double, double>(from, count, op, total);
    break;
  case ncclInt8:
    add<int8_t, int64_t>(from, count, op, total);
    break;
  case ncclInt32:
    add<int32_t, int64_t>(from, count, op, total);
    break;
  case ncclInt64:
    add<int64_t, __int128>(from, count, op, total);
    break;
  default:
    add<uint8_t, uint64_t>(from, count, op, total);
  }
  if (asked("wrong") && type == ncclFloat32)
    for (size_t i = 0; i < count; i++) ((float *)total.data())[i] += 1;
  return total;
}

/* Returns the combined result of a call over all ranks. */
std::vector<char> result(const operation &o, const sources &from) {
  size_t n = from.size(), bytes = o.count * size_of(o.type);
  std::vector<char> data;
  if (o.what == 'b') {
    data.assign((const char *)from[(size_t)o.root], (const char *)from[(size_t)o.root] + bytes);
  } else if (o.what == 'g') {
    for (const void *part : from)
      data.insert(data.end(), (const char *)part, (const char *)part + bytes);
  } else {
    data = sum(from, o.what == 's' ? o.count * n : o.count, o.type, o.op);
  }
  return data;
}

void deliver(const std::vector<char> &data, const operation &o, size_t rank) {
  size_t bytes = o.count * size_of(o.type), from = o.what == 's' ? rank * bytes : 0;
  if (o.what == 'r' && (int)rank != o.root) return;
  memmove(o.to, data.data() + from, o.what == 's' ? bytes : data.size());
}

/* A group of which this process has all ranks, with the calls of each. */
struct meeting {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::vector<operation>> ranks;
  size_t arrived = 0;
  bool over = false;
};

void compute(const meeting &m) {
  for (size_t k = 0; k < m.ranks[0].size(); k++) {
    sources from;
    for (const auto &calls : m.ranks) from.push_back(calls[k].from);
    std::vector<char> data = result(m.ranks[0][k], from);
    for (size_t r = 0; r < m.ranks.size(); r++) deliver(data, m.ranks[r][k], r);
  }
}

void arrive(meeting &m, ncclComm_t rank) {
  std::unique_lock<std::mutex> guard(m.lock);
  if (++m.arrived == m.ranks.size() && !rank->aborted) {
    compute(m);
    m.over = true;
    m.changed.notify_all();
  }
  while (!m.over && !rank->aborted) m.changed.wait_for(guard, std::chrono::milliseconds(1));
}

/* Runs a rank's part of a group that never ends, until the rank is aborted. */
void hold(ncclComm_t rank) {
  while (!rank->aborted) usleep(1000);
}

/* Queues a rank's part of a group. Aborts if kernels of two communicators run at once on one
 * device, which can deadlock. */
void put(ncclComm_t rank, cudaStream_t stream, std::function<void()> part) {
  static std::atomic<ncclComm_t> works[256];
  std::atomic<ncclComm_t> &own = works[stream->device];
  stream->put_waiting([=, &own] {
    ncclComm_t other = own.exchange(rank);
    if (other && other->of != rank->of && !other->aborted) {
      fprintf(stderr, "NCCL's stand-in: kernels of two communicators at once on one device\n");
      abort();
    }
    part();
    ncclComm_t self = rank;
    own.compare_exchange_strong(self, nullptr);
  });
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
          a[k].root != b[k].root || a[k].root < 0 || a[k].root >= c->n ||
          (rank != c->rank[0] && a[k].stream->device == b[k].stream->device))
        return reject(ncclInvalidUsage, "ranks differ in a call");
  }
  return ncclSuccess;
}

/* ---- ranks of several processes ---- */

void segment_name(char name[64], const clique *c) {
  snprintf(name, 64, "/dpt-nccl-%d-%llu", c->process, (unsigned long long)c->number);
}

/* Maps the segment. The last rank to join unlinks it. */
ncclResult_t meet(clique *c) {
  char name[64];
  segment_name(name, c);
  if (c->n > RANKS || c->rank.size() > 1) return reject(ncclInvalidArgument, "too many ranks");
  if (asked("one-gpu")) return reject(ncclInvalidUsage, "Duplicate GPU detected");
  int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(shared)))
    return reject(ncclSystemError, "no segment of shared memory");
  c->all = (shared *)mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          file, 0);
  close(file);
  if (c->all == MAP_FAILED) return reject(ncclSystemError, "no segment of shared memory");
  if (++c->all->joined == c->n) shm_unlink(name);
  return ncclInProgress;
}

/* Returns true if the counters of all ranks have reached `value`. */
bool come(const clique *c, std::atomic<uint64_t> shared_rank::*counter, uint64_t value) {
  for (int r = 0; r < c->n; r++)
    if ((c->all->rank[r].*counter).load() < value) return false;
  return true;
}

bool is_same(const shared_call &a, const shared_call &b) {
  return a.what == b.what && a.count == b.count && a.type == b.type && a.root == b.root &&
         a.op == b.op;
}

size_t bytes_from(const operation &o, int n) {
  return o.count * size_of(o.type) * (o.what == 's' ? (size_t)n : 1);
}

/* Runs this rank's part of a group, as a GPU would. */
void work(clique *c, std::vector<operation> calls, uint64_t number) {
  ncclComm_t self = c->rank[0];
  shared_rank &own = c->all->rank[self->rank];
  auto wait = [&](std::atomic<uint64_t> shared_rank::*counter, uint64_t value) {
    while (!self->aborted && !come(c, counter, value)) usleep(20);
  };
  wait(&shared_rank::consumed, number - 1);
  size_t at = 0;
  own.calls = (int)calls.size();
  for (size_t k = 0; k < calls.size(); k++) {
    const operation &o = calls[k];
    own.call[k] = {o.what, o.count, o.type, o.root, o.op};
    memcpy(own.data + at, o.from, bytes_from(o, c->n));
    at += bytes_from(o, c->n);
  }
  if (!self->aborted) own.posted = number;
  wait(&shared_rank::posted, number);
  at = 0;
  for (size_t k = 0; k < calls.size() && !self->aborted && !self->error; k++) {
    sources from;
    for (int r = 0; r < c->n; r++) {
      const shared_rank &its = c->all->rank[r];
      if (its.calls != own.calls || !is_same(its.call[k], own.call[k]))
        self->error = reject(ncclInvalidUsage, "ranks differ in a call");
      from.push_back(its.data + at);
    }
    if (!self->error) deliver(result(calls[k], from), calls[k], (size_t)self->rank);
    at += bytes_from(calls[k], c->n);
  }
  if (!self->aborted) own.consumed = number;
}

bool is_message(const operation &o) { return o.what == 'S' || o.what == 'R'; }

/* Moves the next piece of a message, if the mailbox is free (to send) or filled (to receive). */
void move_piece(clique *c, const operation &o, size_t *done) {
  int self = c->rank[0]->rank;
  bool sends = o.what == 'S';
  mailbox &box = sends ? c->all->mail[self][o.root] : c->all->mail[o.root][self];
  size_t left = o.count * size_of(o.type) - *done, bytes = left < PIECE ? left : (size_t)PIECE;
  if (sends != (box.posted == box.taken)) return;
  if (sends) {
    box.bytes = bytes;
    memcpy(box.data, (const char *)o.from + *done, bytes);
    box.posted++;
  } else {
    if (box.bytes != bytes) c->rank[0]->error = reject(ncclInvalidUsage, "sizes differ");
    memcpy((char *)o.to + *done, box.data, bytes);
    box.taken++;
  }
  *done += bytes;
}

/* Runs this rank's sends and receives of a group: those in one direction with one peer in order,
 * others in any order. */
void exchange(clique *c, std::vector<operation> calls) {
  ncclComm_t self = c->rank[0];
  std::vector<size_t> done(calls.size());
  size_t left = 0;
  for (const operation &o : calls) left += o.count * size_of(o.type);
  while (left && !self->aborted && !self->error) {
    bool busy[2][RANKS] = {};
    size_t before = left;
    for (size_t k = 0; k < calls.size(); k++) {
      const operation &o = calls[k];
      size_t bytes = o.count * size_of(o.type), at = done[k];
      bool &waits = busy[o.what == 'S'][o.root];
      if (at == bytes || waits) continue;
      move_piece(c, o, &done[k]);
      left -= done[k] - at;
      waits = done[k] < bytes;
    }
    if (left == before) usleep(20);
  }
}

ncclResult_t begin(clique *c, bool stays, bool fails) {
  ncclComm_t self = c->rank[0];
  std::vector<operation> calls;
  size_t bytes = 0;
  calls.swap(self->calls);
  size_t messages = 0;
  for (const operation &o : calls) messages += is_message(o);
  for (const operation &o : calls) bytes += messages ? 0 : bytes_from(o, c->n);
  if (messages && messages < calls.size())
    return reject(ncclInvalidUsage, "collectives and messages in one group");
  if (bytes > BYTES || (!messages && calls.size() > CALLS))
    return reject(ncclInvalidArgument, "more than the stand-in takes");
  self->pending = 2;
  if (fails) {
    self->error = ncclSystemError;
    return ncclInProgress;
  }
  cudaStream_t stream = calls[0].stream;
  uint64_t number = messages ? 0 : ++c->groups;
  put(self, stream, [=] {
    if (stays)
      hold(self);
    else if (messages)
      exchange(c, calls);
    else
      work(c, calls, number);
  });
  return ncclInProgress;
}

/* ---- groups of calls ---- */

ncclResult_t run(clique *c) {
  ncclResult_t result = check(c);
  if (result) return result;
  int number = ++groups;
  const char *fail = asked("fail=");
  bool fails = fail && atoi(fail) == number, stays = is_stuck(c, number);
  if (fails) reject(ncclSystemError, "a link went down on demand");
  if (c->all) return begin(c, stays, fails);
  const char *slow = asked("slow=");
  c->launching = true;
  launching++;
  auto group = std::make_shared<meeting>();
  for (ncclComm_t rank : c->rank) {
    group->ranks.emplace_back();
    group->ranks.back().swap(rank->calls);
    rank->pending = slow ? atoi(slow) : 2;
    rank->error = fails ? ncclSystemError : ncclSuccess;
  }
  for (size_t r = 0; r < c->rank.size() && !fails; r++) {
    ncclComm_t rank = c->rank[r];
    put(rank, group->ranks[r][0].stream, [=] {
      if (stays)
        hold(rank);
      else
        arrive(*group, rank);
    });
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

/* Notes that the group is in its queues, or abandoned. */
void launched(clique *c) {
  if (c->launching) launching--;
  c->launching = false;
}

/* Aborts if two threads are in NCCL at once. */
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

/* For emulation.cpp: returns the number of groups being launched on several devices. */
extern "C" int emulated_nccl_launching(void) { return launching; }

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
  static uint64_t made;
  uint64_t words[2] = {(uint64_t)getpid(), ++made};
  memcpy(id->internal, words, sizeof words);
  return ncclSuccess;
}

static clique *clique_of(ncclUniqueId id, int n) {
  uint64_t words[2];
  memcpy(words, id.internal, sizeof words);
  for (clique *c : cliques)
    if (c->process == (int)words[0] && c->number == words[1]) return c;
  cliques.push_back(new clique{(int)words[0], words[1], n, {}, nullptr, 0, false});
  return cliques.back();
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int n, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  guard g;
  clique *c = clique_of(id, n);
  if (config->blocking || !depth || rank >= n || n != c->n)
    return reject(ncclInvalidArgument, "dpt makes non-blocking communicators in a group");
  if (asked("reject")) return reject(ncclSystemError, "no sockets on demand");
  *comm = new emulated_rank{c, rank, asked("unready") ? -1 : 3, {ncclSuccess}, {0}, {}};
  c->rank.push_back(*comm);
  made.push_back(c);
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  guard g;
  if (!comm) return reject(ncclInvalidArgument, "no communicator");
  clique *c = comm->of;
  bool waits = comm->pending || (c->all && c->all->joined < c->n);
  *error = waits ? ncclInProgress : (ncclResult_t)comm->error.load();
  if (comm->pending > 0) comm->pending--;
  if (!waits && comm == c->rank.back()) launched(c);
  return ncclSuccess;
}
/* The communicator is not freed, so that later calls with it are detected by its state. */
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  guard g;
  launched(comm->of);
  comm->pending = -1;
  comm->aborted = 1;
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
  for (clique *c : made)
    if ((int)c->rank.size() < c->n && !c->all && (result = meet(c)) != ncclInProgress) break;
  made.clear();
  comms.swap(touched);
  for (ncclComm_t comm : comms)
    if (!comm->calls.empty() && (result == ncclSuccess || result == ncclInProgress))
      result = run(comm->of);
  return result;
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'b', from, to, count, type, root, stream, ncclSum});
}
ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'r', from, to, count, type, root, stream, op});
}
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'a', from, to, count, type, 0, stream, op});
}
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'g', from, to, count, type, 0, stream, ncclSum});
}
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'s', from, to, count, type, 0, stream, op});
}
ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {'S', from, nullptr, count, type, peer, stream, ncclSum});
}
ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return take(comm, {'R', nullptr, to, count, type, peer, stream, ncclSum});
}
