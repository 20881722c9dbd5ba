/* cuda.h: what the files of this folder share: services of libdpt, queues, statuses, launches.
 *
 * Invariant: no status of a CUDA call is ignored; a launch goes through DPT_LAUNCH (a kernel whose
 * threads never meet) or DPT_LAUNCH_COOPERATIVE, on the context's native stream, so that the same
 * text runs on a GPU and under the emulation (spec/emulation). Kernel functions of the backend
 * never wait, but where a convolution is measured. A kernel that finds a bad value leaves a fault
 * in its stream: the next wait reports it. A kernel function whose context measures
 * (device/backend.h) goes all its way and launches nothing.
 */
#ifndef DPT_CUDA_CUDA_H
#define DPT_CUDA_CUDA_H
#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern "C" {
#include "device/plugin.h"
}

extern const dpt__services *dpt__cuda_services;
#define dpt__cuda_fail(...) (dpt__cuda_services->fail(__VA_ARGS__))

/* 0, or an error message that names the call. */
int dpt__cuda_status(cudaError_t error, const char *call);
#define DPT__CUDA(call)                                                                            \
  do {                                                                                             \
    if (dpt__cuda_status((call), #call)) return 1;                                                 \
  } while (0)

enum { DPT__MOST_GPUS = 256 };

/* Makes `index` the thread's device and notes that the process uses it. */
int dpt__cuda_enter(int index);
/* Moves a thread that is still on device 0 by default to a device that the process uses. Called
 * before what works on any device: CUDA may make a context on the thread's. */
int dpt__cuda_settle(void);

/* Another device is the thread's for as long as this lives. The thread goes back unless its device
 * was 0 by default and the process does not use that: going there would make a context on it. */
struct dpt__visit {
  int before;
  bool returns, failed;
  explicit dpt__visit(int index);
  ~dpt__visit() {
    if (returns && dpt__cuda_status(cudaSetDevice(before), "cudaSetDevice")) return;
  }
};

/* They fill in the table: devices and memory (devices.cu), streams and events (stream.cu). */
void dpt__cuda_devices(dpt__backend *backend);
void dpt__cuda_streams(dpt__backend *backend);
extern const dpt__collectives dpt__cuda_collectives; /* nccl.cu */
extern const struct dpt__rnn_library dpt__cuda_rnn;  /* cudnn/rnn_plan.cu */

/* DPT_CHECK_LAUNCHES=1: whoever launches a kernel waits for it, so that what goes wrong in it is
 * raised in its name. launched takes the status of a launch: cudaPeekAtLastError would also report
 * what a library has left on this thread. */
bool dpt__cuda_checks_launches(void);
int dpt__cuda_launched(dpt__context *context, const char *kernel, cudaError_t status);
/* 1 and an error message, once, if a kernel of the native stream has left a fault; *number: of its
 * item. */
int dpt__cuda_stream_fault(void *native, uint64_t *number, const char **name);
/* The bytes become 0, in the order of the context's stream. */
int dpt__cuda_clear(dpt__context *context, void *p, size_t bytes);
/* Milliseconds that the native stream takes for what issue(data) queues on it: waits for that. */
int dpt__cuda_time(dpt__context *context, int (*issue)(void *data), void *data,
                   float *milliseconds);
/* Whether work has come to the event; that it has not leaves no error behind on this thread. */
int dpt__cuda_passed(cudaEvent_t event, int *passed);

/* What a kernel may find wrong: an integer divisor that is 0; `value` instead of 1 to `limit`, as
 * an index into dimension `position`, or at element `position` of 'indices' or of classes 'target';
 * a mask of `value` elements for a list of `limit`; a tensor that is not what it was when counted.
 * stream.cu has the messages. */
enum dpt__cuda_fault {
  DPT__KERNEL_FAULT_NONE,
  DPT__KERNEL_FAULT_DIVISOR,
  DPT__KERNEL_FAULT_INDEX,
  DPT__KERNEL_FAULT_ROW,
  DPT__KERNEL_FAULT_CLASS,
  DPT__KERNEL_FAULT_MASK,
  DPT__KERNEL_FAULT_CHANGED
};

/* In page-locked memory that kernels see: the first fault since the last one was raised. The host
 * reads it while kernels run, once `whole` says that it may. */
struct dpt__fault_record {
  int code;
  int whole;
  const char *name; /* of the operation: a literal of libdpt */
  uint64_t number;  /* of the stream's item */
  long long value, position, limit;
  double read; /* what value was converted from */
};

/* Where the kernels of an item report what they find wrong. */
struct dpt__kernel_fault {
  dpt__fault_record *record;
  uint64_t number;
};

/* Keeps one of the faults that threads of one launch meet. number: the element that `value` was
 * read from. */
static __device__ inline void dpt__fault_set(dpt__kernel_fault fault, int code, const char *name,
                                             long long value, long long position, long long limit,
                                             double number) {
  dpt__fault_record *record = fault.record;
  if (atomicCAS(&record->code, (int)DPT__KERNEL_FAULT_NONE, code)) return;
  record->name = name;
  record->number = fault.number;
  record->value = value;
  record->position = position;
  record->limit = limit;
  record->read = number;
  __threadfence_system();
  *(volatile int *)&record->whole = 1;
}
static __device__ inline void dpt__fault_set(dpt__kernel_fault fault, int code, const char *name,
                                             long long value, long long position, long long limit) {
  dpt__fault_set(fault, code, name, value, position, limit, (double)value);
}

/* context->native_stream. */
struct dpt__native_stream {
  cudaStream_t stream;
  dpt__fault_record *fault;
  bool captures;        /* a graph is recorded: nothing can be waited for */
  void *cublas, *cudnn; /* handles, once there was work for them (cublas.h, cudnn/cudnn.h) */
};

static inline dpt__native_stream *dpt__native_stream_of(const dpt__context *context) {
  return (dpt__native_stream *)context->native_stream;
}
static inline dpt__kernel_fault dpt__fault_of(const dpt__context *context) {
  dpt__native_stream *queue = dpt__native_stream_of(context); /* none where the context measures */
  return {queue ? queue->fault : NULL, context->number};
}

/* `kernel` is a name without commas: take an instance of a template into a variable first.
 * DPT_UNROLL stands before a loop whose arrays must be registers, DPT_ROLLED before one that runs
 * so few times that copies of it are in the way. */
#ifdef __CUDACC__
/* A kernel's parameter, which the arguments of a launch are converted to. */
template <typename T> struct dpt__parameter { typedef const T &type; };
template <typename... T>
cudaError_t dpt__cuda_launch(void (*kernel)(T...), dim3 grid, dim3 block, size_t shared,
                             cudaStream_t stream, typename dpt__parameter<T>::type... values) {
  void *at[] = {(void *)&values...};
  return cudaLaunchKernel((const void *)kernel, grid, block, at, shared, stream);
}
#define DPT__START(cooperative, kernel, grid, block, shared, stream, ...)                          \
  dpt__cuda_launch(kernel, (grid), (block), (shared), (stream), __VA_ARGS__)
#define DPT_UNROLL _Pragma("unroll")
#define DPT_ROLLED _Pragma("unroll 1")
#define DPT_SHARED(type, name)                                                                     \
  extern __shared__ __align__(16) unsigned char dpt__shared[];                                     \
  type *name = reinterpret_cast<type *>(dpt__shared)
#else
#define DPT__START(cooperative, kernel, grid, block, shared, stream, ...)                          \
  emulated_launch_of((stream), #kernel, (grid), (block), (shared), (cooperative),                  \
                     [&] { kernel(__VA_ARGS__); },                                                 \
                     [&] { return emulated_bind(kernel, __VA_ARGS__); })
#define DPT_UNROLL
#define DPT_ROLLED
#define DPT_SHARED(type, name) type *name = static_cast<type *>(emulated_shared())
#endif
#define DPT__LAUNCH(cooperative, kernel, grid, block, shared, context, ...)                        \
  ((context)->measures                                                                             \
       ? 0                                                                                         \
       : dpt__cuda_launched((context), #kernel,                                                    \
                            DPT__START(cooperative, kernel, grid, block, shared,                   \
                                       dpt__native_stream_of(context)->stream, __VA_ARGS__)))
#define DPT_LAUNCH(...) DPT__LAUNCH(0, __VA_ARGS__)
#define DPT_LAUNCH_COOPERATIVE(...) DPT__LAUNCH(1, __VA_ARGS__)

/* Every kernel of kernels.def that this folder has, by its name there; libraries.def: those that
 * cuDNN computes, which the emulation has no part of. */
#define DPT_KERNEL(name, asks) int dpt__cuda_##name(dpt__context *context, const void *args);
#include "cuda/kernels.def"
#include "cuda/libraries.def"
#undef DPT_KERNEL

#endif
