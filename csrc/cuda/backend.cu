/* backend.cu: CUDA's devices, memory, queues and marks behind device/backend.h.
 *
 * What must stay true: one symbol is exported, dpt_backend. Every queue is a stream of its own that
 * is not ordered with CUDA's default stream. A mark is set on the device of its queue.
 */
#include "cuda/cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

const dpt__services *dpt__cuda_services;

int dpt__cuda_status(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return 0;
  char name[64];
  size_t length = strcspn(call, "(");
  snprintf(name, sizeof name, "%.*s", (int)length, call);
  (void)cudaGetLastError(); /* takes the error back, unless the device has failed for good */
  const char *after =
      cudaPeekAtLastError() == cudaSuccess ? "" : "; this process cannot use the device any more";
  return dpt__cuda_fail("%s: %s (%s)%s", name, cudaGetErrorString(error), cudaGetErrorName(error),
                        after);
}

static int count(int *n) {
  DPT__CUDA(cudaGetDeviceCount(n));
  return 0;
}

static char *names[256]; /* live as long as the process */

static int properties(int index, dpt_device_info *info, int64_t *memory) {
  cudaDeviceProp p;
  if (index < 0 || index >= 256) return dpt__cuda_fail("there is no GPU %d", index);
  DPT__CUDA(cudaGetDeviceProperties(&p, index));
  if (!names[index]) names[index] = strdup(p.name);
  memset(info, 0, sizeof *info);
  info->name = names[index] ? names[index] : "GPU";
  info->threads = p.multiProcessorCount;
  info->major = p.major;
  info->minor = p.minor;
  info->integrated = p.integrated;
  info->warp = p.warpSize;
  *memory = (int64_t)p.totalGlobalMem;
  return 0;
}

/* ---- memory ---- */

static int memory_take(int index, size_t bytes, void **p) {
  *p = NULL;
  DPT__CUDA(cudaSetDevice(index));
  cudaError_t error = cudaMalloc(p, bytes);
  if (error == cudaErrorMemoryAllocation) {
    *p = NULL;
    (void)cudaGetLastError(); /* takes the error back: the caller sees that there is none */
    return 0;
  }
  return dpt__cuda_status(error, "cudaMalloc");
}

static void memory_give(int index, void *p, size_t bytes) {
  if (dpt__cuda_status(cudaSetDevice(index), "cudaSetDevice") ||
      dpt__cuda_status(cudaFree(p), "cudaFree"))
    return; /* a device that failed: its memory is gone with it */
}

static int pinned_take(size_t bytes, void **p) {
  *p = NULL;
  DPT__CUDA(cudaHostAlloc(p, bytes, cudaHostAllocPortable));
  return 0;
}

static void pinned_give(void *p, size_t bytes) {
  if (dpt__cuda_status(cudaFreeHost(p), "cudaFreeHost")) return;
}

/* ---- queues ---- */

static int enter(int index) {
  DPT__CUDA(cudaSetDevice(index));
  return 0;
}

static int queue_make(int index, dpt__queue *q) {
  DPT__CUDA(cudaSetDevice(index));
  DPT__CUDA(cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
  DPT__CUDA(cudaHostAlloc((void **)&q->fault, sizeof *q->fault, cudaHostAllocPortable));
  memset(q->fault, 0, sizeof *q->fault);
  return 0;
}

/* *queue stays as it is where it fails: a stream without a queue may start another time. */
static int queue_new(int index, void **queue) {
  dpt__queue *q = (dpt__queue *)calloc(1, sizeof *q);
  if (!q) return dpt__cuda_fail("no host memory for a queue");
  if (queue_make(index, q)) {
    free(q);
    return 1;
  }
  *queue = q;
  return 0;
}

struct mark {
  cudaEvent_t event;
  dpt__queue *queue;
};

static int mark_set(int index, void *queue, void **out) {
  mark *m = (mark *)*out;
  DPT__CUDA(cudaSetDevice(index));
  if (!m) {
    m = (mark *)calloc(1, sizeof *m);
    if (!m) return dpt__cuda_fail("no host memory for a mark");
    *out = m;
    DPT__CUDA(cudaEventCreateWithFlags(&m->event, cudaEventDisableTiming));
  }
  m->queue = (dpt__queue *)queue;
  DPT__CUDA(cudaEventRecord(m->event, m->queue->stream));
  return 0;
}

static int mark_await(void *queue, void *m) {
  DPT__CUDA(cudaStreamWaitEvent(((dpt__queue *)queue)->stream, ((mark *)m)->event, 0));
  return 0;
}

static int mark_query(void *m, int *passed) {
  cudaError_t error = cudaEventQuery(((mark *)m)->event);
  *passed = error == cudaSuccess;
  if (error == cudaErrorNotReady) return 0;
  return dpt__cuda_status(error, "cudaEventQuery");
}

static int tell_fault(dpt__fault_record *at) {
  dpt__fault_record f = *at;
  at->code = DPT__FAULT_NONE;
  switch (f.code) {
  case DPT__FAULT_DIVISOR:
    return dpt__cuda_fail("%s: a divisor is 0, which integers can't be divided by", f.name);
  case DPT__FAULT_ROW:
    return dpt__cuda_fail("%s: argument 'idx' has %lld at element %lld, wanted 1 to %lld", f.name,
                          f.value, f.place, f.limit);
  case DPT__FAULT_CLASS:
    return dpt__cuda_fail("%s: argument 'target' has class %lld at element %lld, wanted 1 to %lld",
                          f.name, f.value, f.place, f.limit);
  default:
    return dpt__cuda_fail("%s: index %lld is out of range, dimension %lld has %lld elements",
                          f.name, f.value, f.place, f.limit);
  }
}

static int mark_wait(void *m) {
  DPT__CUDA(cudaEventSynchronize(((mark *)m)->event));
  dpt__fault_record *fault = ((mark *)m)->queue->fault;
  return fault->code ? tell_fault(fault) : 0;
}

extern "C" __attribute__((visibility("default"))) const dpt__backend *
dpt_backend(int abi, const dpt__services *services) {
  static dpt__backend backend;
  dpt__cuda_services = services;
  if (abi != DPT__BACKEND_ABI) {
    services->fail("this CUDA plugin has interface %d, libdpt wants %d: they are of two versions",
                   DPT__BACKEND_ABI, abi);
    return NULL;
  }
#ifdef DPT_EMULATED
  backend = *services->host; /* its kernels stand in for what is not written here */
  backend.name = "emulated";
#else
  backend.name = "cuda";
#endif
  backend.abi = DPT__BACKEND_ABI;
#define DPT_KERNEL(kernel) backend.kernels[DPT__KERNEL_##kernel] = dpt__cuda_##kernel;
#include "cuda/kernels.def"
#ifndef DPT_EMULATED
#include "cuda/libraries.def"
#endif
#undef DPT_KERNEL
  backend.count = count;
  backend.properties = properties;
  backend.memory_take = memory_take;
  backend.memory_give = memory_give;
  backend.pinned_take = pinned_take;
  backend.pinned_give = pinned_give;
  backend.enter = enter;
  backend.queue_new = queue_new;
  backend.mark_set = mark_set;
  backend.mark_await = mark_await;
  backend.mark_query = mark_query;
  backend.mark_wait = mark_wait;
  return &backend;
}
