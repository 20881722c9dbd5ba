/* call.c: operands of a layer call (call.h has the rules). */
#include "nn/call.h"

#include "base/assert.h"
#include "tensor/walk.h"

#include <string.h>

static int device_of(const dpt_tensor *t) { return t->store_ ? t->store_->device : 0; }

void dpt__call_present(dpt__call *call, const char *name, const dpt_tensor *t) {
  if (!call->status && !t)
    call->status = dpt__fail("%s: argument '%s' is missing, wanted a tensor", call->fn, name);
}

void dpt__call_begin(dpt__call *call, const char *fn, const char *name, const dpt_tensor *like) {
  call->fn = fn;
  call->n = call->status = call->launched = 0;
  dpt__call_present(call, name, like);
  if (call->status) return;
  int type = dpt__type(like);
  call->kind = like->kind_;
  call->type = type == DPT_F16 ? DPT_F32 : type;
  call->device = device_of(like);
  if (type != DPT_F32 && type != DPT_F64 && !(type == DPT_F16 && dpt__is_device(like->kind_)))
    call->status = dpt__fail("%s: argument '%s' is a %s, wanted a tensor of floats or doubles", fn,
                             name, dpt__kind_name(like->kind_));
}

/* Takes a place for an operand; NULL if the call has failed. */
static dpt_tensor *take(dpt__call *call) {
  if (call->status) return NULL;
  dpt__assert(call->n < DPT__CALL_OPERANDS);
  dpt_tensor *t = &call->tensor[call->n];
  call->back[call->n] = NULL;
  call->result[call->n] = 0;
  call->owned[call->n++] = 0;
  return t;
}

static int check_kind(dpt__call *call, const char *name, const dpt_tensor *t, int kind) {
  if (t->kind_ == kind) return 0;
  return call->status = dpt__fail("%s: argument '%s' is a %s, wanted a %s", call->fn, name,
                                  dpt__kind_name(t->kind_), dpt__kind_name(kind));
}

/* Makes place a fresh contiguous tensor of the compute type with t's sizes, where t is. */
static int fresh(dpt__call *call, dpt_tensor *place, int type, const dpt_tensor *t) {
  memset(place, 0, sizeof *place);
  place->kind_ = type | (call->kind & DPT_ON_DEVICE);
  call->owned[call->n - 1] = 1;
  return call->status = dpt__result(place, t->ndim_, t->size_, device_of(t));
}

/* Whether two tensors have elements in common; dpt__overlap allows what is the same throughout. */
static int meet(const dpt_tensor *a, const dpt_tensor *b) {
  return dpt__overlap(a, b) || (a->store_ && a->store_ == b->store_ && a->first_ == b->first_ &&
                                dpt__count(a) && dpt__count(b));
}

/* Whether t lies in the memory of an operand that was taken before; of results, of the others. */
static int shares(const dpt__call *call, const dpt_tensor *t, int results) {
  for (int k = 0; k < call->n - 1; k++)
    if (call->result[k] == results && !call->owned[k] && meet(t, &call->tensor[k])) return 1;
  return 0;
}

static const dpt_tensor *take_dense(dpt__call *call, const dpt_tensor *t, int type) {
  dpt_tensor *place = take(call);
  if (dpt__type(t) == type && dpt__contiguous(t) && !shares(call, t, 1)) {
    *place = *t;
    return place;
  }
  if (fresh(call, place, type, t)) return NULL;
  call->status = dpt_copy(place, t);
  return call->status ? NULL : place;
}

const dpt_tensor *dpt__call_in_maybe(dpt__call *call, const char *name, const dpt_tensor *t) {
  if (call->status || !t || check_kind(call, name, t, call->kind)) return NULL;
  return take_dense(call, t, call->type);
}

const dpt_tensor *dpt__call_in(dpt__call *call, const char *name, const dpt_tensor *t) {
  dpt__call_present(call, name, t);
  return dpt__call_in_maybe(call, name, t);
}

const dpt_tensor *dpt__call_index(dpt__call *call, const char *name, const dpt_tensor *t) {
  dpt__call_present(call, name, t);
  if (call->status) return NULL;
  if (dpt__is_device(t->kind_) != dpt__is_device(call->kind)) {
    call->status = dpt__fail("%s: argument '%s' is a %s, but the others are %ss", call->fn, name,
                             dpt__kind_name(t->kind_), dpt__kind_name(call->kind));
    return NULL;
  }
  return take_dense(call, t, dpt__type(t) == DPT_F16 ? DPT_F32 : dpt__type(t));
}

