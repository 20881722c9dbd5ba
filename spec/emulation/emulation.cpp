/* emulation.cpp: kernels, as fibers, and the runtime calls of cuda_runtime.h.
 *
 * Invariant: a fiber yields only in meet(); when all live fibers of a team have arrived, all
 * continue. Shared memory contains garbage when a block starts. All state belongs to the OS thread
 * that runs the kernel, so that two queues can run at once.
 */
#include "cuda_runtime.h"

#include "memory.h"
#include "queue.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define FIBERS_ARE_TOLD 1
#else
#define FIBERS_ARE_TOLD 0
#endif

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

/* ---- fibers ---- */

enum { STACK = 64 << 10, COLOURS = 64, MOST_THREADS = 1024, WARP = 32 };

/* Saves callee-saved registers, stores the stack pointer in *from and switches to `to`. */
extern "C" void emulated_switch(void **from, void *to);
#if defined(__x86_64__)
__asm__(".text\n.globl emulated_switch\n.hidden emulated_switch\n"
        ".type emulated_switch,@function\n"
        "emulated_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
        ".size emulated_switch,.-emulated_switch\n");
#else
#error "the emulation of CUDA runs on x86-64"
#endif

namespace {

struct fiber {
  void *top;   /* stack pointer to resume at */
  char *stack; /* its lowest byte */
  void *fake;  /* ASan's */
  uint3 index;
  int alive;
};

/* Threads that synchronize: a block, or a warp of it. */
struct team {
  int living, arrived;
  unsigned generation;
  int voted[2]; /* by generation modulo 2: true if a thread voted for it */
};

struct machine {
  const char *name;
  std::vector<fiber> fibers;
  std::vector<team> warps;
  std::vector<uint64_t> given; /* a value per thread, for its warp */
  team block;
  int current, nthread, is_team;
  unsigned random;
  void *main_top, *main_fake;
  const void *main_stack;
  size_t main_size;
  void (*call)(void *);
  void *argument;
  std::vector<char> shared;
  ~machine() {
    for (fiber &f : fibers) free(f.stack);
  }
};
thread_local machine machines;
__thread machine *m; /* the thread's; NULL before its first launch */
thread_local cudaError_t last_error;

[[noreturn]] void die(const char *what) {
  fprintf(stderr, "emulation: kernel %s: %s (thread %u %u %u of block %u %u %u)\n", m->name, what,
          threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
  abort();
}

void switch_to_main(fiber &f, int ends) {
#if FIBERS_ARE_TOLD
  __sanitizer_start_switch_fiber(ends ? nullptr : &f.fake, m->main_stack, m->main_size);
#endif
  emulated_switch(&f.top, m->main_top);
#if FIBERS_ARE_TOLD
  __sanitizer_finish_switch_fiber(f.fake, nullptr, nullptr);
#endif
}

void switch_to(fiber &f) {
  threadIdx = f.index;
#if FIBERS_ARE_TOLD
  __sanitizer_start_switch_fiber(&m->main_fake, f.stack, STACK);
#endif
  emulated_switch(&m->main_top, f.top);
#if FIBERS_ARE_TOLD
  __sanitizer_finish_switch_fiber(m->main_fake, nullptr, nullptr);
#endif
}

team &warp_of(int thread) { return m->warps[(size_t)thread / WARP]; }

void all_have_met(team &t) {
  t.arrived = 0;
  t.generation++;
  t.voted[t.generation % 2] = 0; /* its readers have all arrived again */
}

void depart(team &t) {
  t.living--;
  if (t.living && t.arrived == t.living) all_have_met(t);
}

/* The entry point of a fiber. */
void begin() {
  fiber &f = m->fibers[(size_t)m->current];
#if FIBERS_ARE_TOLD
  __sanitizer_finish_switch_fiber(nullptr, &m->main_stack, &m->main_size);
#endif
  m->call(m->argument);
  f.alive = 0;
  depart(m->block);
  depart(warp_of(m->current));
  switch_to_main(f, 1);
  abort();
}

void prepare(fiber &f) {
  if (!f.stack && posix_memalign((void **)&f.stack, 4096, STACK)) abort();
  /* the layout that emulated_switch leaves: six registers, then the return address; tops differ in
   * their offset within a page, since otherwise all would compete for the same cache lines */
  size_t down = (size_t)(&f - m->fibers.data()) % COLOURS * 192;
  void **top = (void **)(f.stack + STACK - down) - 1; /* aligned as after a call */
  *--top = (void *)begin;
  for (int i = 0; i < 6; i++) *--top = nullptr;
  f.top = top;
  f.alive = 1;
}

void meet(team &t) {
  if (!m->is_team) die("a barrier or warp operation in a kernel that was launched as plain");
  unsigned before = t.generation;
  if (++t.arrived == t.living) all_have_met(t);
  while (t.generation == before) switch_to_main(m->fibers[(size_t)m->current], 0);
}

uint3 index_of(int thread) {
  unsigned t = (unsigned)thread;
  return {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
}

/* Runs fibers in turn until none is alive, starting from a random thread. */
void run_team() {
  for (int t = 0; t < m->nthread; t++) {
    prepare(m->fibers[(size_t)t]);
    m->fibers[(size_t)t].index = index_of(t);
  }
  m->block = {m->nthread, 0, 0, {0, 0}};
  for (size_t w = 0; w < m->warps.size(); w++) {
    int rest = m->nthread - (int)w * WARP;
    m->warps[w] = {rest < WARP ? rest : WARP, 0, 0, {0, 0}};
  }
  m->random = m->random * 1664525u + 1013904223u;
  int first = (int)((m->random >> 8) % (unsigned)m->nthread);
  for (int round = 0; m->block.living; round++) {
    int before = m->block.living, moved = 0;
    unsigned generations = m->block.generation;
    for (const team &w : m->warps) generations += w.generation;
    for (int i = 0; i < m->nthread; i++) {
      m->current = (first + i) % m->nthread;
      fiber &f = m->fibers[(size_t)m->current];
      if (f.alive) switch_to(f);
    }
    unsigned after = m->block.generation;
    for (const team &w : m->warps) after += w.generation;
    moved = before != m->block.living || generations != after;
    if (round && !moved) die("its threads wait for each other for ever");
  }
}

void run_plain() {
  uint3 index = {0, 0, 0};
  for (m->current = 0; m->current < m->nthread; m->current++) {
    threadIdx = index;
    m->call(m->argument);
    if (++index.x < blockDim.x) continue;
    index.x = 0;
    if (++index.y < blockDim.y) continue;
    index.y = 0;
    index.z++;
  }
}

std::atomic<int> broken; /* error of every call on a queue, as on a GPU that failed */
std::atomic<long long> allocations, launches, streams;
enum { DEVICES = 256 };
std::atomic<bool> contexts[DEVICES]; /* devices that have one */
thread_local int device;             /* the thread's device */

/* Returns the thread's device; the first call that may need its context creates it. */
int own_device() {
  contexts[device] = true;
  return device;
}

/* Counts the calls of a function; created at its first call. */
struct counted {
  const char *name;
  std::atomic<long long> calls;
  counted *next;
  explicit counted(const char *of);
};
std::atomic<counted *> all_counted;
counted::counted(const char *of) : name(of), calls(0), next(all_counted) {
  while (!all_counted.compare_exchange_weak(next, this)) {}
}
#define COUNT()                                                                                    \
  do {                                                                                             \
    static counted own(__func__);                                                                  \
    own.calls++;                                                                                   \
  } while (0)

cudaError_t result(cudaError_t error) {
  if (error) last_error = error;
  return error;
}

/* Checks the preconditions of every call on a queue or an event of device `owner`. */
cudaError_t usable(int owner) {
  if (broken) return result((cudaError_t)broken.load());
  return owner == own_device() ? cudaSuccess : result(cudaErrorInvalidResourceHandle);
}

} // namespace

static std::atomic<bool> reached[DEVICES][DEVICES]; /* from, to: peers */

struct emulated_graph {
  std::shared_ptr<std::vector<std::function<void()>>> items;
  long long kernels; /* number of kernels among them */
};
struct emulated_event {
  int device;
  bool timed;
  emulation::queue *queue; /* NULL: no work precedes it */
  uint64_t number;         /* of the queue's last item before it */
  std::shared_ptr<std::chrono::steady_clock::time_point> at; /* set if it is timed */
};

/* Returns those of `others` that are not peers of device `index`. */
static emulated_devices strangers(int index, emulated_devices others) {
  others.reset((size_t)index);
  for (size_t i = 0; others.any() && i < DEVICES; i++)
    if (reached[index][i]) others.reset(i);
  return others;
}

cudaError_t emulated_do(cudaStream_t queue, std::function<void()> work, const char *name,
                        const emulated_devices &operands) {
  if (usable(queue->device)) return last_error;
  emulated_devices others = strangers(queue->device, operands);
  if (others.any())
    work = [=, index = queue->device] { emulation::run_without(others, index, name, work); };
  if (queue->graph)
    queue->graph->items->push_back(std::move(work));
  else
    emulation::of(queue)->put(std::move(work));
  return cudaSuccess;
}

bool emulated_begin(cudaStream_t queue) { return !queue->graph && emulation::of(queue)->begin(); }
void emulated_end(cudaStream_t queue) { emulation::of(queue)->end(); }

void emulated_break(int error) { broken = error; }
void emulated_leave(cudaError_t error) { last_error = error; }

static std::mutex planting;
static char planted_call[64];
static int planted_error;
void emulated_fail_next(const char *call, int error) {
  std::lock_guard<std::mutex> guard(planting);
  snprintf(planted_call, sizeof planted_call, "%s", call);
  planted_error = error;
}
/* Returns the error that a spec has planted for this call, once. */
static cudaError_t planted(const char *call) {
  std::lock_guard<std::mutex> guard(planting);
  if (strcmp(planted_call, call)) return cudaSuccess;
  planted_call[0] = 0;
  return result((cudaError_t)planted_error);
}

long long emulated_allocations(void) { return allocations; }
long long emulated_launches(void) { return launches; }
long long emulated_streams(void) { return streams; }
int emulated_has_context(int index) { return index >= 0 && index < DEVICES && contexts[index]; }
long long emulated_calls(const char *function) {
  for (const counted *c = all_counted; c; c = c->next)
    if (!strcmp(c->name, function)) return c->calls;
  return 0;
}

cudaError_t emulated_accept(cudaStream_t queue, const emulated_kernel &k) {
  size_t threads = (size_t)k.block.x * k.block.y * k.block.z;
  if (!threads || threads > MOST_THREADS || !k.grid.x || !k.grid.y || !k.grid.z ||
      k.grid.x > 2147483647u || k.grid.y > 65535 || k.grid.z > 65535 || k.shared > 48 << 10)
    return result(cudaErrorInvalidConfiguration);
  if (!queue) return result(cudaErrorInvalidResourceHandle); /* dpt never uses the default one */
  if (usable(queue->device)) return last_error;
  if (queue->graph)
    queue->graph->kernels++;
  else
    launches++;
  return cudaSuccess;
}

void emulated_run(const emulated_kernel &k, void (*call)(void *), void *argument) {
  size_t threads = (size_t)k.block.x * k.block.y * k.block.z;
  m = &machines;
  m->name = k.name;
  m->nthread = (int)threads;
  m->is_team = k.cooperative;
  m->call = call;
  m->argument = argument;
  if (k.cooperative && m->fibers.size() < threads) m->fibers.resize(threads);
  m->warps.resize((threads + WARP - 1) / WARP);
  m->given.resize(threads);
  gridDim = k.grid;
  blockDim = k.block;
  m->shared.resize(k.shared + 16);
  for (unsigned z = 0; z < k.grid.z; z++)
    for (unsigned y = 0; y < k.grid.y; y++)
      for (unsigned x = 0; x < k.grid.x; x++) {
        blockIdx = {x, y, z};
        memset(m->shared.data(), 0xc3, m->shared.size());
        if (k.cooperative) {
          run_team();
        } else {
          run_plain();
        }
      }
}

void *emulated_shared(void) { return (void *)(((uintptr_t)m->shared.data() + 15) / 16 * 16); }

void __syncthreads(void) { meet(m->block); }
int __syncthreads_or(int predicate) {
  int *voted = &m->block.voted[m->block.generation % 2];
  *voted |= predicate != 0;
  meet(m->block);
  return *voted;
}
void __syncwarp(unsigned) { meet(warp_of(m->current)); }
int emulated_lane(void) { return m->current % WARP; }

uint64_t emulated_exchange(unsigned, uint64_t value, int from) {
  int self = m->current, other = self / WARP * WARP + from;
  m->given[(size_t)self] = value;
  meet(warp_of(self));
  uint64_t got = other < m->nthread ? m->given[(size_t)other] : value;
  meet(warp_of(self));
  return got;
}

unsigned __ballot_sync(unsigned, int predicate) {
  int self = m->current, first = self / WARP * WARP;
  m->given[(size_t)self] = predicate != 0;
  meet(warp_of(self));
  unsigned bits = 0;
  for (int lane = 0; lane < WARP && first + lane < m->nthread; lane++)
    if (m->fibers[(size_t)(first + lane)].alive && m->given[(size_t)(first + lane)])
      bits |= 1u << lane;
  meet(warp_of(self));
  return bits;
}

/* ---- the runtime ---- */

/* Returns names of the errors that can occur here; others exist only for compilation. */
const char *cudaGetErrorName(cudaError_t error) {
  static const struct {
    cudaError_t error;
    const char *name;
  } names[] = {{cudaSuccess, "cudaSuccess"},
               {cudaErrorInvalidValue, "cudaErrorInvalidValue"},
               {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation"},
               {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration"},
               {cudaErrorInvalidDevice, "cudaErrorInvalidDevice"},
               {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle"},
               {cudaErrorIllegalAddress, "cudaErrorIllegalAddress"},
               {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled"},
               {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled"}};
  for (const auto &n : names)
    if (n.error == error) return n.name;
  return "an error that the emulation does not know";
}
const char *cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError(void) {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError(void) { return last_error; }

cudaError_t cudaGetDeviceCount(int *n) {
  *n = DEVICES;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int index) {
  if (index < 0 || index >= DEVICES) return result(cudaErrorInvalidDevice);
  *p = cudaDeviceProp();
  snprintf(p->name, sizeof p->name, "emulated device");
  p->totalGlobalMem = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  p->major = 9;
  p->multiProcessorCount = 1;
  p->integrated = 1;
  p->warpSize = WARP;
  p->maxThreadsPerBlock = MOST_THREADS;
  p->sharedMemPerBlock = 48 << 10;
  p->canMapHostMemory = 1;
  p->pciBusID = index;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrGpuOverlap;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }
void emulation::enter(int index) { device = index; }
cudaError_t cudaSetDevice(int index) {
  if (index < 0 || index >= DEVICES) return result(cudaErrorInvalidDevice);
  device = index;
  own_device(); /* creates the context, since CUDA 12 */
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *index) {
  *index = device;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
  if (usable(own_device())) return last_error;
  *left = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  *all = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
  if (planted(__func__)) return last_error;
  allocations++;
  if (usable(own_device())) return last_error;
  *p = emulation::take_memory(bytes, device);
  return *p ? cudaSuccess : result(cudaErrorMemoryAllocation);
}
/* Counts a call that waits for kernels while NCCL launches a group on several devices. */
static std::atomic<long long> frees_in_groups;
long long emulated_frees_in_groups(void) { return frees_in_groups; }
static void note_wait(void) {
  const char *file = getenv("DPT_NCCL");
  void *nccl = file && *file ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!nccl) return;
  auto launching = (int (*)())dlsym(nccl, "emulated_nccl_launching");
  if (launching && launching()) frees_in_groups++;
  dlclose(nccl);
}
cudaError_t cudaFree(void *p) {
  note_wait();
  emulation::drain(own_device());
  emulation::give_memory(p);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
  if (planted(__func__)) return last_error;
  note_wait();
  allocations++;
  if (usable(own_device())) return last_error;
  *p = emulation::take_memory(bytes, emulation::PINNED);
  return *p ? cudaSuccess : result(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void *p) {
  note_wait();
  own_device();
  emulation::give_memory(p);
  return cudaSuccess;
}
/* Ordinary host memory is read, or written, before the call returns. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t queue) {
  COUNT();
  if (emulated_begin(queue)) {
    bool usual = !usable(queue->device);
    if (usual) memmove(to, from, bytes);
    emulated_end(queue);
    return usual ? cudaSuccess : last_error;
  }
  auto source = from;
  std::shared_ptr<std::vector<char>> staged;
  if (!queue->graph && !emulation::has_owner(from)) {
    staged = std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);
    source = staged->data();
  }
  cudaError_t error = emulated_do(queue, [=, kept = staged] { memmove(to, source, bytes); });
  if (!error && !queue->graph && !emulation::has_owner(to)) return cudaStreamSynchronize(queue);
  return error;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t queue) {
  COUNT();
  return emulated_do(queue, [=] { memset(to, value, bytes); });
}

enum { GREATEST = -5 }; /* as on GPUs; the lowest is 0 */
static std::atomic<int> urgent[DEVICES];
int emulated_urgent(int index) { return urgent[index]; }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = GREATEST;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *queue, unsigned, int priority) {
  if (planted(__func__)) return last_error;
  streams++;
  *queue = new emulation::queue(own_device());
  if (priority == GREATEST) urgent[device]++;
  return cudaSuccess;
}
/* Checks a call that is not allowed while the queue records a graph. */
static cudaError_t usable_at_once(cudaStream_t queue) {
  return queue->graph ? result(cudaErrorStreamCaptureUnsupported) : usable(queue->device);
}
cudaError_t cudaStreamSynchronize(cudaStream_t queue) {
  if (usable_at_once(queue)) return last_error;
  emulation::of(queue)->wait_for(emulation::of(queue)->last());
  return usable(queue->device);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  if (planted(__func__)) return last_error;
  *event = new emulated_event{own_device(), !(flags & cudaEventDisableTiming), nullptr, 0, nullptr};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  own_device();
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t queue) {
  COUNT();
  if (event->device != queue->device) return result(cudaErrorInvalidResourceHandle);
  if (usable_at_once(queue)) return last_error;
  event->queue = emulation::of(queue);
  if (event->timed) {
    auto at = event->at = std::make_shared<std::chrono::steady_clock::time_point>();
    event->number = event->queue->put([=] { *at = std::chrono::steady_clock::now(); });
  } else {
    event->number = event->queue->last();
  }
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  COUNT();
  if (usable(device)) return last_error;
  return !event->queue || event->queue->is_over(event->number) ? cudaSuccess
                                                               : result(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  COUNT();
  if (usable(device)) return last_error;
  if (event->queue) event->queue->wait_for(event->number);
  return usable(device);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (!from->timed || !to->timed) return result(cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {from, to})
    if (cudaEventQuery(event)) return last_error;
  *milliseconds = std::chrono::duration<float, std::milli>(*to->at - *from->at).count();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t queue, cudaEvent_t event, unsigned) {
  COUNT();
  if (usable_at_once(queue)) return last_error;
  emulation::queue *other = event->queue;
  uint64_t number = event->number;
  if (other && other != emulation::of(queue) && !other->is_over(number) && !emulation::skips_waits)
    queue->put_waiting([=] { other->wait_for(number); });
  return cudaSuccess;
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t queue, cudaStreamCaptureMode) {
  if (planted(__func__) || usable_at_once(queue)) return last_error;
  queue->graph = new emulated_graph{std::make_shared<std::vector<std::function<void()>>>(), 0};
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t queue, cudaGraph_t *graph) {
  if (!queue->graph) return result(cudaErrorInvalidValue);
  *graph = queue->graph;
  queue->graph = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *work, cudaGraph_t graph, unsigned long long) {
  *work = new emulated_graph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t queue) {
  if (usable_at_once(queue)) return last_error;
  launches += graph->kernels;
  return emulated_do(queue, [items = graph->items] {
    for (const auto &work : *items) work();
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return cudaGraphDestroy(graph); }

/* ---- peer access ---- */

static std::atomic<int> separate{DEVICES};

void emulated_separate(int first) { separate = first; }

cudaError_t cudaDeviceCanAccessPeer(int *can, int from, int to) {
  if (from < 0 || to < 0 || from >= DEVICES || to >= DEVICES) return result(cudaErrorInvalidDevice);
  *can = from != to && from < separate && to < separate;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (planted(__func__)) return last_error;
  if (peer < 0 || peer >= DEVICES || peer == own_device()) return result(cudaErrorInvalidDevice);
  contexts[peer] = true;
  return reached[device][peer].exchange(true) ? result(cudaErrorPeerAccessAlreadyEnabled)
                                              : cudaSuccess;
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (peer < 0 || peer >= DEVICES) return result(cudaErrorInvalidDevice);
  return reached[device][peer].exchange(false) ? cudaSuccess
                                               : result(cudaErrorPeerAccessNotEnabled);
}
