/* call.h: one call of a layer function: its operands as kernels want them.
 *
 * Invariant: kernels of this module see contiguous float or double memory of one type; operands
 * that are not (views, halfs on a device) are copied before and, if they are results, copied back
 * after the kernel, all on the operands' stream. That is done, and its memory taken, with the first
 * kernel, when all operands are known and checked; the rest is a launch (device/launch.h). The
 * first failure makes every later step of the call a no-op, so a layer function may take all its
 * operands and test `status` once, before it looks at a shape. dpt__call_end frees what the call
 * made, whatever happened.
 */
#ifndef DPT_NN_CALL_H
#define DPT_NN_CALL_H
#include "device/launch.h"
#include "tensor/tensor.h"

enum { DPT__CALL_OPERANDS = 12 };

typedef struct dpt__call {
  const char *fn, *like; /* like: the name of the first operand, whose kind counts */
  int status;
  int kind;   /* of the caller's tensors */
  int type;   /* what kernels compute in: DPT_F32 or DPT_F64 */
  int device; /* of the first operand */
  int n;
  int fresh, made; /* how many get memory of their own; whether they have it */
  dpt_tensor tensor[DPT__CALL_OPERANDS];
  struct {
    dpt_tensor from; /* that tensor[i] is a copy of, as it is even if a result is the same tensor */
    dpt_tensor *back; /* result that tensor[i] is copied to; NULL: to none */
    char result;
    char fresh, copied; /* tensor[i] gets memory of its own; and what `from` has */
  } origin[DPT__CALL_OPERANDS];
  dpt__launch launch;
} dpt__call;

/* Begins a call of `fn`, a literal, on tensors like `like` (called `name` in messages): float or
 * double, or half on a device. */
void dpt__call_begin(dpt__call *call, const char *fn, const char *name, const dpt_tensor *like);
/* An operand that is read; NULL after a failure. The second one may be missing: NULL for NULL. Here
 * and below: field, a pointer among a kernel's arguments, gets the address of the first element
 * when the kernel is launched, NULL if there is none; NULL: the kernel does not look at the
 * operand. */
const dpt_tensor *dpt__call_in(dpt__call *call, const char *name, const dpt_tensor *t, void *field);
const dpt_tensor *dpt__call_in_maybe(dpt__call *call, const char *name, const dpt_tensor *t,
                                     void *field);
/* An operand of any element type, stored in *type, on the same device: indices, targets. Halves
 * become floats. */
const dpt_tensor *dpt__call_index(dpt__call *call, const char *name, const dpt_tensor *t,
                                  void *field, int32_t *type);
/* A result that is overwritten, resized to ndim sizes. */
dpt_tensor *dpt__call_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                          const int64_t *size, void *field);
/* The same, resized to the sizes of `like`, an operand (NULL after a failure). */
dpt_tensor *dpt__call_out_like(dpt__call *call, const char *name, dpt_tensor *r,
                               const dpt_tensor *like, void *field);
/* The same for a result of another element type; of 64-bit indices. */
dpt_tensor *dpt__call_out_type(dpt__call *call, const char *name, dpt_tensor *r, int type, int ndim,
                               const int64_t *size, void *field);
static inline dpt_tensor *dpt__call_out_index(dpt__call *call, const char *name, dpt_tensor *r,
                                              int ndim, const int64_t *size, void *field) {
  return dpt__call_out_type(call, name, r, DPT_I64, ndim, size, field);
}
/* A result that is added to or updated in place, as large as it is; the second may be missing. */
dpt_tensor *dpt__call_update(dpt__call *call, const char *name, dpt_tensor *r, void *field);
dpt_tensor *dpt__call_update_maybe(dpt__call *call, const char *name, dpt_tensor *r, void *field);
/* Such a result of another element type. */
dpt_tensor *dpt__call_update_type(dpt__call *call, const char *name, dpt_tensor *r, int type,
                                  void *field);
/* The result of a layer whose kernel goes both ways between `in` and `out`: forward from the
 * operand `in` to the result `out`, backward from `out` to `in`. The operand's sizes are checked
 * backward. */
dpt_tensor *dpt__call_out_side(dpt__call *call, int backward, dpt_tensor *r,
                               const dpt_tensor *operand, int ndim, const int64_t *insize,
                               const int64_t *outsize, void *in_field, void *out_field);
/* Fails the call if t, of which only the sizes count, is NULL. */
void dpt__call_present(dpt__call *call, const char *name, const dpt_tensor *t);
/* Fails the call unless t (an operand, may be NULL) has `count` elements; `of` says of what. */
void dpt__call_count(dpt__call *call, const char *name, const dpt_tensor *t, int64_t count,
                     const char *of);
/* Fails the call unless t has as many elements as x, both operands. */
void dpt__call_alike(dpt__call *call, const char *name, const dpt_tensor *t, const dpt_tensor *x);
/* Fails the call: an argument is not what is wanted; unless it has failed already. */
void dpt__call_wrong(dpt__call *call, const char *name, const dpt_tensor *t, const char *wanted);
/* Fails the call unless t has so many dimensions. */
void dpt__call_dims(dpt__call *call, const char *name, const dpt_tensor *t, int least, int most,
                    const char *wanted);
/* t, of more than `planes` dimensions, as (N, C, S): C is the size of dimension `planes`, 0 or 1.
 */
void dpt__call_planes(dpt__call *call, const dpt_tensor *t, int planes, int64_t *N, int64_t *C,
                      int64_t *S);
/* Fails the call unless a has b's sizes. */
void dpt__call_same(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    const int64_t *size);
/* field, a pointer among a kernel's arguments, gets the address of t's first element when the
 * kernel is launched, NULL if there is none: t is an operand of the call, or NULL. */
void dpt__call_at(dpt__call *call, const dpt_tensor *t, void *field);
/* Whether an operand has elements. */
static inline int dpt__call_some(const dpt_tensor *t) { return t && dpt__count(t) > 0; }

/* Launches a kernel on the operands that have fields, unless the call has failed; *type, of its
 * arguments, becomes the call's. */
void dpt__call_submit(dpt__call *call, enum dpt__kernel kernel, int32_t *type, const void *args,
                      size_t size);
#define dpt__call_launch(call, kernel, args)                                                       \
  dpt__call_submit((call), DPT__KERNEL_##kernel, &(args)->type,                                    \
                   (const struct dpt__##kernel##_args *){(args)}, sizeof *(args))
/* Copies results back, frees temporaries, returns the status. */
int dpt__call_end(dpt__call *call);
/* Launches the last kernel if there is something to do, and ends the call. */
#define dpt__call_run(call, some, kernel, args)                                                    \
  ((some) ? dpt__call_launch(call, kernel, args) : (void)0, dpt__call_end(call))

#endif
