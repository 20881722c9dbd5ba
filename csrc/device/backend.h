/* backend.h: the interface between generic code and a backend.
 *
 * Invariant: no code above this file knows which backend it calls. A generic function checks its
 * operands, resolves shapes, fills a plain args struct and launches it (device/launch.h). The
 * backend decides whether the kernel runs now (host memory), later on a stream's thread (host
 * device) or on a GPU. Kernels never check arguments, never touch reference counts and never wait.
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

/* A value of a context's `measures`: request the least memory the kernel can work with, even if it
 * is slower. */
enum { DPT__MEASURES_LEAST = 2 };

/* Context that a kernel receives besides its arguments. */
typedef struct dpt__context {
  const dpt__backend *backend;
  dpt__stream *stream; /* NULL: host memory, on the caller's thread, at once */
  void *native_stream; /* the backend's own stream, if it has streams */
  int device;          /* from 1; 0: host memory */
  int threads;         /* the number of OpenMP threads that a kernel of this context may use */
  const char *name;    /* the operation's name: a literal */
  uint64_t number;     /* the number of the stream's item that runs */
  int64_t bytes;       /* bytes that a launched kernel processes; 0: unknown, or many */
  int awaited;         /* the thread that queues the kernel waits for it at once */
  int unit;            /* the backend's number of the device */
  int measures;        /* the kernel only requests temporary memory (or LEAST) */
  char *scratch;       /* temporary memory: `capacity` bytes, of which `used` are allocated */
  size_t used, capacity;
  dpt__block *block; /* while a kernel is launched: the block of its temporary memory */
} dpt__context;

/* Returns 0 or leaves an error message that does not name the operation: the code that runs the
 * kernel prepends the name. A stream keeps the error until the next wait. */
typedef int dpt__kernel_fn(dpt__context *context, const void *args);

struct dpt__backend {
  int abi;
  const char *name; /* "host", "cuda", "emulated" */
  dpt__kernel_fn *kernels[DPT__NKERNEL];
  /* A bit for each kernel that may request temporary memory. The thread that launches such a kernel
   * first runs it with a context that `measures` and has no queue; the kernel must then do nothing
   * else. */
  uint64_t asks;
  /* A bit for each layer kernel whose operands may have a reduced type (nn/call.h converts the
   * others' operands). */
  uint64_t reduced;
  /* A bit for each kernel that DPT_CUDA_NEW=1 enables. */
  uint64_t withheld;
#define DPT__BIT_OF(kernel) ((uint64_t)1 << (kernel))
#define DPT__BIT(name) DPT__BIT_OF(DPT__KERNEL_##name)
  /* NULL, or: called by the thread that launches such a kernel, before it does. Loads what the
   * kernel needs (a library); if it fails, the launch fails with its error message. */
  int (*prepare)(enum dpt__kernel kernel, const char *fn, const void *args);
  /* count: returns the number of devices of the machine, or fails with the reason why none can be
   * used. properties: returns the properties of one device (from 0); memory: its total bytes. */
  int (*count)(int *n);
  int (*properties)(int index, dpt_device_info *info, int64_t *memory);
  /* NULL on the host. versions: those of the runtime and of the driver, in CUDA's encoding.
   * memory_left: the bytes that the device could allocate now. */
  int (*versions)(int *runtime, int *driver);
  int (*memory_left)(int index, int64_t *bytes);
  /* NULL if all devices share one memory. Enables peer access (on 0: disables it): kernels and
   * copies of device `index` can access the memory of device `other`. *reached becomes 1 if the
   * access is enabled. */
  int (*peer)(int index, int other, int on, int *reached);
  /* Raw memory, 64-byte aligned; all backends share the caching allocator above. memory_alloc
   * returns 0 with *p == NULL if there is no more. */
  int (*memory_alloc)(int index, size_t bytes, void **p);
  void (*memory_free)(int index, void *p, size_t bytes);
  /* Page-locked host memory for all devices, allocated on device `index`, so that no other device
   * is initialized. Plain memory on backends without page-locking. */
  int (*pinned_alloc)(int index, size_t bytes, void **p);
  void (*pinned_free)(void *p, size_t bytes);
  /* The functions from here on are for backends whose kernels only issue work to a native stream,
   * which a device executes (a GPU); NULL if a kernel is done when it returns. enter is called
   * first by each stream's thread. None of the other functions changes the device of a thread that
   * has entered one. lost: 1 after an error that prevents the backend from doing more work.
   * stream_new: work of an urgent stream begins before that of others. event_record creates an
   * event if *event is NULL, and leaves it NULL if that fails; it may record an event again that
   * others waited for. */
  int (*enter)(int index);
  int (*lost)(void);
  int (*stream_new)(int index, int urgent, void **stream);
  int (*event_record)(int index, void *stream, void **event);
  int (*stream_wait_event)(void *stream, void *event);
  int (*event_query)(void *event, int *done);
  int (*event_synchronize)(void *event); /* the caller waits, and sleeps if it takes long */
  /* NULL: no timers. timer_record: like event_record, for an event with a timestamp, which
   * event_synchronize accepts too. timer_elapsed: the nanoseconds between two such events, both
   * done. */
  int (*timer_record)(int index, void *stream, void **event);
  int (*timer_elapsed)(void *from, void *to, double *nanoseconds);
  /* Returns 1 with an error message, once, if a kernel of the stream has found an error; *number,
   * *name: of the item that it was launched for. */
  int (*stream_fault)(void *stream, uint64_t *number, const char **name);
  const dpt__collectives *collectives; /* NULL: none */
  /* NULL if recurrent networks are computed with weights in dpt's layout (rnn/layout.h). */
  const struct dpt__rnn_library *rnn;
  /* NULL if graphs are not supported. Between begin and end, work issued to the stream is recorded;
   * launch issues all recorded work. */
  int (*capture_begin)(void *stream);
  int (*capture_end)(void *stream, void **graph);
  int (*graph_launch)(void *stream, void *graph);
  void (*graph_free)(void *graph);
};

#define DPT__BACKEND_ABI 19

extern const dpt__backend dpt__host; /* csrc/host/backend.c */

/* Returns temporary memory of the running kernel, uninitialized, valid until the kernel returns. A
 * second call returns additional memory; a kernel that restores an earlier value of `used` frees
 * what it allocated since. If the context measures, the address must not be accessed. The requests
 * must depend only on the kernel's arguments and context, so that it requests no more when it runs.
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
