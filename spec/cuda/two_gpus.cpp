/* two_gpus.cpp: a preloaded library that presents the first GPU to users of the CUDA runtime as
 * two.
 *
 * Invariant: the real runtime sees device 0 only. Calls that a second GPU would reject are rejected
 * here, with CUDA's status and a line on stderr: a launch into a stream of a device other than the
 * thread's, an event recorded in a stream of another device, times between events of two devices,
 * memory set by a device that cannot access it, memory freed that was not allocated or is of the
 * other kind, devices that do not exist. As on real GPUs, waits, copies and frees may come from any
 * device. The targets of a kernel's pointer arguments are not checked. Libraries with their own
 * runtime (cuBLAS, cuDNN, NCCL) use the real device, which is always the current one.
 *
 * It needs no CUDA header: the functions have the ABI of libcudart and of the emulation
 * (spec/emulation), whichever the process has loaded.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <mutex>
#include <unordered_map>

namespace {

enum { GPUS = 2, HOST = GPUS };
enum status {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  INVALID_DEVICE = 101,
  PEER_UNSUPPORTED = 217,
  INVALID_HANDLE = 400,
  PEER_ALREADY = 704,
  PEER_NOT_ENABLED = 705
};
struct dim3 {
  unsigned x, y, z;
};
struct block {
  size_t bytes;
  int owner; /* HOST: page-locked memory */
};

std::mutex lock;                              /* guards the variables below */
std::unordered_map<const void *, int> owners; /* of streams and events */
std::map<uintptr_t, block> blocks;
bool reaches[GPUS][GPUS], has_context[GPUS];
std::atomic<int> rejections;
thread_local int current;
thread_local int last_error; /* of a call rejected here */

/* ---- the real runtime ---- */

int visit(dl_phdr_info *info, size_t, void *found) {
  const char *name = info->dlpi_name;
  if (!strstr(name, "libcudart") && !strstr(name, "libdpt_emulated")) return 0;
  *(void **)found = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  return *(void **)found != nullptr;
}

void *real(const char *name) {
  static void *const library = [] {
    void *found = nullptr;
    dl_iterate_phdr(visit, &found);
    return found;
  }();
  void *function = library ? dlsym(library, name) : nullptr;
  if (function) return function;
  fprintf(stderr, "two_gpus: no CUDA runtime of this process has %s\n", name);
  abort();
}

template <typename... A> int call(void *function, A... arguments) {
  return ((int (*)(A...))function)(arguments...);
}
/* Calls the real function, which is looked up once. */
#define PASS(name, ...)                                                                            \
  ([&] {                                                                                           \
    static void *const function = real(#name);                                                     \
    return call(function, ##__VA_ARGS__);                                                          \
  }())

/* ---- rules ---- */

int reject(int status, const char *function, const char *why) {
  rejections++;
  last_error = status;
  fprintf(stderr, "two_gpus: %s: %s\n", function, why);
  return status;
}

int own(const void *handle, int owner) {
  std::lock_guard<std::mutex> guard(lock);
  owners[handle] = owner;
  return SUCCESS;
}

int owner_of(const void *handle) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = owners.find(handle);
  return found == owners.end() ? -1 : found->second;
}

/* Records that the call creates a context on the thread's device, and returns that device. */
int use() {
  std::lock_guard<std::mutex> guard(lock);
  has_context[current] = true;
  return current;
}

int launch(const void *stream, const char *function) {
  if (owner_of(stream) == use()) return SUCCESS;
  return reject(INVALID_HANDLE, function, "the stream is not of the current device");
}

void take(void *p, size_t bytes, int owner) {
  std::lock_guard<std::mutex> guard(lock);
  blocks[(uintptr_t)p] = {bytes, owner};
}

bool give(void *p, bool pinned) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = blocks.find((uintptr_t)p);
  if (found == blocks.end() || (found->second.owner == HOST) != pinned) return false;
  blocks.erase(found);
  return true;
}

/* Returns true if the device can access the memory. */
bool reach(int device, const void *p) {
  std::lock_guard<std::mutex> guard(lock);
  auto next = blocks.upper_bound((uintptr_t)p);
  if (next == blocks.begin()) return false;
  const auto &found = *--next;
  if ((uintptr_t)p >= found.first + found.second.bytes) return false;
  int owner = found.second.owner;
  return owner == HOST || owner == device || reaches[device][owner];
}

bool exists(int device) { return device >= 0 && device < GPUS; }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

/* For specs. */
int two_gpus_rejections(void) { return rejections; }
int two_gpus_has_context(int device) {
  std::lock_guard<std::mutex> guard(lock);
  return has_context[device];
}

/* ---- devices ---- */

