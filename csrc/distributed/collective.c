/* collective.c: one operation of a group of ranks on a tensor.
 *
 * Invariant: operations are items of one stream, whose thread calls the engine; they have numbers
 * in their group's order, given under the lock in which they are queued, so that the order of this
 * process's calls is the order in which they run. The current stream of a device tensor is waited
 * for, and waits in turn; nothing waits on the host. Memory that the engine cannot read (a GPU's)
 * is left to the devices' library if the group has it (devices.c), and else goes through
 * page-locked host memory. Sums of halves are taken in float (for all ranks in narrow.c); in
 * deterministic mode sums of floats are taken wide and in the order of ranks.
 */
#include "base/half.h"
#include "device/capture.h"
#include "device/copy.h"
#include "device/fault.h"
#include "device/storage.h"
#include "device/trace.h"
#include "distributed/world.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERED = 1 << 15 }; /* elements that are added up at once in the order of ranks */

typedef struct job {
  dpt__operation operation; /* signature.count: of one rank's part, or of what all have */
  const char *from;
  char *to;
  int32_t group, root, tag, dtype; /* root: in the group; dtype: of the memory */
} job;

/* ---- reductions ---- */

static double collective_element(const void *data, int dtype, int64_t i) {
  return dtype == DPT_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void collective_divide(void *data, int dtype, int64_t count, int by) {
  float *f = data;
  double *d = data;
  if (dtype == DPT_F32)
    for (int64_t i = 0; i < count; i++) f[i] /= (float)by;
  else
    for (int64_t i = 0; i < count; i++) d[i] /= by;
}

/* Every rank gets all elements and adds them up as the others do. */
static int collective_sum_ordered(const dpt__ranks *g, void *data, int64_t count, int dtype) {
  size_t width = dpt__dtype_size(dtype);
  int64_t most = count < ORDERED ? count : ORDERED;
  char *parts = malloc((size_t)most * width * (size_t)g->n);
  if (!parts) return dpt__no_memory("no host memory for a sum in the order of ranks");
  int status = 0;
  for (int64_t begin = 0; begin < count && !status; begin += most) {
    int64_t n = count - begin < most ? count - begin : most;
    char *at = (char *)data + (size_t)begin * width;
    status = dpt__world_own.engine->all_gather(g->joined, at, parts, n * (int64_t)width);
    for (int64_t i = 0; i < n && !status; i++) {
      double sum = collective_element(parts, dtype, i); /* no 0 before it: -0 stays */
      for (int r = 1; r < g->n; r++) sum += collective_element(parts, dtype, r * n + i);
      if (dtype == DPT_F32)
        ((float *)at)[i] = (float)sum;
      else
        ((double *)at)[i] = sum;
    }
  }
  free(parts);
  return status;
}

/* In place, on every rank of the group, or (root) on one. */
static int collective_sum_up(const dpt__ranks *g, void *data, int64_t count, int dtype,
                             enum dpt__reduce_op how, int root, int ordered) {
  const dpt__engine *engine = dpt__world_own.engine;
  if (ordered && how == DPT__OP_SUM && dpt__is_real(dtype))
    return collective_sum_ordered(g, data, count, dtype);
  if (root < 0) return engine->all_reduce(g->joined, data, count, dtype, how);
  return engine->reduce(g->joined, data, count, dtype, how, root);
}

/* The same; halves as floats, and the mean. */
static int collective_reduce(const dpt__ranks *g, const job *j, void *data, int64_t count,
                             int root) {
  const dpt__signature *s = &j->operation.signature;
  if (root < 0 && dpt__narrow_takes(s)) return dpt__narrow_all_reduce(g, s, data, count);
  int dtype = (int)s->dtype, mean = s->how == DPT_RANKS_MEAN, status;
  enum dpt__reduce_op how = mean ? DPT__OP_SUM : (enum dpt__reduce_op)s->how;
  void *wide = data;
  if (dtype == DPT_F16) {
    wide = malloc((size_t)count * sizeof(float) + 1);
    if (!wide) return dpt__no_memory("no host memory for a sum of halves");
    for (int64_t i = 0; i < count; i++)
      ((float *)wide)[i] = dpt__half_to_float(((dpt__half *)data)[i]);
    dtype = DPT_F32;
  }
  status = collective_sum_up(g, wide, count, dtype, how, root, s->flags & DPT__IN_ORDER);
  if (mean && !status) collective_divide(wide, dtype, count, g->n);
  if (wide != data) {
    for (int64_t i = 0; i < count && !status; i++)
      ((dpt__half *)data)[i] = dpt__half_from_float(((float *)wide)[i]);
    free(wide);
  }
  return status;
}

static int collective_reduce_scatter(const dpt__ranks *g, const job *j) {
  const dpt__signature *s = &j->operation.signature;
  size_t bytes = (size_t)s->count * dpt__dtype_size((int)s->dtype);
  if (s->dtype != DPT_F16 && s->how != DPT_RANKS_MEAN && !(s->flags & DPT__IN_ORDER))
    return dpt__world_own.engine->reduce_scatter(g->joined, j->from, j->to, s->count, (int)s->dtype,
                                                 (enum dpt__reduce_op)s->how);
  char *whole = malloc(bytes * (size_t)g->n + 1);
  if (!whole) return dpt__no_memory("no host memory for a sum of all parts");
  memcpy(whole, j->from, bytes * (size_t)g->n);
  int status = collective_reduce(g, j, whole, s->count * g->n, -1);
  if (!status) memcpy(j->to, whole + bytes * (size_t)g->rank, bytes);
  free(whole);
  return status;
}

/* ---- the item ---- */

/* What is sent comes after its signature, which is to be that of the receive. */
static int collective_send(const dpt__ranks *g, const job *j, int64_t bytes) {
  const dpt__engine *engine = dpt__world_own.engine;
  dpt__signature own = j->operation.signature;
  return engine->send(g->joined, &own, sizeof own, j->root, j->tag) ||
         engine->send(g->joined, j->from, bytes, j->root, j->tag);
}

static int collective_receive(const dpt__ranks *g, const job *j, int64_t bytes) {
  const dpt__engine *engine = dpt__world_own.engine;
  const dpt__signature *own = &j->operation.signature;
  dpt__signature its;
  char a[160], b[160];
  DPT__TRY(engine->receive(g->joined, &its, sizeof its, j->root, j->tag));
  if (its.count != own->count || its.dtype != own->dtype)
    dpt__world_abort("rank %d calls %s, which calls %s", dpt__world_own.rank,
                     dpt__signature_text(a, own), dpt__signature_text(b, &its));
  return engine->receive(g->joined, j->to, bytes, j->root, j->tag);
}

/* A group of one rank: nothing travels. */
static int collective_alone(const dpt__ranks *g, const job *j) {
  const dpt__signature *s = &j->operation.signature;
  int64_t bytes = s->count * (int64_t)dpt__dtype_size((int)s->dtype);
  if (s->flags & (DPT__AS_HALVES | DPT__AS_BFLOAT16))
    return dpt__narrow_all_reduce(g, s, j->to, s->count);
  if (j->from && j->to && j->from != j->to) memmove(j->to, j->from, (size_t)bytes);
  return 0;
}

static int collective_perform(const job *j) {
  const dpt__engine *engine = dpt__world_own.engine;
  dpt__ranks *g = &dpt__world_own.group[j->group];
  const dpt__signature *s = &j->operation.signature;
  if (s->flags & DPT__ON_DEVICES) return dpt__devices_call(g, s, j->dtype, j->from, j->to);
  int64_t bytes = s->count * (int64_t)dpt__dtype_size((int)s->dtype);
  switch (s->what) {
  case DPT_RANKS_BARRIER:
    return engine->barrier(g->joined);
  case DPT_RANKS_ALL_REDUCE:
    return collective_reduce(g, j, j->to, s->count, -1);
  case DPT_RANKS_REDUCE:
    return collective_reduce(g, j, j->to, s->count, j->root);
  case DPT_RANKS_BROADCAST:
    return engine->broadcast(g->joined, j->to, bytes, j->root);
  case DPT_RANKS_ALL_GATHER:
    return engine->all_gather(g->joined, j->from, j->to, bytes);
  case DPT_RANKS_REDUCE_SCATTER:
    return collective_reduce_scatter(g, j);
  case DPT_RANKS_GATHER:
    return engine->gather(g->joined, j->from, j->to, bytes, j->root);
  case DPT_RANKS_SCATTER:
    return engine->scatter(g->joined, j->from, j->to, bytes, j->root);
  case DPT_RANKS_SEND:
    return collective_send(g, j, bytes);
  case DPT_RANKS_RECEIVE:
    return collective_receive(g, j, bytes);
  case DPT__RANKS_JOIN_DEVICES:
    return dpt__devices_join(g, j->tag);
  case DPT__RANKS_MAKE_GROUP:
    return engine->group((int)s->count, (const int *)j->from, (void **)j->to);
  default:
    return dpt__fail("there is no operation %u", s->what);
  }
}

/* The least that it takes on the link of DPT_LINK: the bytes that a ring lets each rank send, whose
 * waiting takes no core. */
static int64_t collective_link_ns(const dpt__ranks *g, const dpt__signature *s) {
  int width = dpt__narrow_takes(s) ? 2 : (int)dpt__dtype_size((int)s->dtype);
  double bytes = (double)s->count * width, n = g->n;
  if (s->what == DPT_RANKS_ALL_REDUCE) bytes *= 2 * (n - 1) / n;
  if (s->what == DPT_RANKS_ALL_GATHER || s->what == DPT_RANKS_REDUCE_SCATTER) bytes *= n - 1;
  return dpt__link_ns((uint64_t)bytes);
}

static uint64_t collective_chain_of(uint64_t chain, const dpt__signature *s) {
  uint64_t words[sizeof *s / 8];
  memcpy(words, s, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    chain = (chain ^ words[i]) * 0x9e3779b97f4a7c15u, chain ^= chain >> 32;
  return chain;
}

static int collective_run(dpt__context *context, const void *args) {
  const job *j = args;
  dpt__world *w = &dpt__world_own;
  dpt__ranks *g = &w->group[j->group];
  dpt__operation own = j->operation;
  if (!dpt__is_paired(&own.signature))
    own.chain = g->chain = collective_chain_of(g->chain, &own.signature);
  uint64_t which = dpt__record_begin(w->record, &own);
  int status = 0;
  if (g->n == 1) {
    status = collective_alone(g, j);
  } else {
    atomic_store(&w->pending, which);
    dpt__watch_compare(&own);
    int64_t start = dpt__now();
    status = collective_perform(j);
    dpt__sleep(start + collective_link_ns(g, &own.signature) - dpt__now());
    if (status) dpt__watch_let_explain();
    dpt__watch_compare(&own);
    atomic_store(&w->pending, 0);
  }
  dpt__record_end(w->record, which);
  return status;
}

/* ---- what a call needs ---- */

static int64_t collective_parts_of(const dpt__ranks *g, int what, int root, int is_in) {
  if (what == DPT_RANKS_ALL_GATHER) return is_in ? 1 : g->n;
  if (what == DPT_RANKS_REDUCE_SCATTER) return is_in ? g->n : 1;
  if (what == DPT_RANKS_GATHER) return is_in ? 1 : g->rank == root ? g->n : 0;
  if (what == DPT_RANKS_SCATTER) return is_in ? (g->rank == root ? g->n : 0) : 1;
  if (what == DPT_RANKS_SEND) return is_in;
  if (what == DPT_RANKS_BARRIER) return 0;
  return !is_in;
}

static int collective_check_tensor(const char *fn, const char *name, const dpt_tensor *t,
                                   int64_t parts) {
  if (!parts) return t ? dpt__fail("%s: got '%s', which this rank does not have", fn, name) : 0;
  if (!t) return dpt__fail("%s: argument '%s' is missing, wanted a tensor", fn, name);
  if (!dpt__contiguous(t)) return dpt__fail("%s: argument '%s' is not contiguous", fn, name);
  if (dpt__count(t) % parts)
    return dpt__fail("%s: argument '%s' is a %s, wanted a part for each of %lld ranks", fn, name,
                     dpt__describe(t), (long long)parts);
  return 0;
}

static int collective_check(const dpt_collective *c, const dpt_tensor *in, const dpt_tensor *out,
                            job *j) {
  const char *fn = dpt__collective_name((uint32_t)c->what);
  const dpt__ranks *g = &dpt__world_own.group[c->group];
  int has_root = c->what != DPT_RANKS_ALL_REDUCE && c->what != DPT_RANKS_ALL_GATHER &&
                 c->what != DPT_RANKS_BARRIER && c->what != DPT_RANKS_REDUCE_SCATTER;
  if (g->rank < 0) return dpt__fail("%s: rank %d is not in the group", fn, dpt__world_own.rank);
  if (has_root && (c->root < 0 || c->root >= g->n))
    return dpt__fail("%s: got rank %d, wanted 0 to %d", fn, c->root, g->n - 1);
  if ((c->what == DPT_RANKS_SEND || c->what == DPT_RANKS_RECEIVE) && c->root == g->rank)
    return dpt__fail("%s: rank %d is this one", fn, c->root);
  int64_t ins = collective_parts_of(g, c->what, c->root, 1),
          outs = collective_parts_of(g, c->what, c->root, 0);
  DPT__TRY(collective_check_tensor(fn, "in", in, ins) ||
           collective_check_tensor(fn, "out", out, outs));
  if (in && out && (in->kind_ != out->kind_ || dpt__count(in) * outs != dpt__count(out) * ins))
    return dpt__fail("%s: got a %s for a %s of %d ranks", fn, dpt__describe(out), dpt__describe(in),
                     g->n);
  const dpt_tensor *t = in ? in : out;
  int dtype = t ? dpt__type(t) : DPT_U8;
  if (c->how == DPT_RANKS_MEAN && !dpt__is_real(dtype))
    return dpt__fail("%s: got a %s, wanted floats for a mean", fn, dpt__kind_name(t->kind_));
  if (c->wire && t && !dpt__is_real(dtype))
    return dpt__fail("%s: got a %s, wanted floats to send in 16 bits each", fn,
                     dpt__kind_name(t->kind_));
  int reduces = c->what == DPT_RANKS_ALL_REDUCE || c->what == DPT_RANKS_REDUCE ||
                c->what == DPT_RANKS_REDUCE_SCATTER;
  int sums = c->how == DPT_RANKS_SUM || c->how == DPT_RANKS_MEAN;
  dpt__signature *s = &j->operation.signature;
  *s = (dpt__signature){.what = (uint32_t)c->what,
                        .how = reduces ? (uint16_t)c->how : 0,
                        .flags = c->wire == DPT_RANKS_HALVES     ? DPT__AS_HALVES
                                 : c->wire == DPT_RANKS_BFLOAT16 ? DPT__AS_BFLOAT16
                                 : reduces && sums && dpt__is_real(dtype) && dpt_deterministic_get()
                                     ? DPT__IN_ORDER
                                     : 0,
                        .dtype = (uint32_t)dtype,
                        .root = has_root ? (uint32_t)c->root : 0,
                        .count = !t   ? 0
                                 : in ? dpt__count(in) / ins
                                      : dpt__count(out) / outs,
                        .layout = c->layout,
                        .group = g->hash};
  if (dpt__is_paired(s)) {
    s->group = s->layout = 0;
    s->root = (uint32_t)g->list[c->root];
  }
  j->group = c->group;
  j->root = c->root;
  j->tag = c->tag;
  j->dtype = dtype;
  snprintf(j->operation.name, sizeof j->operation.name, "%s", c->name ? c->name : "");
  return 0;
}

/* ---- queueing ---- */

/* now: who calls waits anyway; so if nothing is queued, its thread calls the engine itself, but in
 * a trace, which has what streams run. */
static int collective_submit(job *j, int now, uint64_t *number) {
  static dpt__mutex lock = DPT__MUTEX_INIT;
  dpt__world *w = &dpt__world_own;
  int status;
  dpt__lock(&lock);
  const dpt__signature *s = &j->operation.signature;
  uint64_t *issued = dpt__is_paired(s) ? &w->paired : &w->group[j->group].issued;
  j->operation.number = ++*issued;
  if (now && !dpt__tracing() && dpt__event_over(dpt__event_last(w->stream))) {
    status = collective_run(NULL, j);
    *number = dpt__event_last(w->stream).number;
  } else {
    status =
        dpt__stream_push(w->stream, collective_run, dpt__collective_name(s->what), j, sizeof *j);
    *number = dpt__event_last(w->stream).number;
    if (status) --*issued;
  }
  dpt__unlock(&lock);
  return status || (now && dpt_collective_wait(*number));
}

/* The engine reads and writes a host device's memory where it is. */
static int collective_run_in_place(job *j, const dpt_tensor *in, const dpt_tensor *out,
                                   dpt__stream *stream, int now, uint64_t *number) {
  const dpt_tensor *both[] = {in, out};
  dpt__stream *ranks = dpt__world_own.stream;
  j->from = in ? dpt__at(in) : NULL;
  j->to = out ? dpt__at(out) : NULL;
  for (int i = 0; i < 2; i++) {
    dpt_storage *s = both[i] ? both[i]->storage_ : NULL;
    if (s && s->block) DPT__TRY(dpt__block_use(s->block, ranks));
    if (s && i) dpt__storage_written(s);
  }
  dpt__event last = {0};
  if (stream && now) DPT__TRY(dpt__event_record(stream, &last) || dpt__event_wait_quietly(last));
  if (stream) DPT__TRY(dpt__stream_wait_all(ranks, stream));
  DPT__TRY(collective_submit(j, now, number));
  return stream ? dpt__stream_wait_all(stream, ranks) : 0;
}

/* An item that waits for an event of a stream of another backend, as its thread. */
static int collective_run_await(dpt__context *context, const void *args) {
  dpt__event event = *(const dpt__event *)args;
  int status = dpt__event_wait_quietly(event);
  dpt__stream_inherit(context->stream, context->number, event);
  return status;
}

static int collective_await_all(dpt__stream *stream, dpt__stream *other) {
  dpt__event event;
  return dpt__event_record(other, &event) ||
         dpt__stream_push(stream, collective_run_await, "wait for ranks", &event, sizeof event);
}

/* Page-locked memory beside a tensor, which both streams use. */
static int collective_stage(const dpt_tensor *t, dpt__stream *stream, dpt_storage **staged) {
  size_t bytes = (size_t)dpt__count(t) * dpt__dtype_size(dpt__type(t));
  DPT__TRY(dpt_storage_new_pinned(staged, DPT_U8, (int64_t)bytes));
  dpt__block *block = (*staged)->block;
  if (!block) return 0;
  return dpt__block_use(block, stream) || dpt__block_use(block, dpt__world_own.stream);
}

static int collective_load(const char *fn, dpt__stream *stream, const dpt_tensor *t,
                           dpt_storage *staged) {
  if (!staged->size) return 0;
  DPT__TRY(dpt__block_use(t->storage_->block, stream));
  return dpt__copy_on(stream, fn, staged->data, staged, dpt__at(t), t->storage_,
                      (size_t)staged->size);
}

static int collective_store(const char *fn, dpt__stream *stream, const dpt_tensor *t,
                            dpt_storage *staged) {
  if (!staged->size) return 0;
  DPT__TRY(dpt__block_use(t->storage_->block, stream));
  dpt__storage_written(t->storage_);
  return dpt__copy_on(stream, fn, dpt__at(t), t->storage_, staged->data, staged,
                      (size_t)staged->size);
}

/* Memory that the CPU cannot read goes through page-locked memory. */
static int collective_run_staged(job *j, const dpt_tensor *in, const dpt_tensor *out,
                                 dpt__stream *stream, uint64_t *number) {
  const char *fn = dpt__collective_name(j->operation.signature.what);
  dpt_storage *from = NULL, *to = NULL;
  int status = (in && collective_stage(in, stream, &from)) ||
               (out && collective_stage(out, stream, &to)) ||
               (in && collective_load(fn, stream, in, from)) ||
               (out && !in && collective_load(fn, stream, out, to));
  j->from = from ? from->data : NULL;
  j->to = to ? to->data : NULL;
  status = status || collective_await_all(dpt__world_own.stream, stream) ||
           collective_submit(j, 0, number) || collective_await_all(stream, dpt__world_own.stream) ||
           (out && collective_store(fn, stream, out, to));
  if (from) dpt_storage_release(from);
  if (to) dpt_storage_release(to);
  return status;
}

/* ---- by the devices' own library ---- */

static int collective_use(const dpt_tensor *t, dpt__stream *stream) {
  dpt__block *block = t->storage_->block;
  return block ? dpt__block_use(block, stream) : 0;
}

/* Tensors of the group's device. Both streams wait: what is freed behind this is free on the
 * tensors' own. */
static int collective_run_on_device(job *j, const dpt_tensor *in, const dpt_tensor *out,
                                    uint64_t *number) {
  dpt__stream *ranks = dpt__world_own.stream,
              *stream = dpt__current_stream((in ? in : out)->storage_->device);
  j->from = in ? dpt__at(in) : NULL;
  j->to = out ? dpt__at(out) : NULL;
  j->dtype = dpt__type(in ? in : out);
  if (in) DPT__TRY(collective_use(in, stream));
  if (out) DPT__TRY(collective_use(out, stream));
  if (out) dpt__storage_written(out->storage_);
  return collective_await_all(ranks, stream) || collective_submit(j, 0, number) ||
         collective_await_all(stream, ranks);
}

/* A contiguous tensor of t's sizes on the group's device. */
static int collective_new_beside(const dpt__ranks *g, int kind, const dpt_tensor *t,
                                 dpt_tensor *beside) {
  int before;
  DPT__TRY(dpt_device_get(&before) || dpt_device_set(g->device));
  int status = dpt_tensor_new(beside, kind, t->ndim_, t->size_);
  return dpt_device_set(before) || status;
}

/* Tensors of another device, halves that are added up, and what travels as halves go through
 * others. */
static int collective_run_beside(job *j, int kind, const dpt_tensor *in, dpt_tensor *out,
                                 uint64_t *number) {
  const dpt__ranks *g = &dpt__world_own.group[j->group];
  dpt_tensor from = {0}, to = {0};
  int status = (in && collective_new_beside(g, kind, in, &from)) ||
               (out && collective_new_beside(g, kind, out, &to)) || (in && dpt_copy(&from, in)) ||
               (out && !in && dpt_copy(&to, out)) ||
               collective_run_on_device(j, in ? &from : NULL, out ? &to : NULL, number) ||
               (out && dpt_copy(out, &to));
  dpt_tensor_free(&from);
  dpt_tensor_free(&to);
  return status;
}

static int collective_run_by_devices(job *j, const dpt_tensor *in, dpt_tensor *out,
                                     uint64_t *number) {
  const dpt__ranks *g = &dpt__world_own.group[j->group];
  const dpt_tensor *t = in ? in : out;
  const dpt__signature *s = &j->operation.signature;
  int moves = s->what == DPT_RANKS_BROADCAST || s->what == DPT_RANKS_ALL_GATHER;
  int kind = t->kind_;
  if (s->flags & DPT__AS_HALVES)
    kind = DPT_F16 | DPT_ON_DEVICE;
  else if (!moves && s->dtype == DPT_F16)
    kind = DPT_F32 | DPT_ON_DEVICE;
  j->operation.signature.flags |= DPT__ON_DEVICES;
  if (kind != t->kind_ || t->storage_->device != g->device)
    return collective_run_beside(j, kind, in, out, number);
  return collective_run_on_device(j, in, out, number);
}

int dpt__collective_join_devices(int group, int device) {
  static dpt__mutex joining = DPT__MUTEX_INIT;
  dpt__ranks *g = &dpt__world_own.group[group];
  uint64_t number;
  int status = 0;
  if (atomic_load(&g->asked)) return 0;
  job j = {.operation = {.signature = {.what = DPT__RANKS_JOIN_DEVICES, .group = g->hash}},
           .group = group,
           .tag = device};
  dpt__lock(&joining);
  if (!atomic_load(&g->asked)) status = collective_submit(&j, 1, &number);
  dpt__unlock(&joining);
  return status;
}

int dpt_collective_run(const dpt_collective *call, const dpt_tensor *in, dpt_tensor *out,
                       uint64_t *number) {
  const char *fn = dpt__collective_name((uint32_t)call->what);
  const dpt_tensor *t = in ? in : out;
  job j = {.group = 0};
  DPT__TRY(dpt__world_ready(fn));
  if (call->group < 0 || call->group >= atomic_load(&dpt__world_own.ngroup))
    return dpt__fail("%s: there is no group %d", fn, call->group);
  DPT__TRY(collective_check(call, in, out, &j) ||
           dpt__capture_rejects(fn, "other processes take part in it"));
  if (!t || !dpt__is_device(t->kind_)) return collective_run_in_place(&j, in, out, NULL, 1, number);
  dpt__stream *stream = t->storage_ ? dpt__current_stream(t->storage_->device) : NULL;
  if (stream && stream->backend != &dpt__host) {
    const dpt__ranks *g = &dpt__world_own.group[call->group];
    int may = stream->backend->collectives && g->n > 1 && dpt__devices_take(&j.operation.signature);
    if (may) DPT__TRY(dpt__collective_join_devices(call->group, t->storage_->device));
    if (may && g->devices) return collective_run_by_devices(&j, in, out, number);
    return collective_run_staged(&j, in, out, stream, number);
  }
  return collective_run_in_place(&j, in, out, stream, call->now, number);
}

static dpt__event event_of(uint64_t number) { return (dpt__event){dpt__world_own.stream, number}; }

int dpt_collective_done(uint64_t number) {
  return !dpt__world_own.stream || dpt__event_over(event_of(number));
}

int dpt_collective_wait(uint64_t number) {
  return dpt__world_own.stream ? dpt__event_wait(event_of(number)) : 0;
}

int dpt__collective_group(int n, const int *list, uint64_t hash, void **joined) {
  uint64_t number;
  job j = {.operation = {.signature = {.what = DPT__RANKS_MAKE_GROUP,
                                       .dtype = DPT_I32,
                                       .root = (uint32_t)(hash ^ hash >> 32),
                                       .count = n,
                                       .group = dpt__world_own.group[0].hash}},
           .from = (const char *)list,
           .to = (char *)joined};
  return collective_submit(&j, 1, &number);
}
