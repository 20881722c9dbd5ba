/* call.h: one call of a layer function: prepares its operands for kernels.
 *
 * Invariant: kernels of this module see contiguous memory of one real type, or contiguous rows
 * (by_rows). Other views are copied before the kernel and, if they are results, copied back after
 * it, all on the operands' stream; reduced types are converted by the copies, to floats and back,
 * unless the backend's kernel takes them. Copies are made, and their memory is allocated, with the
 * first kernel, when all operands are known and checked; everything else is a launch
 * (device/launch.h). The first failure makes every later step of the call a no-op, so a layer
 * function may add all its operands and test `status` once, before it reads a shape. dpt__call_end
 * frees what the call allocated, in any case.
 */
#ifndef DPT_NN_CALL_H
#define DPT_NN_CALL_H
#include "device/launch.h"
#include "tensor/tensor.h"

enum { DPT__CALL_OPERANDS = 12 };

typedef struct dpt__call {
  const char *fn, *like; /* like: the name of the first operand, which determines the kind */
  int status;
  int kind;       /* the kind of the caller's tensors */
  int type;       /* the element type of the kernel's operands */
  int param_kind; /* the kind of the caller's parameters; -1: none yet */
  int device;     /* the device of the first operand */
  int by_rows;    /* views whose last stride is 1 are used in place; set after the beginning */
  int n;
  int fresh, made; /* number of operands with their own memory; true once it is allocated */
  dpt_tensor tensor[DPT__CALL_OPERANDS];
  struct {
    dpt_tensor from;  /* operand copied by tensor[i], unchanged even if a result is the same */
    dpt_tensor *back; /* result that tensor[i] is copied to, or NULL */
    char result;
    char fresh, copied; /* tensor[i] has its own memory; a copy of `from` */
  } origin[DPT__CALL_OPERANDS];
  dpt__launch launch;
} dpt__call;

/* Begins a call of `fn`, a literal, on tensors like `like` (called `name` in messages), of a real
 * type. kernel: the first one that the call launches. */
void dpt__call_begin(dpt__call *call, enum dpt__kernel kernel, const char *fn, const char *name,
                     const dpt_tensor *like);
/* Adds an operand that is read; returns NULL after a failure. dpt__call_in_optional accepts NULL,
 * too, and returns NULL for it. Here and below, field is a pointer among a kernel's arguments. When
 * the kernel is launched it is set to the address of the first element, or NULL if there is none.
 * field may be NULL if the kernel does not access the operand. */
const dpt_tensor *dpt__call_in(dpt__call *call, const char *name, const dpt_tensor *t, void *field);
const dpt_tensor *dpt__call_in_optional(dpt__call *call, const char *name, const dpt_tensor *t,
                                        void *field);
/* Add a parameter, or a gradient or statistic of parameters: an operand that is read, or updated in
 * place; NULL: none. Beside operands of a reduced type, it may be of floats; all parameters of a
 * call have one type. */
const dpt_tensor *dpt__call_param(dpt__call *call, const char *name, const dpt_tensor *t,
                                  void *field);
dpt_tensor *dpt__call_param_update(dpt__call *call, const char *name, dpt_tensor *r, void *field);
/* Add such an operand of C elements, one for each plane. */
void dpt__call_plane_param(dpt__call *call, const char *name, const dpt_tensor *t, int64_t C,
                           void *field);
void dpt__call_plane_update(dpt__call *call, const char *name, dpt_tensor *r, int64_t C,
                            void *field);
/* Adds such a result that is overwritten, resized to ndim sizes. */
dpt_tensor *dpt__call_param_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                                const int64_t *size, void *field);
/* Returns the element type of the kernel's parameters. */
int dpt__call_param_type(const dpt__call *call);
/* Adds an operand of any element type, on the same device, such as indices or targets; sets *type.
 */
const dpt_tensor *dpt__call_index(dpt__call *call, const char *name, const dpt_tensor *t,
                                  void *field, int32_t *type);
/* Adds a result that is overwritten, resized to ndim sizes. */
dpt_tensor *dpt__call_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                          const int64_t *size, void *field);
/* Adds a result that is overwritten, resized like `like`, an operand (NULL after a failure). */
dpt_tensor *dpt__call_out_like(dpt__call *call, const char *name, dpt_tensor *r,
                               const dpt_tensor *like, void *field);
