/* launch.h: launches an operation: its operands, then one or more kernels on them.
 *
 *   struct dpt__scan_args args = {...};
 *   dpt__launch l;
 *   dpt__launch_begin(&l, "cumsum");
 *   dpt__launch_out(&l, r, &args.r);
 *   dpt__launch_in(&l, a, &args.a);
 *   return dpt__launch_run(&l, scan, &args);
 *
 * Invariant: the caller only lists operands. The first kernel then does the following, in this
 * order: operands that cannot be used are rejected; the arguments receive the operands' addresses,
 * which do not change any more; all memory is allocated, including the kernel's temporary memory;
 * storages record the streams that use and write them; streams are ordered; the kernel runs. So a
 * launch that is rejected has changed and queued nothing. A further kernel allocates its temporary
 * memory when it is launched.
 *
 * Operands are all in host memory, where the kernel runs at once, or on one device, whose current
 * stream runs it. If a script allows it (dpt_peer_kernels_set) they may be on several: the first
 * operand's device runs the kernel, after the current streams of the others, which wait for it in
 * turn.
 */
#ifndef DPT_DEVICE_LAUNCH_H
#define DPT_DEVICE_LAUNCH_H
#include "base/assert.h"
#include "device/backend.h"

enum { DPT__LAUNCH_OPERANDS = 24 };

/* Use of an operand by a kernel. IN: the kernel may read it after it has begun to write results, so
 * an operand that shares memory with a result is replaced by a copy. IN_PLACE: the kernel reads
 * each element before it writes a result there. Two results that share memory are rejected. */
enum dpt__use { DPT__IN, DPT__IN_PLACE, DPT__OUT };

typedef struct dpt__launch {
  dpt__context context; /* set by dpt__launch_check */
  int n, begun;
  int checked; /* 1 + the kernel that dpt__launch_check was called for; 0: not yet */
  int reads, results, fields, copies; /* numbers of operands: IN, OUT, with a field, copied */
  int across;                         /* 1: some operands are on other devices */
  struct {
    const dpt_tensor *t;
    void *field;       /* of the arguments: receives the address of the first element; or NULL */
    dpt_storage *copy; /* a copy that is read instead of t; or NULL */
    enum dpt__use use;
  } operand[DPT__LAUNCH_OPERANDS];
} dpt__launch;

/* fn names the operation in error messages: a literal. */
static inline void dpt__launch_begin(dpt__launch *l, const char *fn) {
  l->context.name = fn;
  l->n = l->checked = l->begun = l->reads = l->results = l->fields = l->copies = 0;
}

/* Adds an operand, NULL for none; field (a pointer's address, or NULL) is set before each
 * kernel. */
static inline void dpt__launch_operand(dpt__launch *l, enum dpt__use use, const dpt_tensor *t,
                                       void *field) {
  dpt__assert(l->n < DPT__LAUNCH_OPERANDS && !l->begun);
  l->operand[l->n].t = t;
  l->operand[l->n].field = field;
  l->operand[l->n].copy = NULL;
  l->operand[l->n++].use = use;
  l->reads += use == DPT__IN;
  l->results += use == DPT__OUT;
  l->fields += field != NULL;
}
#define dpt__launch_in(l, t, field) dpt__launch_operand((l), DPT__IN, (t), (field))
#define dpt__launch_in_place(l, t, field) dpt__launch_operand((l), DPT__IN_PLACE, (t), (field))
/* Adds a result. A kernel that updates a result reads it, too. */
#define dpt__launch_out(l, t, field) dpt__launch_operand((l), DPT__OUT, (t), (field))

/* Finds where the kernel would run, or fails with the reason: for callers that must know before
 * they resize results. */
int dpt__launch_check(dpt__launch *l, enum dpt__kernel kernel);
/* Sets *type to the element type in which a kernel takes operands like t: its own, or the one that
 * it computes in. */
int dpt__launch_type(const char *fn, enum dpt__kernel kernel, const dpt_tensor *t, int *type);
/* Returns true if the backend of t has the kernel. */
int dpt__launch_has(const char *fn, enum dpt__kernel kernel, const dpt_tensor *t);
/* Runs or queues a kernel on the operands. The first kernel of a launch does all of the steps
 * above. */
int dpt__launch_kernel(dpt__launch *l, enum dpt__kernel kernel, const void *args, size_t size);
/* Frees what the launch has allocated, and returns the status. */
int dpt__launch_free(dpt__launch *l, int status);
static inline int dpt__launch_end(dpt__launch *l, int status) {
  return l->copies ? dpt__launch_free(l, status) : status;
}

/* Runs the only kernel of a launch: `dpt__launch_run(&l, fill, &args)` with struct dpt__fill_args
 * args.
 */
#define dpt__launch_run(l, kernel, args)                                                           \
  dpt__launch_end((l), dpt__launch_kernel((l), DPT__KERNEL_##kernel,                               \
                                          (const struct dpt__##kernel##_args *){(args)},           \
                                          sizeof(struct dpt__##kernel##_args)))

/* Runs a kernel on host memory at once. Its arguments already hold the operands' addresses, the
 * operands overlap only as the kernel allows, and r is the tensor that it writes. For calls on few
 * elements, where a launch would take as long as the kernel.
 */
int dpt__launch_kernel_here(enum dpt__kernel kernel, const char *fn, const dpt_tensor *r,
                            const void *args);
#define dpt__launch_here(kernel, fn, r, args)                                                      \
  dpt__launch_kernel_here(DPT__KERNEL_##kernel, (fn), (r),                                         \
                          (const struct dpt__##kernel##_args *){(args)})

/* Launches on a stream a kernel that processes that many bytes. Its arguments hold addresses that
 * were passed to dpt__block_use. */
int dpt__launch_on(dpt__stream *stream, enum dpt__kernel kernel, const char *fn, int64_t bytes,
                   const void *args, size_t size);

/* Returns true if the memory ranges from first to last element of two tensors overlap. */
int dpt__share_memory(const dpt_tensor *a, const dpt_tensor *b);

#endif
