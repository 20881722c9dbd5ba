/* cuda.h: shared by the files of this folder: services of libdpt, queues, statuses, launches.
 *
 * Invariant: no status of a CUDA call is ignored. A launch goes through DPT_LAUNCH (a kernel whose
 * threads do not synchronize) or DPT_LAUNCH_COOPERATIVE, on the context's native stream, so that
 * the same text runs on a GPU and under the emulation (spec/emulation). Kernel functions of the
 * backend never wait, except while a convolution is benchmarked. A kernel that finds a bad value
 * records a fault in its stream, and the next wait reports it. If the context measures
 * (device/backend.h), a kernel function follows its usual path but launches nothing.
 */
#ifndef DPT_CUDA_CUDA_H
#define DPT_CUDA_CUDA_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern "C" {
#include "device/plugin.h"
}

extern const dpt__services *dpt__cuda_services;
#define dpt__cuda_fail(...) (dpt__cuda_services->fail(__VA_ARGS__))

/* Returns 0, or fails with a message that names the call. */
int dpt__cuda_status(cudaError_t error, const char *call);
#define DPT__CUDA(call)                                                                            \
  do {                                                                                             \
    if (dpt__cuda_status((call), #call)) return 1;                                                 \
  } while (0)

enum { DPT__MOST_GPUS = 256 };

/* Makes `index` the calling thread's device and notes that the process uses it. */
int dpt__cuda_enter(int index);
/* Moves a thread that is still on default device 0 to a device that the process uses. Called before
 * calls that work on any device, since CUDA may create a context on the thread's device. */
int dpt__cuda_settle(void);

/* Makes another device the thread's for the lifetime of this object. The destructor restores the
 * previous device, unless that was 0 by default and unused by the process: selecting it would
 * create a context on it. */
struct dpt__visit {
  int before;
  bool returns, failed;
  explicit dpt__visit(int index);
  ~dpt__visit() {
    if (returns && dpt__cuda_status(cudaSetDevice(before), "cudaSetDevice")) return;
  }
};

/* Fill in the backend's table: devices and memory (devices.cu), streams and events (stream.cu). */
void dpt__cuda_devices(dpt__backend *backend);
void dpt__cuda_streams(dpt__backend *backend);
extern const dpt__collectives dpt__cuda_collectives; /* nccl.cu */
extern const struct dpt__rnn_library dpt__cuda_rnn;  /* cudnn/rnn_plan.cu */

/* DPT_CHECK_LAUNCHES=1 makes every launch wait for its kernel, so that an error in the kernel is
 * raised with its name. dpt__cuda_launched is passed the launch's own status, since
 * cudaPeekAtLastError would also report errors that a library has left on this thread. */
bool dpt__cuda_checks_launches(void);
int dpt__cuda_launched(dpt__context *context, const char *kernel, cudaError_t status);
/* Fails with a message, once, if a kernel of the native stream has recorded a fault; *number is set
 * to its item's number. */
int dpt__cuda_stream_fault(void *native, uint64_t *number, const char **name);
/* Sets the bytes to 0, ordered in the context's stream. */
int dpt__cuda_clear(dpt__context *context, void *p, size_t bytes);
/* Measures the milliseconds that the native stream needs for the work that issue(data) queues, and
 * waits for it. */
int dpt__cuda_time(dpt__context *context, int (*issue)(void *data), void *data,
                   float *milliseconds);
/* Sets *passed to 1 if the event has completed. Leaves no error on this thread if it has not. */
int dpt__cuda_passed(cudaEvent_t event, int *passed);

/* Errors that a kernel can find: an integer divisor of 0; a `value` outside 1 to `limit`, as an
 * index into dimension `position`, or at element `position` of 'indices' or of classes 'target'; a
 * mask of `value` elements for a list of `limit`; a tensor that has changed since it was counted.
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

/* The first fault since the last one was raised, in page-locked memory that kernels can access. The
 * host reads it while kernels run, once `whole` is set. */
struct dpt__fault_record {
  int code;
  int whole;
  const char *name; /* the operation's name: a literal of libdpt */
  uint64_t number;  /* the number of the stream's item */
  long long value, position, limit;
  double read; /* `value` before its conversion */
};

/* The fault record of an item's kernels. */
struct dpt__kernel_fault {
  dpt__fault_record *record;
  uint64_t number;
};

/* Records a fault; if several threads of a launch report faults, one fault is kept. number: the
 * element that `value` was read from. */
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
  bool captures;        /* a graph is being recorded: waiting is not allowed */
  void *cublas, *cudnn; /* handles; NULL before their first use (cublas.h, cudnn/handle.h) */
};

static inline dpt__native_stream *dpt__native_stream_of(const dpt__context *context) {
  return (dpt__native_stream *)context->native_stream;
}
static inline dpt__kernel_fault dpt__fault_of(const dpt__context *context) {
  dpt__native_stream *queue = dpt__native_stream_of(context); /* NULL if the context measures */
  return {queue ? queue->fault : NULL, context->number};
}

/* `kernel` must be a name without commas: assign an instance of a template to a variable first.
 * DPT_UNROLL precedes a loop whose arrays must stay in registers, DPT_ROLLED one with so few
 * iterations that unrolled copies would do harm. */
#ifdef __CUDACC__
/* The type of a kernel's parameter, to which a launch converts its argument. */
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

/* The kernels of kernels.def that this folder implements, by their names there; libraries.def has
 * those that cuDNN computes, which the emulation leaves out. */
#define DPT_KERNEL(name, ...) int dpt__cuda_##name(dpt__context *context, const void *args);
#include "cuda/kernels.def"
#include "cuda/libraries.def"
#undef DPT_KERNEL

#endif
