/* call.c: operands of a layer call (the rules are in call.h). */
#include "nn/call.h"

#include "base/assert.h"

#include <string.h>

static int call_device(const dpt_tensor *t) { return t->storage_ ? t->storage_->device : 0; }

void dpt__call_present(dpt__call *call, const char *name, const dpt_tensor *t) {
  if (!call->status && !t)
    call->status = dpt__fail("%s: argument '%s' is missing, wanted a tensor", call->fn, name);
}

void dpt__call_begin(dpt__call *call, enum dpt__kernel kernel, const char *fn, const char *name,
                     const dpt_tensor *like) {
  call->fn = fn;
  call->like = name;
  call->n = call->status = call->fresh = call->made = call->by_rows = 0;
  dpt__launch_begin(&call->launch, fn);
  dpt__call_present(call, name, like);
  if (call->status) return;
  call->kind = like->kind_;
  call->type = dpt__type(like);
  call->param_kind = -1;
  call->device = call_device(like);
  if (!dpt__is_real(call->type))
    call->status = dpt__fail("%s: argument '%s' is a %s, wanted a tensor of real numbers", fn, name,
                             dpt__kind_name(like->kind_));
  else if (dpt__is_reduced(call->type))
    call->status = dpt__launch_type(fn, kernel, like, &call->type);
}

/* Returns a free slot for an operand; NULL if the call has failed. */
static dpt_tensor *call_take(dpt__call *call) {
  if (call->status) return NULL;
  dpt__assert(call->n < DPT__CALL_OPERANDS && !call->made);
  int i = call->n++;
  call->origin[i].back = NULL;
  call->origin[i].result = call->origin[i].fresh = call->origin[i].copied = 0;
  return &call->tensor[i];
}

static int call_check_kind(dpt__call *call, const char *name, const dpt_tensor *t, int kind) {
  if (t->kind_ == kind) return 0;
  if (kind != call->kind)
    return call->status = dpt__fail("%s: argument '%s' is a %s, wanted a %s", call->fn, name,
                                    dpt__kind_name(t->kind_), dpt__kind_name(kind));
  return call->status =
             dpt__fail("%s: argument '%s' is a %s, wanted a %s as argument '%s' is", call->fn, name,
                       dpt__kind_name(t->kind_), dpt__kind_name(kind), call->like);
}

static const void *const nothing;

void dpt__call_at(dpt__call *call, const dpt_tensor *t, void *field) {
  if (!field) return;
  memcpy(field, &nothing, sizeof nothing);
  if (!dpt__call_some(t)) return;
  int result = call->origin[t - call->tensor].result;
  dpt__launch_operand(&call->launch, result ? DPT__OUT : DPT__IN, t, field);
}

/* Returns true if a kernel can use t in place. */
static int call_fits(const dpt__call *call, const dpt_tensor *t, int type) {
  if (dpt__type(t) != type) return 0;
  return (call->by_rows && t->ndim_ && t->stride_[t->ndim_ - 1] == 1) || dpt__contiguous(t);
}

/* Makes slot a contiguous tensor of that type with t's sizes. Until it has its own memory, its
 * storage is t's. */
static void call_make_contiguous(dpt__call *call, dpt_tensor *slot, int type, const dpt_tensor *t) {
  *slot = (dpt_tensor){.kind_ = type | (call->kind & DPT_ON_DEVICE), .storage_ = t->storage_};
  memcpy(slot->size_, t->size_, sizeof t->size_);
  slot->ndim_ = t->ndim_;
  for (int64_t d = t->ndim_ - 1, stride = 1; d >= 0; stride *= t->size_[d--])
    slot->stride_[d] = stride;
  call->origin[call->n - 1].fresh = 1;
  call->fresh++;
}

static const dpt_tensor *call_take_dense(dpt__call *call, const dpt_tensor *t, int type,
                                         void *field) {
  dpt_tensor *slot = call_take(call);
  *slot = *t;
  if (!call_fits(call, t, type)) {
    call->origin[call->n - 1].from = *t;
    call->origin[call->n - 1].copied = 1;
    call_make_contiguous(call, slot, type, t);
  }
  dpt__call_at(call, slot, field);
  return slot;
}

const dpt_tensor *dpt__call_in_optional(dpt__call *call, const char *name, const dpt_tensor *t,
                                        void *field) {
  if (field) memcpy(field, &nothing, sizeof nothing);
  if (call->status || !t || call_check_kind(call, name, t, call->kind)) return NULL;
  return call_take_dense(call, t, call->type, field);
}

const dpt_tensor *dpt__call_in(dpt__call *call, const char *name, const dpt_tensor *t,
                               void *field) {
  dpt__call_present(call, name, t);
  return dpt__call_in_optional(call, name, t, field);
}

