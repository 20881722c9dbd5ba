/* collective.c: one operation of a group of ranks on tensors.
 *
 * Invariant: operations are items of one stream, whose thread calls the engine (the caller's thread
 * does if nothing is queued and the caller waits anyway). Each has a number in its group's order,
 * assigned under the lock under which it is queued, so operations run in the order of this
 * process's calls. An operation waits for the current stream of a device tensor, and that stream
 * waits for the operation; the host does not wait. Memory that the engine cannot read (a GPU's) is
 * left to the devices' library if the group has it (devices.c), and otherwise copied through
 * page-locked host memory. The library's work is enqueued on the native stream of the device's
 * communication stream, which events order with the native streams of the tensors. The stream of
 * ranks records that work as an operation, from the time when all earlier work there is done until
 * it has ended. Sums of reduced types are computed in float (for all ranks in compress.c); in
 * deterministic mode sums of floats are computed in double and in rank order.
 */
#include "distributed/collective.h"

#include "base/element.h"
#include "device/capture.h"
#include "device/copy.h"
#include "device/fault.h"
#include "device/storage.h"
#include "device/trace.h"
#include "distributed/compress.h"
#include "distributed/devices.h"
#include "distributed/groups.h"
#include "distributed/messages.h"
#include "distributed/watchdog.h"
#include "tensor/tensor.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERED = 1 << 15 }; /* elements summed at once in rank order */

enum { LINED_UP = 1, ISSUED };

/* The part of a job that the devices' library does. */
typedef struct issue {
  dpt__counter reached; /* LINED_UP, then ISSUED, also if issuing failed (status) */
  int status;
  dpt__event item; /* the item of the communication stream */
  dpt__ongoing ongoing;
} issue;

typedef struct job {
  dpt__operation operation; /* signature.count: elements of one rank's part */
  char *from, *to;
  dpt__ranks *group, *made;    /* made: the group that the operation makes, or NULL */
  int *number;                 /* receives that group's number */
  int32_t root, device, dtype; /* root: group rank; device: to join; dtype: in memory */
  issue *issue;                /* NULL: the engine does it */
  int32_t messages;            /* number of entries of `message`, which are queued with the job */
  dpt__message message[1];
} job;

static size_t collective_bytes(const job *j) {
  return offsetof(job, message) + (size_t)j->messages * sizeof *j->message;
}

/* ---- reductions ---- */

static void collective_divide(void *data, int dtype, int64_t count, int by) {
  switch (dtype) {
#define X(id, type, ...)                                                                           \
  case id:                                                                                         \
    for (int64_t i = 0; i < count; i++) ((type *)data)[i] /= (type)by;                             \
    break;
    DPT_REAL_DTYPES(X)
#undef X
  }
}

/* Sums on every rank: each gathers all elements and adds them in the same order. */
static int collective_sum_ordered(const dpt__ranks *g, void *data, int64_t count, int dtype) {
  size_t width = dpt__dtype_size(dtype);
  int64_t most = count < ORDERED ? count : ORDERED;
  char *parts = malloc((size_t)most * width * (size_t)g->n);
  if (!parts) return dpt__no_memory("no host memory for a sum in the order of ranks");
  int status = 0;
  for (int64_t begin = 0; begin < count && !status; begin += most) {
    int64_t n = count - begin < most ? count - begin : most;
    char *at = (char *)data + (size_t)begin * width;
    status = dpt__job_own.engine->all_gather(g->joined, at, parts, n * (int64_t)width);
    for (int64_t i = 0; i < n && !status; i++) {
      const char *x = parts + (size_t)i * width;
      double sum = dpt__get_element(dtype, x); /* not from 0, which would lose -0 */
      for (int r = 1; r < g->n; r++) sum += dpt__get_element(dtype, x + (size_t)(r * n) * width);
      dpt__put_element(dtype, at + (size_t)i * width, sum);
    }
  }
  free(parts);
  return status;
}

/* Reduces in place, on all ranks of the group (root < 0) or on one. */
static int collective_sum_up(const dpt__ranks *g, void *data, int64_t count, int dtype,
                             enum dpt__reduce_op how, int root, int ordered) {
  const dpt__engine *engine = dpt__job_own.engine;
  if (ordered && how == DPT__OP_SUM && dpt__is_real(dtype))
    return collective_sum_ordered(g, data, count, dtype);
  if (root < 0) return engine->all_reduce(g->joined, data, count, dtype, how);
  return engine->reduce(g->joined, data, count, dtype, how, root);
}

