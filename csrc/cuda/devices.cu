/* devices.cu: the GPUs of this machine, their memory, and access between peers.
 *
 * Invariant: every call that may create a context is made on a device that the process uses
 * (visit.cu).
 */
#include "cuda/cuda.h"
#include "cuda/group.h"

#include <cstring>
#include <mutex>

/* ---- devices and versions ---- */

static int devices_version_message(const char *why) {
  int runtime = 0, driver = 0;
  DPT__CUDA(cudaRuntimeGetVersion(&runtime));
  DPT__CUDA(cudaDriverGetVersion(&driver));
  if (!driver) return dpt__cuda_fail("this machine has no NVIDIA driver (%s)", why);
  return dpt__cuda_fail("the NVIDIA driver of this machine supports CUDA %d.%d, this plugin "
                        "requires %d.%d: a newer driver is needed (%s)",
                        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
                        why);
}

static int devices_count(int *n) {
  cudaError_t error = cudaGetDeviceCount(n);
  if (error == cudaErrorNoDevice || (!error && !*n))
    return dpt__cuda_fail("the NVIDIA driver sees no GPU (are they hidden by "
                          "CUDA_VISIBLE_DEVICES?)");
  if (error == cudaErrorInsufficientDriver)
    return devices_version_message(cudaGetErrorString(error));
  if (error == cudaErrorStubLibrary)
    return dpt__cuda_fail("the libcuda.so.1 that is found first is the toolkit's stub, not the "
                          "NVIDIA driver's: remove its directory from LD_LIBRARY_PATH");
  return dpt__cuda_status(error, "cudaGetDeviceCount");
}

static int devices_versions(int *runtime, int *driver) {
  DPT__CUDA(cudaRuntimeGetVersion(runtime));
  DPT__CUDA(cudaDriverGetVersion(driver));
  return 0;
}

/* Returns a copy of the device's name that lives as long as the process. */
static const char *devices_name(int index, const char *name) {
  static std::mutex lock;
  static char *names[DPT__MOST_GPUS];
  std::lock_guard<std::mutex> guard(lock);
  if (!names[index]) names[index] = strdup(name);
  return names[index] ? names[index] : "GPU";
}

static int devices_properties(int index, dpt_device_info *info, int64_t *memory) {
  cudaDeviceProp p;
  if (index < 0 || index >= DPT__MOST_GPUS) return dpt__cuda_fail("there is no GPU %d", index);
  DPT__CUDA(cudaGetDeviceProperties(&p, index));
  memset(info, 0, sizeof *info);
  info->name = devices_name(index, p.name);
  info->threads = p.multiProcessorCount;
  info->major = p.major;
  info->minor = p.minor;
  info->integrated = p.integrated;
  info->warp = p.warpSize;
  info->block_threads = p.maxThreadsPerBlock;
  info->block_registers = p.regsPerBlock;
  info->map_host = p.canMapHostMemory;
  info->pci_bus = p.pciBusID;
  info->pci_device = p.pciDeviceID;
  info->pci_domain = p.pciDomainID;
  info->texture = p.maxTexture1D;
  info->pitch = (int64_t)p.memPitch;
  info->block_shared = (int64_t)p.sharedMemPerBlock;
  info->texture_alignment = (int64_t)p.textureAlignment;
  info->constant = (int64_t)p.totalConstMem;
  /* attributes that CUDA 13 removed from cudaDeviceProp */
  DPT__CUDA(cudaDeviceGetAttribute(&info->clock, cudaDevAttrClockRate, index));
  DPT__CUDA(cudaDeviceGetAttribute(&info->overlap, cudaDevAttrGpuOverlap, index));
  DPT__CUDA(cudaDeviceGetAttribute(&info->timeout, cudaDevAttrKernelExecTimeout, index));
  DPT__CUDA(cudaDeviceGetAttribute(&info->compute_mode, cudaDevAttrComputeMode, index));
  DPT__CUDA(
      cudaDeviceGetAttribute(&info->texture_linear, cudaDevAttrMaxTexture1DLinearWidth, index));
  *memory = (int64_t)p.totalGlobalMem;
  return 0;
}

/* ---- memory ---- */

static int memory_left(int index, int64_t *bytes) {
  size_t left, all;
  dpt__visit there(index);
  if (there.failed) return 1;
  DPT__CUDA(cudaMemGetInfo(&left, &all));
  *bytes = (int64_t)left;
  return 0;
}

/* Handles the status of an allocation: returns 0 and sets *p to NULL if memory is exhausted. */
static int devices_allocated(cudaError_t error, const char *call, void **p) {
  if (error == cudaSuccess) return 0;
  *p = NULL;
  if (error != cudaErrorMemoryAllocation) return dpt__cuda_status(error, call);
  (void)cudaGetLastError(); /* clears the error: the caller checks for NULL */
  return 0;
}

static int memory_alloc(int index, size_t bytes, void **p) {
  dpt__visit there(index);
  return there.failed || devices_allocated(cudaMalloc(p, bytes), "cudaMalloc", p);
}

/* Ignores failures: the memory of a failed device is lost with it. */
static void memory_free(int index, void *p, size_t bytes) {
  dpt__apart_from_groups apart;
  dpt__visit there(index);
  if (there.failed || dpt__cuda_status(cudaFree(p), "cudaFree")) return;
}

static int pinned_alloc(int index, size_t bytes, void **p) {
  dpt__visit there(index);
  dpt__apart_from_groups apart;
  return there.failed ||
         devices_allocated(cudaHostAlloc(p, bytes, cudaHostAllocPortable), "cudaHostAlloc", p);
}

static void pinned_free(void *p, size_t bytes) {
  dpt__apart_from_groups apart;
  if (dpt__cuda_settle() || dpt__cuda_status(cudaFreeHost(p), "cudaFreeHost")) return;
}

/* ---- peer access ---- */

/* Enables or disables peer access, once. Without it the driver stages copies between the devices,
 * so nothing else is needed. Another library of the process may have enabled it already. */
static int devices_peer(int index, int other, int on, int *reached) {
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  *reached = on;
  if (index == other) return 0; /* one GPU as two devices: a script may still disable access */
  DPT__CUDA(cudaDeviceCanAccessPeer(reached, index, other));
  if (!*reached) return 0;
  dpt__visit there(index);
  if (there.failed) return 1;
  cudaError_t error =
      on ? cudaDeviceEnablePeerAccess(other, 0) : cudaDeviceDisablePeerAccess(other);
  *reached = on;
  if (error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorPeerAccessNotEnabled) {
    (void)cudaGetLastError();
    return 0;
  }
  return dpt__cuda_status(error, on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess");
}

void dpt__cuda_devices(dpt__backend *backend) {
  backend->count = devices_count;
  backend->versions = devices_versions;
  backend->properties = devices_properties;
  backend->memory_left = memory_left;
  backend->memory_alloc = memory_alloc;
  backend->memory_free = memory_free;
  backend->pinned_alloc = pinned_alloc;
  backend->pinned_free = pinned_free;
  backend->peer = devices_peer;
}