const dpt_tensor *dpt__call_index(dpt__call *call, const char *name, const dpt_tensor *t,
                                  void *field, int32_t *type) {
  dpt__call_present(call, name, t);
  if (call->status) return NULL;
  if (dpt__is_device(t->kind_) != dpt__is_device(call->kind)) {
    call->status = dpt__fail("%s: argument '%s' is a %s, but the other arguments are %ss", call->fn,
                             name, dpt__kind_name(t->kind_), dpt__kind_name(call->kind));
    return NULL;
  }
  *type = dpt__type(t);
  return call_take_dense(call, t, *type, field);
}

static dpt_tensor *call_take_result(dpt__call *call, dpt_tensor *r, int type, void *field) {
  dpt_tensor *slot = call_take(call);
  *slot = *r;
  call->origin[call->n - 1].result = 1;
  if (!call_fits(call, r, type)) {
    call->origin[call->n - 1].back = r;
    call_make_contiguous(call, slot, type, r);
  }
  dpt__call_at(call, slot, field);
  return slot;
}

static dpt_tensor *call_take_out(dpt__call *call, const char *name, dpt_tensor *r, int kind,
                                 int type, int ndim, const int64_t *size, void *field) {
  dpt__call_present(call, name, r);
  if (call->status || call_check_kind(call, name, r, kind)) return NULL;
  if ((call->status = dpt__result(r, ndim, size, call->device))) return NULL;
  return call_take_result(call, r, type, field);
}

dpt_tensor *dpt__call_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                          const int64_t *size, void *field) {
  return call_take_out(call, name, r, call->kind, call->type, ndim, size, field);
}

dpt_tensor *dpt__call_out_like(dpt__call *call, const char *name, dpt_tensor *r,
                               const dpt_tensor *like, void *field) {
  return call->status ? NULL : dpt__call_out(call, name, r, like->ndim_, like->size_, field);
}

dpt_tensor *dpt__call_out_side(dpt__call *call, int backward, dpt_tensor *r,
                               const dpt_tensor *operand, int ndim, const int64_t *insize,
                               const int64_t *outsize, void *in_field, void *out_field) {
  if (backward) dpt__call_same(call, "gradOutput", operand, ndim, outsize);
  dpt__call_at(call, operand, backward ? out_field : in_field);
  return backward ? dpt__call_out(call, "gradInput", r, ndim, insize, in_field)
                  : dpt__call_out(call, "output", r, ndim, outsize, out_field);
}

dpt_tensor *dpt__call_out_type(dpt__call *call, const char *name, dpt_tensor *r, int type, int ndim,
                               const int64_t *size, void *field) {
  return call_take_out(call, name, r, type | (call->kind & DPT_ON_DEVICE), type, ndim, size, field);
}

static dpt_tensor *call_take_update(dpt__call *call, const char *name, dpt_tensor *r, int kind,
                                    int type, void *field) {
  if (field) memcpy(field, &nothing, sizeof nothing);
  if (call->status || !r || call_check_kind(call, name, r, kind)) return NULL;
  dpt_tensor *slot = call_take_result(call, r, type, field);
  call->origin[call->n - 1].from = *r;
  call->origin[call->n - 1].copied = call->origin[call->n - 1].fresh;
  return slot;
}

dpt_tensor *dpt__call_update_type(dpt__call *call, const char *name, dpt_tensor *r, int type,
                                  void *field) {
  dpt__call_present(call, name, r);
  return call_take_update(call, name, r, type | (call->kind & DPT_ON_DEVICE), type, field);
}

dpt_tensor *dpt__call_update_optional(dpt__call *call, const char *name, dpt_tensor *r,
                                      void *field) {
  return call_take_update(call, name, r, call->kind, call->type, field);
}

static int call_check_param(dpt__call *call, const char *name, const dpt_tensor *t) {
  int on_device = call->kind & DPT_ON_DEVICE, floats = dpt__compute_dtype(dpt__dtype(call->kind));
  if (call->status) return 1;
  if (call->param_kind < 0)
    call->param_kind = t->kind_ == (floats | on_device) ? t->kind_ : call->kind;
  return call_check_kind(call, name, t, call->param_kind);
}

int dpt__call_param_type(const dpt__call *call) {
  int own = call->param_kind >= 0 && dpt__is_reduced(call->type);
  return own ? dpt__dtype(call->param_kind) : call->type;
}

const dpt_tensor *dpt__call_param(dpt__call *call, const char *name, const dpt_tensor *t,
                                  void *field) {
  if (field) memcpy(field, &nothing, sizeof nothing);
  if (!t || call_check_param(call, name, t)) return NULL;
  return call_take_dense(call, t, dpt__call_param_type(call), field);
}

dpt_tensor *dpt__call_param_update(dpt__call *call, const char *name, dpt_tensor *r, void *field) {
  if (r && !call->status) (void)call_check_param(call, name, r);
  return call_take_update(call, name, r, call->param_kind, dpt__call_param_type(call), field);
}

