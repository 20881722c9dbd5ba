/* backend.h: the interface between generic code and a backend.
 *
 * Invariant: nothing above this file knows which backend it calls. A generic function checks its
 * operands, resolves shapes, fills a plain args struct and launches it (device/launch.h); whether
 * the kernel runs now (host memory), later on a stream's thread (host device) or on a GPU is the
 * backend's affair. Kernels never check arguments, never touch reference counts and never wait.
 */
#ifndef DPT_DEVICE_BACKEND_H
#define DPT_DEVICE_BACKEND_H
#include "base/assert.h"
#include "base/dtype.h"
#include "base/status.h"
#include "device/collectives.h"

enum dpt__kernel {
#define DPT_KERNEL(name, why) DPT__KERNEL_##name,
#include "device/kernels.def"
#undef DPT_KERNEL
  DPT__NKERNEL
};

typedef struct dpt__stream dpt__stream; /* device/stream.h */
typedef struct dpt__block dpt__block;   /* device/heap.h */
typedef struct dpt__backend dpt__backend;

/* For a context's `measures`: for as little as the kernel can do with, though it takes longer. */
enum { DPT__MEASURES_LEAST = 2 };

/* What a kernel gets beside its arguments. */
typedef struct dpt__context {
  const dpt__backend *backend;
  dpt__stream *stream; /* NULL: host memory, on the caller's thread, at once */
  void *native_stream; /* the backend's own, if it has streams */
  int device;          /* from 1; 0: host memory */
  int threads;         /* how many OpenMP threads a kernel of this context may use */
  const char *name;    /* of the operation: a literal */
  uint64_t number;     /* of the stream's item that runs */
  int64_t bytes;       /* that a launched kernel goes through; 0: not known, or much */
  int awaited;         /* who queues it waits for it at once */
  int unit;            /* the backend's number of the device */
  int measures;        /* the kernel is to do nothing but ask for temporary memory (or LEAST) */
  char *scratch;       /* that memory: `capacity` bytes, of which `used` were handed out */
  size_t used, capacity;
  dpt__block *block; /* while a kernel is launched: where that memory is */
} dpt__context;

/* Returns 0 or leaves an error message, which does not name the operation: who runs the kernel puts
 * that in front. A stream keeps it until the next wait. */
typedef int dpt__kernel_fn(dpt__context *context, const void *args);

struct dpt__backend {
  int abi;
  const char *name; /* "host", "cuda", "emulated" */
  dpt__kernel_fn *kernels[DPT__NKERNEL];
  /* A bit for each kernel: it may ask for temporary memory. The thread that launches it runs it
   * first with a context that `measures` and has no queue: it must do nothing else then. */
  uint64_t asks;
#define DPT__ASKS(name) ((uint64_t)1 << DPT__KERNEL_##name)
  /* NULL, or: the thread that launches a kernel which may ask calls this before, so that what the
   * kernel needs (a library) is there, or the launch fails with an error message. */
  int (*prepare)(enum dpt__kernel kernel, const char *fn, const void *args);
  /* How many devices the machine has (or an error message: why none can be used), and what one of
   * them (from 0) is; memory: bytes in all. */
  int (*count)(int *n);
  int (*properties)(int index, dpt_device_info *info, int64_t *memory);
  /* NULL on the host: versions of the runtime and of the driver, as CUDA writes them; bytes that
   * the device could give now. */
  int (*versions)(int *runtime, int *driver);
  int (*memory_left)(int index, int64_t *bytes);
  /* NULL if all memory is one: kernels and copies of device index reach the memory of another one
   * from now on, if *reached says so (on 0: not any more). */
  int (*peer)(int index, int other, int on, int *reached);
  /* Raw memory, 64-byte aligned; the caching allocator above is shared by all backends.
   * memory_alloc returns 0 with *p == NULL if there is no more. */
  int (*memory_alloc)(int index, size_t bytes, void **p);
  void (*memory_free)(int index, void *p, size_t bytes);
  /* Page-locked host memory for all devices, taken on device index, so that no other is touched
   * (plain memory where that means nothing). */
  int (*pinned_alloc)(int index, size_t bytes, void **p);
  void (*pinned_free)(void *p, size_t bytes);
  /* A backend whose kernels only issue work, to a native stream that a device works off (a GPU),
   * fills in the rest; NULL if a kernel's return is its end. event_record makes an event if *event
   * is NULL, which it stays if that fails, and may record one again that others waited for. Work of
   * an urgent stream begins before that of others. enter is called first by each stream's thread.
   * None of the others moves a thread that has entered a device. lost: 1 once an error was met
   * after which the backend does no more work. */
  int (*enter)(int index);
  int (*lost)(void);
  int (*stream_new)(int index, int urgent, void **stream);
  int (*event_record)(int index, void *stream, void **event);
  int (*stream_wait_event)(void *stream, void *event);
  int (*event_query)(void *event, int *done);
  int (*event_synchronize)(void *event); /* the caller waits, asleep if it takes long */
  /* Such an event with a time, or NULL; what begins and ends there, for event_synchronize, too; the
   * nanoseconds from one to another, both done. */
  int (*timer_record)(int index, void *stream, void **event);
  int (*timer_elapsed)(void *from, void *to, double *nanoseconds);
  /* 1 and an error message, once, if a kernel of the stream has found something wrong; *number,
   * *name: of the item that it was launched for. */
  int (*stream_fault)(void *stream, uint64_t *number, const char **name);
  const dpt__collectives *collectives; /* NULL: there are none */
  /* NULL if recurrent networks are computed with weights of our own layout (rnn/layout.h). */
  const struct dpt__rnn_library *rnn;
  /* NULL if there are no graphs. Between begin and end what is issued to the stream is recorded;
   * launch issues all of it. */
  int (*capture_begin)(void *stream);
  int (*capture_end)(void *stream, void **graph);
  int (*graph_launch)(void *stream, void *graph);
  void (*graph_free)(void *graph);
};

#define DPT__BACKEND_ABI 13

extern const dpt__backend dpt__host; /* csrc/host/backend.c */

/* Temporary memory of the running kernel, uninitialised, valid until it returns; a second call has
 * further memory, and what was taken since `used` had a value may be used again when it gets that
 * value back. A kernel whose context measures gets an address that must not be touched. What it
 * asks for goes by its arguments and its context alone, so that it asks for no more when it runs.
 */
enum { DPT__SCRATCH_ALIGN = 256 };
static inline void *dpt__scratch(dpt__context *context, size_t bytes) {
  size_t from = context->used;
  context->used += (bytes / DPT__SCRATCH_ALIGN + 1) * DPT__SCRATCH_ALIGN;
  if (context->measures && context->capacity < context->used) context->capacity = context->used;
  dpt__assert(context->used <= context->capacity);
  return context->scratch + from;
}

#endif