/* Reduces in place like collective_sum_up, and also supports the reduced types (computed in float)
 * and the mean. */
static int collective_reduce(const dpt__ranks *g, const job *j, void *data, int64_t count,
                             int root) {
  const dpt__signature *s = &j->operation.signature;
  if (root < 0 && dpt__is_compressed(s)) return dpt__compressed_all_reduce(g, s, data, count);
  int dtype = (int)s->dtype, mean = s->how == DPT_RANKS_MEAN, status;
  enum dpt__reduce_op how = mean ? DPT__OP_SUM : (enum dpt__reduce_op)s->how;
  void *wide = data;
  if (dpt__is_reduced(dtype)) {
    wide = malloc((size_t)count * sizeof(float) + 1);
    if (!wide) return dpt__no_memory("no host memory for a sum in float");
    dpt__reduced_widen(dtype, count, wide, data);
    dtype = DPT_F32;
  }
  status = collective_sum_up(g, wide, count, dtype, how, root, s->flags & DPT__IN_ORDER);
  if (mean && !status) collective_divide(wide, dtype, count, g->n);
  if (wide != data) {
    if (!status) dpt__reduced_narrow((int)s->dtype, count, data, wide);
    free(wide);
  }
  return status;
}

static int collective_reduce_scatter(const dpt__ranks *g, const job *j) {
  const dpt__signature *s = &j->operation.signature;
  size_t bytes = (size_t)s->count * dpt__dtype_size((int)s->dtype);
  if (!dpt__is_reduced((int)s->dtype) && s->how != DPT_RANKS_MEAN && !(s->flags & DPT__IN_ORDER))
    return dpt__job_own.engine->reduce_scatter(g->joined, j->from, j->to, s->count, (int)s->dtype,
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

/* Runs an operation of a group of one rank: nothing is sent. */
static int collective_run_single(const dpt__ranks *g, const job *j) {
  const dpt__signature *s = &j->operation.signature;
  int64_t bytes = s->count * (int64_t)dpt__dtype_size((int)s->dtype);
  if (s->wire) return dpt__compressed_all_reduce(g, s, j->to, s->count);
  if (j->from && j->to && j->from != j->to) memmove(j->to, j->from, (size_t)bytes);
  return 0;
}

/* Waits for issued work. If it could not be issued, the error is set on the stream that was to run
 * it. */
static int collective_perform_issued(const job *j) {
  dpt__counter_wait(&j->issue->reached, ISSUED);
  if (j->issue->status) return 1;
  if (j->messages) DPT__TRY(dpt__messages_run(j->group, j->messages, j->message));
  return dpt__communicator_await(j->group->devices, &j->issue->ongoing);
}

static int collective_perform(const job *j) {
  const dpt__engine *engine = dpt__job_own.engine;
  dpt__ranks *g = j->group;
  const dpt__signature *s = &j->operation.signature;
  if (j->issue) return collective_perform_issued(j);
  if (dpt__is_message(s)) return dpt__messages_run(g, j->messages, j->message);
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
  case DPT_RANKS_ALL_TO_ALL:
    return engine->all_to_all(g->joined, j->from, j->to, bytes);
  case DPT__RANKS_JOIN_DEVICES:
    return dpt__devices_join(g, j->device);
  default:
    return dpt__fail("unknown operation %u", s->what);
  }
}

static double collective_link_factor(uint32_t what, double n) {
  switch (what) {
#define DPT_COLLECTIVE(id, name, root, in, out, reduces, message, link, device)                    \
  case id:                                                                                         \
    return link;
#include "distributed/collectives.def"
  }
  return 0;
}

/* Returns the minimum duration on the simulated link of DPT_LINK; waiting for it uses no core. */
static int64_t collective_link_ns(const dpt__ranks *g, const dpt__signature *s) {
  int width = dpt__is_compressed(s) ? 2 : (int)dpt__dtype_size((int)s->dtype);
  return dpt__link_ns((uint64_t)((double)s->count * width * collective_link_factor(s->what, g->n)));
}

static uint64_t collective_chain_of(uint64_t chain, const dpt__signature *s) {
  uint64_t words[sizeof *s / 8];
  memcpy(words, s, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    chain = (chain ^ words[i]) * 0x9e3779b97f4a7c15u, chain ^= chain >> 32;
  return chain;
}

/* Records the operation and its channels; returns its number in the record. */
static uint64_t collective_begin(const job *j, dpt__operation *own) {
  dpt__ranks *g = j->group;
  dpt__record *record = dpt__job_own.record;
  uint64_t which = dpt__record_next(record);
  if (dpt__is_message(&own->signature)) {
    dpt__messages_advance(g, j->messages, j->message, which);
  } else {
    own->chain = g->chain = collective_chain_of(g->chain, &own->signature);
    dpt__record_set_channel(record, g->channel,
                            &(dpt__channel){g->hash, own->number, own->chain, which});
  }
  return dpt__record_begin(record, own);
}

static int collective_run(dpt__context *context, const void *args) {
  const job *j = args;
  dpt__job *w = &dpt__job_own;
  dpt__ranks *g = j->group;
  dpt__operation own = j->operation;
  uint64_t which = collective_begin(j, &own);
  int status = 0;
  if (g->n == 1) {
    status = j->made ? dpt__groups_make(j->made, j->number) : collective_run_single(g, j);
  } else {
    atomic_store(&w->pending, which);
    dpt__watch_compare(g, &own);
    int64_t start = dpt__now();
    status = j->made ? dpt__groups_make(j->made, j->number) : collective_perform(j);
    dpt__sleep(start + collective_link_ns(g, &own.signature) - dpt__now());
    if (status) dpt__watch_await_diagnosis();
    dpt__watch_compare(g, &own);
    atomic_store(&w->pending, 0);
  }
  dpt__record_end(w->record, which);
  return status;
}

/* ---- the items of operations of the devices' library ---- */

static int collective_issue(dpt__context *context, const job *j) {
  issue *i = j->issue;
  const dpt__ranks *g = j->group;
  const dpt__signature *s = &j->operation.signature;
  void *native = context->native_stream;
  i->item = dpt__event_running(context->stream);
  i->status = dpt__communicator_order_after(g->devices, native, &i->ongoing);
  dpt__counter_advance(&i->reached, LINED_UP);
  if (!i->status)
    i->status = dpt__is_message(s)
                    ? dpt__messages_begin(g, native, j->messages, j->message, &i->ongoing)
                    : dpt__devices_begin(g, native, s, j->dtype, j->from, j->to, &i->ongoing);
  int status = i->status;
  if (status) dpt__watch_await_diagnosis();
  dpt__counter_advance(&i->reached, ISSUED);
  return status;
}

/* Records the issued operation. An error is set on the communication stream's item and on this
 * one. */
static void collective_await_issued(dpt__context *context, const job *j) {
  issue *i = j->issue;
  dpt__counter_wait(&i->reached, LINED_UP);
  dpt__communicator_await_turn(j->group->devices, &i->ongoing);
  int failed = collective_run(context, j);
  dpt__event_run(i->item); /* it no longer uses the job, and its own error is set */
  if (failed && !i->status) dpt__stream_set_error(i->item.stream, context->name, i->item.number);
  if (failed) dpt__communicators_give_up();
  dpt__stream_inherit(context->stream, context->number, i->item);
}

/* Runs the item on either stream. Both items have the address of the job; the one of ranks frees
 * it. */
static int collective_run_issue(dpt__context *context, const void *args) {
  job *j = *(job *const *)args;
  if (context->stream != dpt__job_own.stream) return collective_issue(context, j);
  collective_await_issued(context, j);
  free(j->issue);
  free(j);
  return 0;
}

/* ---- checks ---- */

static int64_t collective_parts(const dpt__ranks *g, int parts, int root) {
  if (parts == DPT__ROOT_WHOLE) return g->rank == root ? g->n : 0;
  return parts == DPT__WHOLE ? g->n : parts == DPT__PART;
}

static int collective_check_tensor(const char *fn, const char *name, const dpt_tensor *t,
                                   int64_t parts) {
  if (!parts)
    return t ? dpt__fail("%s: argument '%s' is given, wanted none on this rank", fn, name) : 0;
  if (!t) return dpt__fail("%s: argument '%s' is missing, wanted a tensor", fn, name);
  if (!dpt__contiguous(t)) return dpt__fail("%s: argument '%s' is not contiguous", fn, name);
  if (dpt__count(t) % parts)
    return dpt__fail("%s: argument '%s' is a %s, wanted a part for each of %lld ranks", fn, name,
                     dpt__describe(t), (long long)parts);
  return 0;
}

/* Checks a tag. Tags are doubled for the engine (messages.c). */
static int collective_check_tag(const char *fn, int tag) {
  enum { MOST = (1 << 30) - 1 };
  if (tag >= 0 && tag <= MOST) return 0;
  return dpt__fail("%s: argument 'tag' is %d, wanted 0 to %d", fn, tag, MOST);
}

static int collective_check_rank(const char *fn, const dpt__ranks *g, int rank, int other) {
  if (rank < 0 || rank >= g->n)
    return dpt__fail("%s: got rank %d, wanted 0 to %d", fn, rank, g->n - 1);
  if (other && rank == g->rank) return dpt__fail("%s: rank %d is this one", fn, rank);
  return 0;
}

/* Returns a message of this rank, its data not yet set. */
static dpt__message collective_message(const dpt__ranks *g, int receives, const dpt_tensor *t,
                                       int peer, int tag) {
  return (dpt__message){.signature = {.what = receives ? DPT_RANKS_RECEIVE : DPT_RANKS_SEND,
                                      .dtype = (uint32_t)dpt__type(t),
                                      .root = (uint32_t)g->list[peer],
                                      .count = dpt__count(t)},
                        .peer = peer,
                        .tag = tag};
}

/* count: elements of one rank's part */
static dpt__signature collective_signature(const dpt_collective *c, const dpt__ranks *g, int dtype,
                                           int64_t count) {
  dpt__signature s = {.what = (uint32_t)c->what,
                      .dtype = (uint32_t)dtype,
                      .count = count,
                      .layout = c->layout,
                      .group = g->hash};
  const dpt__collective_kind *kind = dpt__kind_of(&s);
  int sums = kind->reduces && (c->how == DPT_RANKS_SUM || c->how == DPT_RANKS_MEAN);
  if (kind->reduces) s.how = (uint8_t)c->how;
  s.root = (uint32_t)c->root; /* without a root: a number equal on all ranks, or 0 */
  s.wire = (uint8_t)c->wire;
  if (!c->wire && sums && dpt__is_real(dtype) && dpt_deterministic_get()) s.flags = DPT__IN_ORDER;
  return s;
}

static int collective_check(const dpt_collective *c, const dpt_tensor *in, const dpt_tensor *out,
                            job *j) {
  const char *fn = dpt__collective_name((uint32_t)c->what);
  const dpt__ranks *g = j->group;
  const dpt__collective_kind *kind = dpt__kind_of(&(dpt__signature){.what = (uint32_t)c->what});
  int64_t ins = collective_parts(g, kind->in, c->root),
          outs = collective_parts(g, kind->out, c->root);
  if (g->rank < 0) return dpt__fail("%s: rank %d is not in the group", fn, dpt__job_own.rank);
  if (kind->has_root)
    DPT__TRY(collective_check_rank(fn, g, c->root, kind->is_message) ||
             collective_check_tag(fn, c->tag));
  DPT__TRY(collective_check_tensor(fn, "in", in, ins) ||
           collective_check_tensor(fn, "out", out, outs));
  if (in && out && (in->kind_ != out->kind_ || dpt__count(in) * outs != dpt__count(out) * ins))
    return dpt__fail("%s: got a %s as output for a %s of %d ranks", fn, dpt__describe(out),
                     dpt__describe(in), g->n);
  const dpt_tensor *t = in ? in : out;
  int dtype = t ? dpt__type(t) : DPT_U8;
  if (c->how == DPT_RANKS_MEAN && !dpt__is_real(dtype))
    return dpt__fail("%s: got a %s, wanted floats for a mean", fn, dpt__kind_name(t->kind_));
  if (c->wire && !dpt__is_reduced(c->wire))
    return dpt__fail("%s: got %d as the type to send, wanted one of 16-bit floats", fn, c->wire);
  if (c->wire && t && !dpt__is_real(dtype))
    return dpt__fail("%s: got a %s, wanted floats to send in 16 bits each", fn,
                     dpt__kind_name(t->kind_));
  j->root = c->root;
  j->dtype = dtype;
  snprintf(j->operation.name, sizeof j->operation.name, "%s", c->name ? c->name : "");
  if (kind->is_message) {
    j->messages = 1;
    j->message[0] = collective_message(g, !in, t, c->root, c->tag);
    j->operation.signature = j->message[0].signature;
    return 0;
  }
  int64_t count = in ? dpt__count(in) / ins : out ? dpt__count(out) / outs : 0;
  j->operation.signature = collective_signature(c, g, dtype, count);
  return 0;
}

/* ---- queueing ---- */

/* A tensor that an operation reads or writes. at: where its job stores the address. */
typedef struct part {
  dpt_tensor *given, *tensor; /* tensor: the one in use, `given` or `beside` */
  char **at;
  int loads, stores;
  dpt__stream *stream; /* the current stream of its device; NULL: host memory */
  dpt_storage *staged;
  dpt_tensor beside;
} part;

/* A job and its tensors. now: the caller waits until it is done. */
typedef struct call {
  job *job;
  int n, now;
  part *part;
  uint64_t *number;
} call;

/* Queues a job as an item of two streams: that of ranks and `other`, a device's. */
static int collective_push_issue(const job *j, dpt__stream *other) {
  dpt__stream *ranks = dpt__job_own.stream;
  const char *name = dpt__collective_name(j->operation.signature.what);
  job *own = malloc(collective_bytes(j));
  issue *i = calloc(1, sizeof *i);
  int status = own && i ? 0 : dpt__no_memory("%s: no host memory", name);
  if (!status) {
    dpt__counter_init(&i->reached);
    memcpy(own, j, collective_bytes(j));
    own->issue = i;
    int first = ranks->id < other->id;
    dpt__stream *streams[2] = {first ? ranks : other, first ? other : ranks};
    status = dpt__stream_push_all(2, streams, collective_run_issue, name, &own, sizeof own);
  }
  if (status) {
    free(own);
    free(i);
  }
  return status;
}

/* Runs the operation in the caller's thread if the caller waits and nothing is queued; queues it
 * otherwise. While tracing it is always queued, since a trace shows the work of streams. device:
 * the stream that issues the work of the devices' library, or NULL. */
static int collective_submit(job *j, dpt__stream *device, int now, uint64_t *number) {
  static dpt__mutex lock = DPT__MUTEX_INIT;
  dpt__job *w = &dpt__job_own;
  int status;
  dpt__lock(&lock);
  const dpt__signature *s = &j->operation.signature;
  uint64_t *issued = dpt__is_message(s) ? &w->messages : &j->group->issued;
  j->operation.number = ++*issued;
  if (now && !dpt__tracing() && dpt__event_known_done(dpt__event_last(w->stream))) {
    status = collective_run(NULL, j);
    *number = dpt__event_last(w->stream).number;
  } else {
    status = device ? collective_push_issue(j, device)
                    : dpt__stream_push(w->stream, collective_run, dpt__collective_name(s->what), j,
                                       collective_bytes(j));
    *number = dpt__event_last(w->stream).number;
    if (status) --*issued;
  }
  dpt__unlock(&lock);
  return status || (now && dpt_collective_wait(*number));
}

/* Returns 1 if part i is the first of its stream. */
static int collective_is_first(const call *c, int i) {
  for (int k = 0; k < i; k++)
    if (c->part[k].stream == c->part[i].stream) return 0;
  return c->part[i].stream != NULL;
}

/* Runs the operation in place: the engine reads and writes the memory of host devices directly. */
static int collective_run_in_place(call *c) {
  dpt__stream *ranks = dpt__job_own.stream;
  for (int i = 0; i < c->n; i++) {
    part *p = &c->part[i];
    dpt_storage *s = p->tensor->storage_;
    dpt__event last = {0};
    *p->at = dpt__at(p->tensor);
    if (s && s->block) DPT__TRY(dpt__block_use(s->block, ranks));
    if (s && p->stores) dpt__storage_written(s);
    if (!collective_is_first(c, i)) continue;
    if (c->now) DPT__TRY(dpt__event_record(p->stream, &last) || dpt__event_wait_keep_error(last));
    DPT__TRY(dpt__stream_wait_all(ranks, p->stream));
  }
  DPT__TRY(collective_submit(c->job, NULL, c->now, c->number));
  for (int i = 0; i < c->n; i++)
    if (collective_is_first(c, i)) DPT__TRY(dpt__stream_wait_all(c->part[i].stream, ranks));
  return 0;
}

/* Waits, in the stream's thread, for an event of a stream of another backend. */
static int collective_run_await(dpt__context *context, const void *args) {
  dpt__event event = *(const dpt__event *)args;
  int status = dpt__event_wait_keep_error(event);
  dpt__stream_inherit(context->stream, context->number, event);
  return status;
}

static int collective_await_all(dpt__stream *stream, dpt__stream *other) {
  dpt__event event;
  return dpt__event_record(other, &event) ||
         dpt__stream_push(stream, collective_run_await, "wait for ranks", &event, sizeof event);
}

/* Queues the operation after the streams of its tensors, which then wait for it. Memory freed
 * afterwards becomes available on their own streams. */
static int collective_run_between(call *c) {
  dpt__stream *ranks = dpt__job_own.stream;
  for (int i = 0; i < c->n; i++)
    if (collective_is_first(c, i)) DPT__TRY(collective_await_all(ranks, c->part[i].stream));
  DPT__TRY(collective_submit(c->job, NULL, 0, c->number));
  for (int i = 0; i < c->n; i++)
    if (collective_is_first(c, i)) DPT__TRY(collective_await_all(c->part[i].stream, ranks));
  return 0;
}

/* ---- through page-locked memory ---- */

/* Allocates page-locked memory for a tensor; both streams use it. */
static int collective_stage(part *p) {
  size_t bytes = (size_t)dpt__count(p->tensor) * dpt__dtype_size(dpt__type(p->tensor));
  DPT__TRY(dpt_storage_new_pinned(&p->staged, DPT_U8, (int64_t)bytes));
  dpt__block *block = p->staged->block;
  *p->at = p->staged->data;
  if (!block) return 0;
  return dpt__block_use(block, p->stream) || dpt__block_use(block, dpt__job_own.stream);
}

static int collective_copy_staged(const char *fn, part *p, int stores) {
  dpt_storage *own = p->tensor->storage_, *staged = p->staged;
  if (!staged->size) return 0;
  DPT__TRY(dpt__block_use(own->block, p->stream));
  if (!stores)
    return dpt__copy_on(p->stream, fn, staged->data, staged, dpt__at(p->tensor), own,
                        (size_t)staged->size);
  dpt__storage_written(own);
  return dpt__copy_on(p->stream, fn, dpt__at(p->tensor), own, staged->data, staged,
                      (size_t)staged->size);
}

/* Copies tensors that the CPU cannot read to page-locked memory and back. */
static int collective_run_staged(call *c) {
  const char *fn = dpt__collective_name(c->job->operation.signature.what);
  int status = 0;
  for (int i = 0; i < c->n && !status; i++)
    status = collective_stage(&c->part[i]) ||
             (c->part[i].loads && collective_copy_staged(fn, &c->part[i], 0));
  status = status || collective_run_between(c);
  for (int i = 0; i < c->n; i++) {
    part *p = &c->part[i];
    if (!status && p->stores) status = collective_copy_staged(fn, p, 1);
    if (p->staged) dpt_storage_release(p->staged);
  }
  return status;
}

/* ---- by the devices' own library ---- */

/* Runs the operation on tensors of the group's device. The device's communication stream waits for
 * their streams before it, and they wait for that stream after it. */
static int collective_run_on_device(call *c) {
  dpt__stream *device = dpt__communication_stream(c->job->group->device);
  if (!device) return 1;
  for (int i = 0; i < c->n; i++) {
    part *p = &c->part[i];
    dpt_storage *s = p->tensor->storage_;
    *p->at = dpt__at(p->tensor);
    c->job->dtype = dpt__type(p->tensor);
    if (s && s->block) DPT__TRY(dpt__block_use(s->block, device));
    if (s && p->stores) dpt__storage_written(s);
    if (collective_is_first(c, i)) DPT__TRY(dpt__stream_wait_all(device, p->stream));
  }
  DPT__TRY(collective_submit(c->job, device, 0, c->number));
  for (int i = 0; i < c->n; i++)
    if (collective_is_first(c, i)) DPT__TRY(dpt__stream_wait_all(c->part[i].stream, device));
  return 0;
}

/* Replaces a part's tensor by a contiguous one of that kind on the group's device. */
static int collective_stage_on_device(const dpt__ranks *g, part *p, int kind) {
  int before;
  DPT__TRY(dpt_device_get(&before) || dpt_device_set(g->device));
  int status = dpt_tensor_new(&p->beside, kind, p->tensor->ndim_, p->tensor->size_);
  DPT__TRY(dpt_device_set(before) || status);
  if (p->loads) DPT__TRY(dpt_copy(&p->beside, p->tensor));
  p->tensor = &p->beside;
  p->stream = dpt__current_stream(g->device);
  return 0;
}

/* Replaces a tensor by one on the group's device if it is on another device, is to be sent in
 * another type, or is of a reduced type and to be summed, which is done in float. */
static int collective_put(const dpt__ranks *g, const dpt__signature *s, part *p) {
  int kind = p->tensor->kind_;
  if (s->wire)
    kind = s->wire | DPT_ON_DEVICE;
  else if (dpt__kind_of(s)->reduces)
    kind = dpt__compute_dtype((int)s->dtype) | DPT_ON_DEVICE;
  if (!p->stream || (kind == p->tensor->kind_ && p->tensor->storage_->device == g->device))
    return 0;
  return collective_stage_on_device(g, p, kind);
}

static int collective_run_by_devices(call *c) {
  job *j = c->job;
  dpt__signature *s = &j->operation.signature;
  int status = 0;
  for (int i = 0; i < c->n && !status; i++) status = collective_put(j->group, s, &c->part[i]);
  s->flags |= DPT__ON_DEVICES;
  for (int i = 0; i < j->messages; i++)
    if (j->message[i].signature.count) j->message[i].signature.flags |= DPT__ON_DEVICES;
  status = status || collective_run_on_device(c);
  for (int i = 0; i < c->n; i++) {
    part *p = &c->part[i];
    if (!status && p->tensor != p->given && p->stores) status = dpt_copy(p->given, p->tensor);
    dpt_tensor_free(&p->beside);
  }
  return status;
}

static int collective_join_devices(dpt__ranks *g, int device) {
  static dpt__mutex joining = DPT__MUTEX_INIT;
  uint64_t number;
  int status = 0;
  if (atomic_load(&g->devices_queried)) return 0;
  job j = {.operation = {.signature = {.what = DPT__RANKS_JOIN_DEVICES, .group = g->hash}},
           .group = g,
           .device = device};
  dpt__lock(&joining);
  if (!atomic_load(&g->devices_queried)) status = collective_submit(&j, NULL, 1, &number);
  dpt__unlock(&joining);
  return status;
}

/* ---- calls ---- */

/* Returns the first part on a device that is not a host device, or NULL. */
static const part *collective_remote(const call *c) {
  for (int i = 0; i < c->n; i++)
    if (c->part[i].stream && c->part[i].stream->backend != &dpt__host) return &c->part[i];
  return NULL;
}

static int collective_start(call *c) {
  job *j = c->job;
  dpt__ranks *g = j->group;
  const dpt__signature *s = &j->operation.signature;
  for (int i = 0; i < c->n; i++) {
    const dpt_tensor *t = c->part[i].tensor = c->part[i].given;
    if (dpt__is_device(t->kind_) && t->storage_)
      c->part[i].stream = dpt__current_stream(t->storage_->device);
  }
  const part *remote = collective_remote(c);
  if (!remote) return collective_run_in_place(c);
  int may = remote->stream->backend->collectives && g->n > 1;
  if (may && !dpt__is_message(s)) {
    may = dpt__devices_take(s);
    if (may) DPT__TRY(collective_join_devices(g, remote->tensor->storage_->device));
  }
  return may && atomic_load(&g->devices_queried) && g->devices ? collective_run_by_devices(c)
                                                               : collective_run_staged(c);
}

int dpt__collective_run(const dpt_collective *call_, const dpt_tensor *in, dpt_tensor *out,
                        uint64_t *number) {
  const char *fn = dpt__collective_name((uint32_t)call_->what);
  job j = {.number = NULL};
  if (call_->what < 0 || call_->what > DPT_RANKS_ALL_TO_ALL || call_->what == DPT_RANKS_EXCHANGE)
    return dpt__fail("distributed: unknown operation %d", call_->what);
  DPT__TRY(dpt__job_group(fn, call_->group, &j.group) || collective_check(call_, in, out, &j) ||
           dpt__capture_rejects(fn, "other processes take part in it"));
  part parts[2];
  int n = 0, is_message = j.messages, on_device = 0;
  if (in)
    parts[n++] = (part){.given = (dpt_tensor *)(uintptr_t)in,
                        .at = is_message ? &j.message[0].data : &j.from,
                        .loads = 1};
  if (out)
    parts[n++] = (part){.given = out,
                        .at = is_message ? &j.message[0].data : &j.to,
                        .loads = !in && !is_message,
                        .stores = 1};
  for (int i = 0; i < n; i++) on_device |= dpt__is_device(parts[i].given->kind_);
  return collective_start(&(call){&j, n, !on_device || call_->now, parts, number});
}

/* ---- exchange ---- */

static int collective_add_message(job *j, part *p, int i, const dpt_transfer *m) {
  const char *fn = "exchange";
  dpt_tensor *t = m->tensor;
  char *name = j->operation.name;
  size_t used = strlen(name), room = sizeof j->operation.name;
  DPT__TRY(collective_check_rank(fn, j->group, m->rank, 1) || collective_check_tag(fn, m->tag) ||
           collective_check_tensor(fn, "tensor", t, 1));
  j->message[i] = collective_message(j->group, m->receives, t, m->rank, m->tag);
  *p = (part){.given = t, .at = &j->message[i].data, .loads = !m->receives, .stores = m->receives};
  snprintf(name + used, room - used, "%s%s rank %u", used ? ", " : "", m->receives ? "from" : "to",
           j->message[i].signature.root);
  if (!m->receives)
    j->operation.signature.count += dpt__count(t) * (int64_t)dpt__dtype_size(dpt__type(t));
  return 0;
}

/* Fails unless all tensors are on the host, or all on devices. */
static int collective_check_side(const part *parts, int n) {
  for (int i = 1; i < n; i++) {
    const dpt_tensor *a = parts[0].given, *b = parts[i].given;
    if (dpt__is_device(a->kind_) != dpt__is_device(b->kind_))
      return dpt__fail("exchange: got a %s and a %s, wanted tensors of the host or of devices",
                       dpt__kind_name(a->kind_), dpt__kind_name(b->kind_));
  }
  return 0;
}

int dpt__collective_exchange(int group, int n, const dpt_transfer *messages, const char *name,
                             uint64_t *number) {
  size_t some = (size_t)(n > 0 ? n : 0);
  job *j = calloc(1, sizeof *j + some * sizeof *j->message);
  part *parts = calloc(some + 1, sizeof *parts);
  int status = !j || !parts ? dpt__no_memory("exchange: no host memory for %d messages", n)
                            : dpt__job_group("exchange", group, &j->group);
  if (!status && j->group->rank < 0)
    status = dpt__fail("exchange: rank %d is not in the group", dpt__job_own.rank);
  if (!status) {
    j->messages = (int32_t)some;
    j->operation.signature = (dpt__signature){.what = DPT_RANKS_EXCHANGE, .root = (uint32_t)some};
  }
  for (int i = 0; i < n && !status; i++)
    status = collective_add_message(j, &parts[i], i, &messages[i]);
  if (!status && name) snprintf(j->operation.name, sizeof j->operation.name, "%s", name);
  status =
      status || collective_check_side(parts, n) ||
      dpt__capture_rejects("exchange", "other processes take part in it") ||
      collective_start(&(call){j, n, !n || !dpt__is_device(parts[0].given->kind_), parts, number});
  free(j);
  free(parts);
  return status;
}

static dpt__event event_of(uint64_t number) { return (dpt__event){dpt__job_own.stream, number}; }

int dpt_collective_done(uint64_t number) {
  return !dpt__job_own.stream || dpt__event_known_done(event_of(number));
}

int dpt_collective_wait(uint64_t number) {
  return dpt__job_own.stream ? dpt__event_wait(event_of(number)) : 0;
}

/* ---- groups and their devices ---- */

int dpt__collective_group(const char *fn, int n, const int *list, int *number) {
  dpt__ranks *world, *g;
  uint64_t hash = (uint64_t)n, which;
  DPT__TRY(dpt__job_group(fn, 0, &world) || dpt__group_new(fn, n, list, &g));
  for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)list[i]) * 1099511628211u;
  job j = {.operation = {.signature = {.what = DPT__RANKS_MAKE_GROUP,
                                       .dtype = DPT_I32,
                                       .root = (uint32_t)(hash ^ hash >> 32),
                                       .count = n,
                                       .group = world->hash}},
           .group = world,
           .made = g,
           .number = number};
  if (!collective_submit(&j, NULL, 1, &which)) return 0;
  dpt__group_free(g);
  return dpt__fail_in("%s", fn);
}

int dpt__collective_transport(int number, const char **transport, const char **why) {
  dpt__ranks *g;
  int device = 0, n;
  DPT__TRY(dpt__job_group("distributed.transport", number, &g));
  if (g->rank < 0)
    return dpt__fail("distributed.transport: rank %d is not in the group", dpt__job_own.rank);
  *transport = "none";
  *why = "there is one rank";
  if (g->n == 1) return 0;
  if (!dpt__devices_ready("distributed.transport") && (n = dpt__device_count()) > 0)
    DPT__TRY(dpt_device_get(&device));
  DPT__TRY(collective_join_devices(g, device));
  int is_host = device && dpt__device_at(device)->backend == &dpt__host;
  *transport = g->devices ? "nccl" : is_host ? "mpi" : device ? "page-locked" : "none";
  *why = g->why;
  return 0;
}
