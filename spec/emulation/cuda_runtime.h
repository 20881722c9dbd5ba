/* cuda_runtime.h: the part of CUDA that dpt's .cu files use, for the host's C++ compiler.
 *
 * Invariant: the names and semantics are CUDA's. A queue (cudaStream_t) runs its items in order, on
 * its own thread or on the calling one (queue.h). Threads of a block are fibers that switch at
 * barriers and warp operations only, in an order that differs between launches; a kernel launched
 * by DPT_LAUNCH runs as a loop and must contain neither. README.md says what the emulation does not
 * prove.
 */
#ifndef DPT_EMULATED_CUDA_RUNTIME_H
#define DPT_EMULATED_CUDA_RUNTIME_H
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
/* __thread: kernels read them all the time, so they must not need initialization at first use. */
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
static const int warpSize = 32;

/* ---- the runtime ---- */

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorStubLibrary = 34,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorECCUncorrectable = 214,
  cudaErrorContained = 226,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorTensorMemoryLeak = 721,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorExternalDevice = 911
} cudaError_t;
struct emulated_queue {
  int device;
  struct emulated_graph *graph = nullptr; /* being recorded; NULL: items are executed */
  /* Queues work that waits for other queues, possibly forever (nccl.cpp). */
  virtual void put_waiting(std::function<void()> work) = 0;

protected:
  ~emulated_queue() = default;
};
typedef struct emulated_queue *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t, *cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum {
  cudaStreamNonBlocking = 1,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocPortable = 1
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, memPitch, sharedMemPerBlock, textureAlignment, totalConstMem;
  int major, minor, multiProcessorCount, integrated, warpSize, maxThreadsPerBlock, regsPerBlock;
  int canMapHostMemory, pciBusID, pciDeviceID, pciDomainID, maxTexture1D;
};
enum cudaDeviceAttr {
  cudaDevAttrClockRate = 13,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DLinearWidth = 69
};

/* Exported with C linkage, as those of libcudart are, so that a preloaded library can interpose
 * them (spec/cuda/two_gpus.cpp). */
extern "C" {
#pragma GCC visibility push(default)
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t queue);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t queue);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *queue, unsigned flags, int priority);
cudaError_t cudaStreamWaitEvent(cudaStream_t queue, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t queue);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t queue);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaStreamBeginCapture(cudaStream_t queue, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t queue, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *work, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t work, cudaStream_t queue);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t work);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
#pragma GCC visibility pop
}

/* For specs. emulated_break: every later call on a queue fails with that error, as after a kernel
 * that accessed an illegal address (0 ends this). emulated_separate: devices from `first` on have
 * no peers. */
extern "C" __attribute__((visibility("default"))) void emulated_break(int error);
extern "C" __attribute__((visibility("default"))) void emulated_separate(int first);
/* For specs: makes the next call of that function fail with that error. It may be any function that
 * allocates memory, creates a stream, an event or a graph, or enables a peer. */
extern "C" __attribute__((visibility("default"))) void emulated_fail_next(const char *call,
                                                                          int error);
/* For specs: return the number of allocations (device and page-locked memory), of kernel launches,
 * and of streams created. */
extern "C" __attribute__((visibility("default"))) long long emulated_allocations(void);
extern "C" __attribute__((visibility("default"))) long long emulated_launches(void);
extern "C" __attribute__((visibility("default"))) long long emulated_streams(void);
/* For specs: returns 1 if the device has a context. Every call creates one, except queries of
 * versions, properties, peers, errors and the current device. */
extern "C" __attribute__((visibility("default"))) int emulated_has_context(int device);
/* For specs: returns the number of calls of cudaFree, cudaFreeHost and cudaHostAlloc during
 * launches of NCCL's groups. */
extern "C" __attribute__((visibility("default"))) long long emulated_frees_in_groups(void);
/* For specs: return the number of calls of a function (of those that copy, and those of events),
 * and the number of a device's streams with the highest priority. */
extern "C" __attribute__((visibility("default"))) long long emulated_calls(const char *function);
extern "C" __attribute__((visibility("default"))) int emulated_urgent(int device);

/* ---- launches ---- */

/* A launch; name: the kernel's, for messages. cooperative: its threads may synchronize. */
struct emulated_kernel {
  const char *name;
  dim3 grid, block;
  size_t shared;
  int cooperative;
};
/* Rejects configurations that no GPU would run. */
extern "C" __attribute__((visibility("default"))) cudaError_t
emulated_accept(cudaStream_t queue, const emulated_kernel &kernel);
/* Runs call(argument) for every thread of every block, on the calling thread. */
void emulated_run(const emulated_kernel &kernel, void (*call)(void *), void *argument);
/* Returns the dynamic shared memory of the running block. */
void *emulated_shared(void);

/* Sets the last error of this thread, as a library does after a failed call. */
void emulated_leave(cudaError_t error);