int cudaGetDeviceCount(int *n) {
  int status = PASS(cudaGetDeviceCount, n);
  if (!status && *n) *n = GPUS;
  return status;
}
int cudaSetDevice(int device) {
  if (!exists(device)) return reject(INVALID_DEVICE, "cudaSetDevice", "there is no such device");
  current = device;
  use();
  return PASS(cudaSetDevice, 0);
}
int cudaGetDevice(int *device) {
  *device = current;
  return SUCCESS;
}
int cudaGetDeviceProperties(void *properties, int device) {
  if (!exists(device))
    return reject(INVALID_DEVICE, "cudaGetDeviceProperties", "there is no such device");
  return PASS(cudaGetDeviceProperties, properties, 0);
}
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  if (!exists(device))
    return reject(INVALID_DEVICE, "cudaDeviceGetAttribute", "there is no such device");
  return PASS(cudaDeviceGetAttribute, value, attribute, 0);
}
int cudaMemGetInfo(size_t *left, size_t *all) {
  use();
  return PASS(cudaMemGetInfo, left, all);
}
int cudaGetLastError(void) {
  int own = last_error, status = PASS(cudaGetLastError);
  last_error = SUCCESS;
  return own ? own : status;
}
int cudaPeekAtLastError(void) { return last_error ? last_error : PASS(cudaPeekAtLastError); }

/* ---- peers ---- */

int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!exists(device) || !exists(peer))
    return reject(INVALID_DEVICE, "cudaDeviceCanAccessPeer", "there is no such device");
  *can = device != peer && !getenv("TWO_GPUS_SEPARATE");
  return SUCCESS;
}
int cudaDeviceEnablePeerAccess(int peer, unsigned) {
  int can = 0, status = cudaDeviceCanAccessPeer(&can, use(), peer);
  if (status) return status;
  if (!can) return reject(PEER_UNSUPPORTED, "cudaDeviceEnablePeerAccess", "it is not reached");
  std::lock_guard<std::mutex> guard(lock);
  if (reaches[current][peer]) return last_error = PEER_ALREADY;
  reaches[current][peer] = true;
  return SUCCESS;
}
int cudaDeviceDisablePeerAccess(int peer) {
  use();
  std::lock_guard<std::mutex> guard(lock);
  if (!exists(peer) || !reaches[current][peer]) return last_error = PEER_NOT_ENABLED;
  reaches[current][peer] = false;
  return SUCCESS;
}

/* ---- memory ---- */

int cudaMalloc(void **p, size_t bytes) {
  int owner = use(), status = PASS(cudaMalloc, p, bytes);
  if (!status) take(*p, bytes, owner);
  return status;
}
int cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
  use();
  int status = PASS(cudaHostAlloc, p, bytes, flags);
  if (!status) take(*p, bytes, HOST);
  return status;
}
int cudaFree(void *p) {
  use();
  if (p && !give(p, false)) return reject(INVALID_VALUE, "cudaFree", "it is no memory of a device");
  return PASS(cudaFree, p);
}
int cudaFreeHost(void *p) {
  use();
  if (p && !give(p, true))
    return reject(INVALID_VALUE, "cudaFreeHost", "it is no page-locked memory");
  return PASS(cudaFreeHost, p);
}
int cudaMemsetAsync(void *p, int value, size_t bytes, void *stream) {
  int owner = owner_of(stream);
  if (owner < 0 || !reach(owner, p))
    return reject(INVALID_VALUE, "cudaMemsetAsync",
                  "the stream's device does not reach the memory");
  return PASS(cudaMemsetAsync, p, value, bytes, stream);
}

/* ---- streams and events ---- */

int cudaStreamCreateWithFlags(void **stream, unsigned flags) {
  int owner = use(), status = PASS(cudaStreamCreateWithFlags, stream, flags);
  return status ? status : own(*stream, owner);
}
int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  int owner = use(), status = PASS(cudaStreamCreateWithPriority, stream, flags, priority);
  return status ? status : own(*stream, owner);
}
int cudaEventCreateWithFlags(void **event, unsigned flags) {
  int owner = use(), status = PASS(cudaEventCreateWithFlags, event, flags);
  return status ? status : own(*event, owner);
}
int cudaEventDestroy(void *event) {
  {
    std::lock_guard<std::mutex> guard(lock);
    owners.erase(event);
  }
  return PASS(cudaEventDestroy, event);
}
int cudaEventRecord(void *event, void *stream) {
  if (owner_of(event) != owner_of(stream))
    return reject(INVALID_HANDLE, "cudaEventRecord", "event and stream are of two devices");
  return PASS(cudaEventRecord, event, stream);
}
int cudaEventElapsedTime(float *milliseconds, void *from, void *to) {
  if (owner_of(from) != owner_of(to))
    return reject(INVALID_HANDLE, "cudaEventElapsedTime", "the events are of two devices");
  return PASS(cudaEventElapsedTime, milliseconds, from, to);
}

/* ---- launches ---- */

int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                     void *stream) {
  int status = launch(stream, "cudaLaunchKernel");
  return status ? status : PASS(cudaLaunchKernel, kernel, grid, block, arguments, shared, stream);
}
/* CUDA 13's <<<>>>. */
int __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                       void *stream) {
  int status = launch(stream, "a launch");
  return status ? status : PASS(__cudaLaunchKernel, kernel, grid, block, arguments, shared, stream);
}
/* The emulation's. */
int emulated_accept(void *stream, const void *kernel) {
  int status = launch(stream, "a launch");
  return status ? status : PASS(emulated_accept, stream, kernel);
}

} /* extern "C" */
#pragma GCC visibility pop