static dpt_tensor *take_result(dpt__call *call, const char *name, dpt_tensor *r, int type) {
  dpt_tensor *place = take(call);
  call->result[call->n - 1] = 1;
  dpt__written(r);
  if (dpt__type(r) == type && dpt__contiguous(r)) {
    if (shares(call, r, 1)) {
      call->status =
          dpt__fail("%s: argument '%s' shares memory with another result", call->fn, name);
      return NULL;
    }
    if (!shares(call, r, 0)) {
      *place = *r;
      return place;
    }
  }
  call->back[call->n - 1] = r;
  return fresh(call, place, type, r) ? NULL : place;
}

static dpt_tensor *take_out(dpt__call *call, const char *name, dpt_tensor *r, int kind, int type,
                            int ndim, const int64_t *size) {
  dpt__call_present(call, name, r);
  if (call->status || check_kind(call, name, r, kind)) return NULL;
  if ((call->status = dpt__result(r, ndim, size, call->device))) return NULL;
  return take_result(call, name, r, type);
}

dpt_tensor *dpt__call_out(dpt__call *call, const char *name, dpt_tensor *r, int ndim,
                          const int64_t *size) {
  return take_out(call, name, r, call->kind, call->type, ndim, size);
}

dpt_tensor *dpt__call_out_type(dpt__call *call, const char *name, dpt_tensor *r, int type, int ndim,
                               const int64_t *size) {
  return take_out(call, name, r, type | (call->kind & DPT_ON_DEVICE), type, ndim, size);
}

static dpt_tensor *take_update(dpt__call *call, const char *name, dpt_tensor *r, int kind,
                               int type) {
  if (call->status || !r || check_kind(call, name, r, kind)) return NULL;
  dpt_tensor *place = take_result(call, name, r, type);
  if (place && call->back[call->n - 1]) call->status = dpt_copy(place, r);
  return call->status ? NULL : place;
}

dpt_tensor *dpt__call_update_type(dpt__call *call, const char *name, dpt_tensor *r, int type) {
  dpt__call_present(call, name, r);
  return take_update(call, name, r, type | (call->kind & DPT_ON_DEVICE), type);
}

dpt_tensor *dpt__call_update_maybe(dpt__call *call, const char *name, dpt_tensor *r) {
  return take_update(call, name, r, call->kind, call->type);
}

dpt_tensor *dpt__call_update(dpt__call *call, const char *name, dpt_tensor *r) {
  dpt__call_present(call, name, r);
  return dpt__call_update_maybe(call, name, r);
}

void dpt__call_count(dpt__call *call, const char *name, const dpt_tensor *t, int64_t count,
                     const char *of) {
  char text[DPT__TEXT];
  if (call->status || !t || dpt__count(t) == count) return;
  call->status = dpt__fail("%s: argument '%s' is a %s, wanted %lld elements, %s", call->fn, name,
                           dpt__describe(text, t), (long long)count, of);
}

void dpt__call_same(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    const int64_t *size) {
  char got[DPT__TEXT], wanted[DPT__TEXT];
  if (call->status || !t) return;
  dpt_tensor want = {.kind_ = t->kind_, .ndim_ = ndim};
  memcpy(want.size_, size, (size_t)ndim * sizeof *size);
  if (dpt__same_size(t, &want)) return;
  call->status = dpt__fail("%s: argument '%s' is a %s, wanted size %s", call->fn, name,
                           dpt__describe(got, t), dpt__describe_size(wanted, &want));
}

void dpt__call_submit(dpt__call *call, enum dpt__kernel kernel, const void *args, size_t size) {
  if (call->status) return;
  const dpt_tensor *list[DPT__CALL_OPERANDS + 1] = {NULL}; /* take_result tells what is written */
  for (int i = 0; i < call->n; i++) list[i + 1] = &call->tensor[i];
  call->status = dpt__route(&call->route, call->fn, call->n + 1, list) ||
                 dpt__submit(&call->route, kernel, call->fn, args, size);
  call->launched = 1;
}

int dpt__call_end(dpt__call *call) {
  for (int i = 0; i < call->n; i++) {
    if (!call->status && call->back[i]) call->status = dpt_copy(call->back[i], &call->tensor[i]);
    if (call->owned[i]) dpt_tensor_free(&call->tensor[i]);
  }
  if (call->launched && call->status) dpt__retry_set(0);
  return call->status;
}