/* Returns the devices whose memory the words at that address point to. */
typedef std::bitset<256> emulated_devices;
emulated_devices emulated_owners(const void *values, size_t bytes);

/* Queues the work, or records it into a graph. operands: the devices whose memory it uses. */
cudaError_t emulated_do(cudaStream_t queue, std::function<void()> work, const char *name = "",
                        const emulated_devices &operands = {});
/* Returns true if the queue is idle and has no thread: the caller's work until emulated_end is then
 * the next item. */
bool emulated_begin(cudaStream_t queue);
void emulated_end(cudaStream_t queue);

/* The call kernel(values) with copies of the arguments, as a launch copies its parameters. */
struct emulated_call {
  std::function<void()> run;
  emulated_devices operands;
};
template <typename... P, typename... A>
emulated_call emulated_bind(void (*kernel)(P...), A &&...values) {
  std::tuple<typename std::remove_cv<P>::type...> copies(values...);
  return {[=] { std::apply(kernel, copies); }, emulated_owners(&copies, sizeof copies)};
}

/* Launches a kernel. body: the call; bound: returns that call with copies of its arguments. */
template <typename F, typename G>
cudaError_t emulated_launch_of(cudaStream_t queue, const char *name, dim3 grid, dim3 block,
                               size_t shared, int cooperative, F body, G bound) {
  emulated_kernel kernel = {name, grid, block, shared, cooperative};
  cudaError_t error = emulated_accept(queue, kernel);
  if (error) return error;
  if (emulated_begin(queue)) {
    emulated_run(
        kernel, [](void *f) { (*(F *)f)(); }, &body);
    emulated_end(queue);
    return cudaSuccess;
  }
  emulated_call call = bound();
  auto work = [kernel, run = std::move(call.run)]() mutable {
    emulated_run(
        kernel, [](void *f) { (*(std::function<void()> *)f)(); }, &run);
  };
  return emulated_do(queue, std::move(work), name, call.operands);
}

/* ---- barriers and warp operations ---- */

void __syncthreads(void);
int __syncthreads_or(int predicate);
void __syncwarp(unsigned mask = 0xffffffffu);
/* Exchanges 8 bytes between the live lanes of the caller's warp; each gets those of lane `from`. */
uint64_t emulated_exchange(unsigned mask, uint64_t value, int from);
unsigned __ballot_sync(unsigned mask, int predicate);
int emulated_lane(void);

template <typename T> T emulated_shuffle(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 8, "a shuffle moves 8 bytes at most");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = emulated_exchange(mask, bits, from);
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T> T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  return emulated_shuffle(mask, value, emulated_lane() / width * width + from % width);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, int delta, int width = 32) {
  int lane = emulated_lane(), to = lane % width + delta;
  return emulated_shuffle(mask, value, to < width ? lane + delta : lane);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, int delta, int width = 32) {
  int lane = emulated_lane();
  return emulated_shuffle(mask, value, lane % width >= delta ? lane - delta : lane);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32) {
  int lane = emulated_lane();
  return emulated_shuffle(mask, value, (lane % width ^ other) < width ? lane ^ other : lane);
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }

/* ---- atomics: atomic with respect to other queues' threads ---- */

template <typename T, typename F> T emulated_atomic(T *at, F change) {
  typedef typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type bits;
  bits old = __atomic_load_n((bits *)at, __ATOMIC_RELAXED), next;
  T value, result;
  do {
    memcpy(&value, &old, sizeof value);
    result = change(value);
    memcpy(&next, &result, sizeof next);
  } while (
      !__atomic_compare_exchange_n((bits *)at, &old, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return value;
}
template <typename T> T atomicAdd(T *at, T v) {
  return emulated_atomic(at, [=](T old) { return (T)(old + v); });
}
template <typename T> T atomicMax(T *at, T v) {
  return emulated_atomic(at, [=](T old) { return old > v ? old : v; });
}
template <typename T> T atomicMin(T *at, T v) {
  return emulated_atomic(at, [=](T old) { return old < v ? old : v; });
}
template <typename T> T atomicOr(T *at, T v) {
  return emulated_atomic(at, [=](T old) { return old | v; });
}
template <typename T> T atomicExch(T *at, T v) {
  return emulated_atomic(at, [=](T) { return v; });
}
template <typename T> T atomicCAS(T *at, T expected, T v) {
  return emulated_atomic(at, [=](T old) { return old == expected ? v : old; });
}
static inline void __threadfence_system(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* ---- arithmetic intrinsics ---- */

template <typename T> T __ldg(const T *at) { return *at; }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return (uint32_t)(((uint64_t)a * b) >> 32);
}
static inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  return (uint64_t)(((unsigned __int128)a * b) >> 64);
}
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float cospif(float x) { return (float)cos(M_PI * x); }

#endif