dpt_tensor *dpt__call_param_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                                const int64_t *size, void *field) {
  if (r && !call->status) (void)call_check_param(call, name, r);
  return call_take_out(call, name, r, call->param_kind, dpt__call_param_type(call), ndim, size,
                       field);
}

dpt_tensor *dpt__call_update(dpt__call *call, const char *name, dpt_tensor *r, void *field) {
  dpt__call_present(call, name, r);
  return dpt__call_update_optional(call, name, r, field);
}

void dpt__call_count(dpt__call *call, const char *name, const dpt_tensor *t, int64_t count,
                     const char *of) {
  if (call->status || !t || dpt__count(t) == count) return;
  call->status = dpt__fail("%s: argument '%s' is a %s, wanted %lld elements, %s", call->fn, name,
                           dpt__describe(t), (long long)count, of);
}

void dpt__call_plane_param(dpt__call *call, const char *name, const dpt_tensor *t, int64_t C,
                           void *field) {
  const dpt_tensor *p = dpt__call_param(call, name, t, field);
  dpt__call_count(call, name, p, C, "one for each plane");
}

void dpt__call_plane_update(dpt__call *call, const char *name, dpt_tensor *r, int64_t C,
                            void *field) {
  const dpt_tensor *p = dpt__call_param_update(call, name, r, field);
  dpt__call_count(call, name, p, C, "one for each plane");
}

void dpt__call_check_count(dpt__call *call, const char *name, const dpt_tensor *t,
                           const dpt_tensor *x) {
  if (!call->status) dpt__call_count(call, name, t, dpt__count(x), "one for each element of input");
}

void dpt__call_wrong(dpt__call *call, const char *name, const dpt_tensor *t, const char *wanted) {
  if (!call->status) call->status = dpt__fail_argument(call->fn, name, t, wanted);
}

void dpt__call_dims(dpt__call *call, const char *name, const dpt_tensor *t, int least, int most,
                    const char *wanted) {
  if (!call->status && (t->ndim_ < least || t->ndim_ > most))
    dpt__call_wrong(call, name, t, wanted);
}

void dpt__call_planes(dpt__call *call, const dpt_tensor *t, int planes, int64_t *N, int64_t *C,
                      int64_t *S) {
  *N = *C = *S = 1;
  if (call->status) return;
  if (planes) *N = t->size_[0];
  *C = t->size_[planes];
  for (int d = planes + 1; d < t->ndim_; d++) *S *= t->size_[d];
}

void dpt__call_same(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    const int64_t *size) {
  if (call->status || !t) return;
  dpt_tensor want = {.kind_ = t->kind_, .ndim_ = ndim};
  memcpy(want.size_, size, (size_t)ndim * sizeof *size);
  if (dpt__same_size(t, &want)) return;
  call->status = dpt__fail("%s: argument '%s' is a %s, wanted size %s", call->fn, name,
                           dpt__describe(t), dpt__describe_size(&want));
}

/* Allocates all memory first, so that a call that runs out of memory has queued nothing. */
static int call_make(dpt__call *call) {
  int n = call->fresh ? call->n : 0, status = 0;
  call->made = 1;
  for (int i = 0; i < n; i++)
    if (call->origin[i].fresh) call->tensor[i].storage_ = NULL;
  for (int i = 0; i < n && !status; i++) {
    dpt_tensor *t = &call->tensor[i], sizes = *t;
    if (!call->origin[i].fresh) continue;
    t->ndim_ = 0;
    status = dpt__result(t, sizes.ndim_, sizes.size_, call->device);
  }
  for (int i = 0; i < n && !status; i++)
    if (call->origin[i].copied) status = dpt_copy(&call->tensor[i], &call->origin[i].from);
  return status;
}

void dpt__call_submit(dpt__call *call, enum dpt__kernel kernel, int32_t *type, const void *args,
                      size_t size) {
  if (call->status) return;
  *type = call->type;
  if (!call->made) call->status = dpt__launch_check(&call->launch, kernel) || call_make(call);
  if (call->status) return;
  dpt__assert(!dpt__is_reduced(call->type) ||
              call->launch.context.backend->reduced & DPT__BIT_OF(kernel));
  call->status = dpt__launch_kernel(&call->launch, kernel, args, size);
}

int dpt__call_end(dpt__call *call) {
  dpt__launch_end(&call->launch, 0);
  for (int i = 0; i < call->n && call->made && call->fresh; i++) {
    dpt_tensor *back = call->origin[i].back;
    if (!call->status && back) call->status = dpt_copy(back, &call->tensor[i]);
    if (call->origin[i].fresh) dpt_tensor_free(&call->tensor[i]);
  }
  return call->status;
}
