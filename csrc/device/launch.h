/* launch.h: one operation's work: its operands, then a kernel (or several) on them.
 *
 *   struct dpt__scan_args args = {...};
 *   dpt__launch l;
 *   dpt__launch_begin(&l, "cumsum");
 *   dpt__launch_out(&l, r, &args.r);
 *   dpt__launch_in(&l, a, &args.a);
 *   return dpt__launch_run(&l, scan, &args);
 *
 * Invariant: who launches lists operands and says no more. With the first kernel, and in this
 * order: what can not be done is rejected; the arguments get the operands' addresses, which nothing
 * moves any more; all memory is taken, the kernel's temporary memory included; storages record who
 * uses and who writes them; streams are ordered; the kernel runs. So a launch that is rejected has
 * changed and queued nothing. A further kernel takes its temporary memory when its turn comes.
 *
 * Operands are all in host memory, where the kernel runs at once, or on one device, whose current
 * stream runs it; if a script allows it (dpt_peer_kernels_set) on several: the first one's works,
 * after the current streams of the others, which wait for it in turn.
 */
#ifndef DPT_DEVICE_LAUNCH_H
#define DPT_DEVICE_LAUNCH_H
#include "base/assert.h"
#include "device/backend.h"

enum { DPT__LAUNCH_OPERANDS = 24 };

/* What a kernel does with an operand. IN: it may read it after it began to write results, so an
 * operand that shares memory with a result is read from a fresh copy. IN_PLACE: it has read each
 * element before it writes a result there. Two results that share memory are rejected. */
enum dpt__use { DPT__IN, DPT__IN_PLACE, DPT__OUT };

typedef struct dpt__launch {
  dpt__context context; /* set by dpt__launch_check */
  int n, begun;
  int checked; /* 1 + the kernel that dpt__launch_check was asked for; 0: not yet */
  int reads, results, fields, copies; /* how many operands are IN, OUT, have a field or a copy */
  int across;                         /* operands lie on other devices as well */
  struct {
    const dpt_tensor *t;
    void *field;       /* of the arguments: gets the address of the first element; or NULL */
    dpt_storage *copy; /* that is read instead */
    enum dpt__use use;
  } operand[DPT__LAUNCH_OPERANDS];
} dpt__launch;

/* fn names the operation in error messages: a literal. */
static inline void dpt__launch_begin(dpt__launch *l, const char *fn) {
  l->context.name = fn;
  l->n = l->checked = l->begun = l->reads = l->results = l->fields = l->copies = 0;
}

/* An operand, NULL for none; field (a pointer's address, or NULL) is set before each kernel. */
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
/* A result; one that is updated is read by its kernel, too. */
#define dpt__launch_out(l, t, field) dpt__launch_operand((l), DPT__OUT, (t), (field))

/* Where the kernel would run, or why it can't: for who has to know before results are resized. */
int dpt__launch_check(dpt__launch *l, enum dpt__kernel kernel);
/* Runs or queues a kernel on the operands; with the first one all is done that is said above. */
int dpt__launch_kernel(dpt__launch *l, enum dpt__kernel kernel, const void *args, size_t size);
/* Frees what the launch has made, and passes the status on. */
int dpt__launch_free(dpt__launch *l, int status);
static inline int dpt__launch_end(dpt__launch *l, int status) {
  return l->copies ? dpt__launch_free(l, status) : status;
}

/* The one kernel of a launch: `dpt__launch_run(&l, fill, &args)` with struct dpt__fill_args args.
 */
#define dpt__launch_run(l, kernel, args)                                                           \
  dpt__launch_end((l), dpt__launch_kernel((l), DPT__KERNEL_##kernel,                               \
                                          (const struct dpt__##kernel##_args *){(args)},           \
                                          sizeof(struct dpt__##kernel##_args)))

/* A kernel on host memory whose arguments hold the operands' addresses and which overlap as it
 * allows; r is written. For calls on few elements, where a launch would take as long as the kernel.
 */
int dpt__launch_kernel_here(enum dpt__kernel kernel, const char *fn, const dpt_tensor *r,
                            const void *args);
#define dpt__launch_here(kernel, fn, r, args)                                                      \
  dpt__launch_kernel_here(DPT__KERNEL_##kernel, (fn), (r),                                         \
                          (const struct dpt__##kernel##_args *){(args)})

/* A launch on a stream, of a kernel whose arguments hold addresses that dpt__block_use knows of, of
 * so many bytes. */
int dpt__launch_on(dpt__stream *stream, enum dpt__kernel kernel, const char *fn, int64_t bytes,
                   const void *args, size_t size);

/* Whether elements of two tensors lie between each other's first and last one in memory. */
int dpt__share_memory(const dpt_tensor *a, const dpt_tensor *b);

#endif