/* Add a result of another element type, or of 64-bit indices. */
dpt_tensor *dpt__call_out_type(dpt__call *call, const char *name, dpt_tensor *r, int type, int ndim,
                               const int64_t *size, void *field);
static inline dpt_tensor *dpt__call_out_index(dpt__call *call, const char *name, dpt_tensor *r,
                                              int ndim, const int64_t *size, void *field) {
  return dpt__call_out_type(call, name, r, DPT_I64, ndim, size, field);
}
/* Adds a result that is updated in place and keeps its size; dpt__call_update_optional accepts
 * NULL, too. */
dpt_tensor *dpt__call_update(dpt__call *call, const char *name, dpt_tensor *r, void *field);
dpt_tensor *dpt__call_update_optional(dpt__call *call, const char *name, dpt_tensor *r,
                                      void *field);
/* Adds a result that is updated in place, of another element type. */
dpt_tensor *dpt__call_update_type(dpt__call *call, const char *name, dpt_tensor *r, int type,
                                  void *field);
/* Adds the operand and the result of a layer whose kernel works in both directions between `in` and
 * `out`: forward reads `in` and writes `out`, backward reads `out` and writes `in`. In backward the
 * operand's sizes are checked. */
dpt_tensor *dpt__call_out_side(dpt__call *call, int backward, dpt_tensor *r,
                               const dpt_tensor *operand, int ndim, const int64_t *insize,
                               const int64_t *outsize, void *in_field, void *out_field);
/* Fails the call if t is NULL; for arguments of which only the sizes are used. */
void dpt__call_present(dpt__call *call, const char *name, const dpt_tensor *t);
/* Fails the call unless t (an operand or NULL) has `count` elements; `of` describes the count in
 * the message. */
void dpt__call_count(dpt__call *call, const char *name, const dpt_tensor *t, int64_t count,
                     const char *of);
/* Fails the call unless the operands t and x have the same number of elements. */
void dpt__call_check_count(dpt__call *call, const char *name, const dpt_tensor *t,
                           const dpt_tensor *x);
/* Fails the call with a message about an argument, unless it has failed already. */
void dpt__call_wrong(dpt__call *call, const char *name, const dpt_tensor *t, const char *wanted);
/* Fails the call unless t has `least` to `most` dimensions. */
void dpt__call_dims(dpt__call *call, const char *name, const dpt_tensor *t, int least, int most,
                    const char *wanted);
/* Computes (N, C, S) of t, which has more than `planes` dimensions: C is the size of dimension
 * `planes`, 0 or 1. */
void dpt__call_planes(dpt__call *call, const dpt_tensor *t, int planes, int64_t *N, int64_t *C,
                      int64_t *S);
/* Fails the call unless t has the given sizes. */
void dpt__call_same(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    const int64_t *size);
/* Sets field, a pointer among a kernel's arguments, to the address of t's first element when the
 * kernel is launched, or to NULL if there is none; t is an operand of the call, or NULL. */
void dpt__call_at(dpt__call *call, const dpt_tensor *t, void *field);
/* Returns true if an operand has elements. */
static inline int dpt__call_some(const dpt_tensor *t) { return t && dpt__count(t) > 0; }

/* Launches a kernel on the operands that have fields, unless the call has failed; sets *type, in
 * its arguments, to the call's type. A further kernel takes the types that the first one takes. */
void dpt__call_submit(dpt__call *call, enum dpt__kernel kernel, int32_t *type, const void *args,
                      size_t size);
#define dpt__call_launch(call, kernel, args)                                                       \
  dpt__call_submit((call), DPT__KERNEL_##kernel, &(args)->type,                                    \
                   (const struct dpt__##kernel##_args *){(args)}, sizeof *(args))
/* Copies results back, frees temporaries, returns the status. */
int dpt__call_end(dpt__call *call);
/* Launches the last kernel if `some` is true, and ends the call. */
#define dpt__call_run(call, some, kernel, args)                                                    \
  ((some) ? dpt__call_launch(call, kernel, args) : (void)0, dpt__call_end(call))

#endif
