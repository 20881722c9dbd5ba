/* copy.c: the transport that copies: every backend has it, every other one must agree with it.
 *
 * What must stay true: a copy runs on the current stream of the device that receives; before it
 * that stream waits for the sender's, afterwards the sender's waits for it, all by events. Events
 * of a sender are recorded before anything waits for a receiver, so that the receivers of a
 * broadcast work at once. A sum goes through buffers of CHUNK bytes for each source on the device
 * that sums, small enough to stay in a core's cache.
 */
#include "device/copy.h"
#include "comm/comm.h"
#include "device/device.h"

enum { CHUNK = 1 << 18 };

static int available(void) { return 0; }

/* How many of the tensors from k on follow each other in memory on both sides. */
static int64_t run_length(int64_t k, int64_t n, const dpt_tensor *const *a,
                          const dpt_tensor *const *b) {
  int64_t last = k + 1;
  for (; last < n; last++)
    for (int side = 0; side < 2; side++) {
      const dpt_tensor *before = (side ? b : a)[last - 1], *next = (side ? b : a)[last];
      if (next->store_ != before->store_ || next->first_ != before->first_ + dpt__count(before))
        return last - k;
    }
  return last - k;
}

static int64_t count_run(int64_t length, const dpt_tensor *const *t) {
  int64_t count = 0;
  for (int64_t k = 0; k < length; k++) count += dpt__count(t[k]);
  return count;
}

static int broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                     dpt_tensor *const *out) {
  dpt__stream *source = dpt__current_stream(src[0]->store_->device);
  DPT__TRY(dpt__stream_order(source));
  dpt__event ready = dpt__event_record(source);
  for (int64_t c = 0; c < copies; c++) {
    const dpt_tensor *const *to = (const dpt_tensor *const *)out + c * n;
    dpt__stream *stream = dpt__current_stream(to[0]->store_->device);
    DPT__TRY(dpt__stream_wait(stream, ready));
    for (int64_t k = 0, length; k < n; k += length) {
      length = run_length(k, n, src, to);
      size_t bytes = (size_t)count_run(length, src + k) * dpt__dtype_size(dpt__type(src[k]));
      DPT__TRY(dpt__copy_on(stream, "broadcast", dpt__at(to[k]), to[k]->store_->block,
                            dpt__at(src[k]), src[k]->store_->block, bytes));
      dpt__written(to[k]);
    }
  }
  for (int64_t c = 0; c < copies; c++) {
    dpt__stream *stream = dpt__current_stream(out[c * n]->store_->device);
    DPT__TRY(dpt__stream_wait(source, dpt__event_record(stream)));
  }
  return 0;
}

/* One piece of a sum: `count` elements from out[k] + first on, of sources `from` to `to`. */
typedef struct piece {
  int64_t n, k, first, count;
  dpt_tensor *const *in;
  dpt_storage *buffer; /* a part of CHUNK bytes for each source; NULL: no source is elsewhere */
} piece;

static int sum_group(struct dpt__route *route, const piece *p, const dpt_tensor *out, int64_t from,
                     int64_t to, int add) {
  size_t size = dpt__dtype_size(dpt__type(out)), first = (size_t)p->first * size;
  struct dpt__comm_sum_args args = {.dst = (char *)dpt__at(out) + first,
                                    .count = p->count,
                                    .sources = (int32_t)(to - from),
                                    .dtype = dpt__type(out),
                                    .add = add};
  for (int64_t s = from; s < to; s++) {
    const dpt_tensor *t = p->in[s * p->n + p->k];
    const char *data = (const char *)dpt__at(t) + first;
    if (t->store_->device != out->store_->device) {
      char *part = (char *)p->buffer->data + (size_t)(s - from) * CHUNK;
      DPT__TRY(dpt__copy_on(route->context.stream, "reduceAdd", part, p->buffer->block, data,
                            t->store_->block, (size_t)p->count * size));
      data = part;
    } else {
      dpt__block_use(t->store_->block, route->context.stream);
    }
    args.source[s - from] = data;
  }
  return dpt__launch(route, comm_sum, "reduceAdd", &args);
}

static int sum_all(struct dpt__route *route, int64_t n, dpt_tensor *const *out, int64_t sources,
                   dpt_tensor *const *in, int add, dpt_storage *buffer) {
  for (int64_t k = 0; k < n; k++) {
    dpt__written(out[k]);
    int64_t most = CHUNK / (int64_t)dpt__dtype_size(dpt__type(out[k]));
    int64_t all = dpt__count(out[k]);
    for (int64_t first = 0; first < all; first += most) {
      piece p = {n, k, first, all - first < most ? all - first : most, in, buffer};
      for (int64_t s = 0; s < sources; s += DPT__SOURCES) {
        int64_t end = s + DPT__SOURCES < sources ? s + DPT__SOURCES : sources;
        DPT__TRY(sum_group(route, &p, out[k], s, end, add || s));
      }
    }
  }
  return 0;
}

static int reduce(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in,
                  int add) {
  int device = out[0]->store_->device;
  struct dpt__route route;
  DPT__TRY(dpt__route(&route, "reduceAdd", (int)n, (const dpt_tensor *const *)out));
  dpt__stream *stream = route.context.stream;
  int elsewhere = 0;
  for (int64_t s = 0; s < sources; s++) {
    if (in[s * n]->store_->device == device) continue;
    dpt__stream *source = dpt__current_stream(in[s * n]->store_->device);
    DPT__TRY(dpt__stream_order(source));
    DPT__TRY(dpt__stream_wait(stream, dpt__event_record(source)));
    elsewhere = 1;
  }
  dpt_storage *buffer = NULL;
  int64_t parts = sources < DPT__SOURCES ? sources : DPT__SOURCES;
  if (elsewhere)
    DPT__TRY(dpt__storage_new_on(&buffer, DPT_U8 | DPT_ON_DEVICE, parts * CHUNK, device));
  int status = sum_all(&route, n, out, sources, in, add, buffer);
  dpt_storage_release(buffer);
  for (int64_t s = 0; s < sources; s++)
    status |=
        dpt__stream_wait(dpt__current_stream(in[s * n]->store_->device), dpt__event_record(stream));
  return status;
}

const dpt__transport dpt__transport_copy = {"copy", available, broadcast, reduce};
