/* call.h: one call of a layer function: its operands as kernels want them.
 *
 * What must stay true: kernels of this room see contiguous float or double memory of one type;
 * operands that are not (views, halfs on a device) are copied before and, where they are results,
 * copied back after the kernel, all on the operands' stream. So is an operand that shares memory
 * with a result: kernels never write what they read under another name. Two results that share
 * memory are an error. The first failure makes every later
 * step of the call a no-op, so a layer function may take all its operands and test `status` once,
 * before it looks at a shape. dpt__call_end frees what the call made, whatever happened.
 */
#ifndef DPT_NN_CALL_H
#define DPT_NN_CALL_H
#include "tensor/tensor.h"

enum { DPT__CALL_OPERANDS = 12 };

typedef struct dpt__call {
  const char *fn;
  int status;
  int kind;   /* of the caller's tensors */
  int type;   /* what kernels compute in: DPT_F32 or DPT_F64 */
  int device; /* of the first operand */
  int n;
  dpt_tensor tensor[DPT__CALL_OPERANDS];
  dpt_tensor *back[DPT__CALL_OPERANDS]; /* result that tensor[i] is copied to, or NULL */
  char owned[DPT__CALL_OPERANDS], result[DPT__CALL_OPERANDS];
  int launched; /* a failure is not tried again */
  struct dpt__route route;
} dpt__call;

/* Begins a call of `fn` on tensors like `like` (called `name` in messages): float or double, or
 * half on a device. */
void dpt__call_begin(dpt__call *call, const char *fn, const char *name, const dpt_tensor *like);
/* An operand that is read; NULL after a failure. The second one may be missing: NULL for NULL. */
const dpt_tensor *dpt__call_in(dpt__call *call, const char *name, const dpt_tensor *t);
const dpt_tensor *dpt__call_in_maybe(dpt__call *call, const char *name, const dpt_tensor *t);
/* An operand of any element type on the same device: indices, targets. Halves become floats. */
const dpt_tensor *dpt__call_index(dpt__call *call, const char *name, const dpt_tensor *t);
/* A result that is overwritten, resized to ndim sizes. */
dpt_tensor *dpt__call_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                          const int64_t *size);
/* The same for a result of another element type; of 64-bit indices. */
dpt_tensor *dpt__call_out_type(dpt__call *call, const char *name, dpt_tensor *r, int type, int ndim,
                               const int64_t *size);
static inline dpt_tensor *dpt__call_out_index(dpt__call *call, const char *name, dpt_tensor *r,
                                              int ndim, const int64_t *size) {
  return dpt__call_out_type(call, name, r, DPT_I64, ndim, size);
}
/* A result that is added to or updated in place, as large as it is; the second may be missing. */
dpt_tensor *dpt__call_update(dpt__call *call, const char *name, dpt_tensor *r);
dpt_tensor *dpt__call_update_maybe(dpt__call *call, const char *name, dpt_tensor *r);
/* Such a result of another element type. */
dpt_tensor *dpt__call_update_type(dpt__call *call, const char *name, dpt_tensor *r, int type);
/* Fails the call where t, which gives sizes alone, is NULL. */
void dpt__call_present(dpt__call *call, const char *name, const dpt_tensor *t);
/* Fails the call unless t (an operand, may be NULL) has `count` elements; `of` says of what. */
void dpt__call_count(dpt__call *call, const char *name, const dpt_tensor *t, int64_t count,
                     const char *of);
/* Fails the call unless a has b's sizes. */
void dpt__call_same(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    const int64_t *size);
/* Launches a kernel on the operands taken so far, unless the call has failed. */
void dpt__call_submit(dpt__call *call, enum dpt__kernel kernel, const void *args, size_t size);
#define dpt__call_launch(call, kernel, args)                                                       \
  dpt__call_submit((call), DPT__KERNEL_##kernel, (const struct dpt__##kernel##_args *){(args)},    \
                   sizeof(struct dpt__##kernel##_args))
/* Copies results back, frees temporaries, returns the status. */
int dpt__call_end(dpt__call *call);

/* First element; NULL where there is none. */
static inline void *dpt__call_data(const dpt_tensor *t) {
  return t && dpt__count(t) ? dpt__at(t) : NULL;
}

#endif
