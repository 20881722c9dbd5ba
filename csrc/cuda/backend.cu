/* backend.cu: the backend's table for device/backend.h; messages for CUDA's statuses.
 *
 * Invariant: one symbol is exported, dpt_backend.
 */
#include "cuda/cuda.h"
#include "cuda/delay.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

const dpt__services *dpt__cuda_services;

/* Returns true for errors after which CUDA rejects all further work of the process (listed in
 * driver_types.h). */
static bool backend_is_lasting(cudaError_t error) {
  switch (error) {
  case cudaErrorECCUncorrectable:
  case cudaErrorContained:
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorLaunchFailure:
  case cudaErrorTensorMemoryLeak:
  case cudaErrorExternalDevice:
    return true;
  default:
    return false;
  }
}

static std::atomic<bool> lost; /* such an error has occurred */

static int backend_lost(void) { return lost; }

int dpt__cuda_status(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return 0;
  char name[64];
  size_t length = strcspn(call, "(");
  snprintf(name, sizeof name, "%.*s", (int)length, call);
  (void)cudaGetLastError(); /* libraries check the last error after their launches */
  const char *after = "";
  if (backend_is_lasting(error)) {
    lost = true;
    after = dpt__cuda_checks_launches()
                ? "; CUDA can do no more work in this process"
                : "; a kernel launched earlier is the cause, and CUDA can do no more work in this "
                  "process: DPT_CHECK_LAUNCHES=1 names the kernel";
  }
  return dpt__cuda_fail("%s: %s (%s)%s", name, cudaGetErrorString(error), cudaGetErrorName(error),
                        after);
}

bool dpt__cuda_checks_launches(void) {
  static const bool on = [] {
    const char *text = getenv("DPT_CHECK_LAUNCHES");
    return text && *text && strcmp(text, "0") != 0;
  }();
  return on;
}

static int backend_kernel_status(cudaError_t error, const char *what, const char *kernel) {
  if (error == cudaSuccess) return 0;
  char call[96];
  snprintf(call, sizeof call, "%s of %s", what, kernel);
  return dpt__cuda_status(error, call);
}

int dpt__cuda_launched(dpt__context *context, const char *kernel, cudaError_t status) {
  if (backend_kernel_status(status, "launch", kernel)) return 1;
  dpt__native_stream *native = dpt__native_stream_of(context);
  if (!dpt__cuda_checks_launches() || native->captures) return 0;
  if (backend_kernel_status(cudaStreamSynchronize(native->stream), "run", kernel)) return 1;
  uint64_t number;
  const char *name;
  return dpt__cuda_stream_fault(context->native_stream, &number, &name);
}

int dpt__cuda_clear(dpt__context *context, void *p, size_t bytes) {
  if (context->measures) return 0;
  return dpt__cuda_status(cudaMemsetAsync(p, 0, bytes, dpt__native_stream_of(context)->stream),
                          "cudaMemsetAsync");
}

#ifdef DPT_EMULATED
namespace emulation {
void plant(dpt__backend *backend); /* spec/emulation/planted.cpp */
}

/* Runs a host kernel, after all queued work and synchronously: a graph cannot record it. */
template <int kernel> static int borrowed(dpt__context *context, const void *args) {
  if (!context->measures) {
    if (dpt__native_stream_of(context)->captures)
      return dpt__cuda_fail("the emulation cannot record this kernel in a graph");
    DPT__CUDA(cudaStreamSynchronize(dpt__native_stream_of(context)->stream));
  }
  return dpt__cuda_services->host->kernels[kernel](context, args);
}
#endif

static bool backend_asks(const char *name) {
  const char *text = getenv(name);
  return text && !strcmp(text, "1");
}

/* Adds a kernel of kernels.def, which may replace the host's. */
static void backend_add(dpt__backend *backend, int kernel, dpt__kernel_fn *run, bool asks,
                        bool reduced = false, bool unproven = false) {
  static const bool enabled = backend_asks("DPT_CUDA_REDUCED");
  const uint64_t bit = DPT__BIT_OF(kernel);
#ifndef DPT_EMULATED
  static const bool all = backend_asks("DPT_CUDA_NEW");
  if (unproven && !all) {
    backend->withheld |= bit;
    return;
  }
#endif
  backend->kernels[kernel] = run;
  backend->asks = (backend->asks & ~bit) | (asks ? bit : 0);
  backend->reduced = (backend->reduced & ~bit) | (reduced && enabled ? bit : 0);
}

extern "C" __attribute__((visibility("default"))) const dpt__backend *
dpt_backend(int abi, const dpt__services *services) {
  static dpt__backend backend;
  dpt__cuda_services = services;
  if (abi != DPT__BACKEND_ABI) {
    services->fail("the CUDA plugin has interface %d, libdpt wants %d: their versions differ",
                   DPT__BACKEND_ABI, abi);
    return NULL;
  }
#ifdef DPT_EMULATED
  backend = *services->host; /* the host's kernels stand in for those not written here */
#define DPT_KERNEL(kernel, why)                                                                    \
  backend.kernels[DPT__KERNEL_##kernel] = borrowed<DPT__KERNEL_##kernel>;
#include "device/kernels.def"
#undef DPT_KERNEL
  backend.name = "emulated";
#else
  backend.name = "cuda";
#endif
  backend.abi = DPT__BACKEND_ABI;
#define DPT_KERNEL(kernel, ...)                                                                    \
  backend_add(&backend, DPT__KERNEL_##kernel, dpt__cuda_##kernel, __VA_ARGS__);
#include "cuda/kernels.def"
#ifndef DPT_EMULATED
#include "cuda/libraries.def"
  backend.rnn = &dpt__cuda_rnn;
#endif
#undef DPT_KERNEL
  backend.lost = backend_lost;
  dpt__cuda_devices(&backend);
  dpt__cuda_streams(&backend);
  backend.collectives = &dpt__cuda_collectives;
#ifdef DPT_EMULATED
  emulation::plant(&backend);
#endif
  dpt__cuda_delays(&backend);
  return &backend;
}
