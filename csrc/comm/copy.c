/* copy.c: the transport that copies. Every backend has it, and its results are the reference for
 * the other transports.
 *
 * Invariant: a copy runs on the current stream of the device that receives. That stream waits for
 * the sender's before the copy, and the sender's waits for it after the copy, all by events. Events
 * of a sender are recorded before anything waits for a receiver, so that the receivers of a
 * broadcast work in parallel. (A broadcast tree was measured at 8 devices, with and without
 * DPT_LINK, and rejected, because all receivers read the sender's memory in parallel anyway.)
 */
#include "comm/comm.h"
#include "device/device.h"

enum { LINE = 64, LITTLE = 1 << 15 }; /* elements per cache line; bytes */

static int copy_available(void) { return 0; }

/* Copies `from` to `to`, at most `most` elements, on the receiver's current stream, after
 * `ready`. */
static int copy_receive(const char *fn, dpt__row to, dpt__row from, int64_t most,
                        dpt__event ready) {
  dpt__stream *stream = dpt__current_stream(dpt__row_device(&to));
  dpt__copies copies;
  DPT__TRY(dpt__stream_wait(stream, ready));
  dpt__copies_start(&copies, stream, fn);
  DPT__TRY(dpt__row_copy(to, from, most, &copies));
  DPT__TRY(dpt__copies_end(&copies));
  return 0;
}

static int copy_broadcast(dpt__row src, int64_t copies, const dpt__row *out) {
  dpt__stream *source = dpt__current_stream(dpt__row_device(&src));
  dpt__event event;
  DPT__TRY(dpt__event_record(source, &event));
  for (int64_t c = 0; c < copies; c++)
    DPT__TRY(copy_receive("broadcast", out[c], src, INT64_MAX, event));
  for (int64_t c = 0; c < copies; c++)
    DPT__TRY(dpt__stream_wait_all(source, dpt__current_stream(dpt__row_device(&out[c]))));
  return 0;
}

static int copy_ready_all(int64_t n, const dpt_tensor *const *t, dpt__event *ready) {
  for (int64_t i = 0; i < n; i++)
    DPT__TRY(dpt__event_record(dpt__current_stream(t[i]->storage_->device), &ready[i]));
  return 0;
}

/* Copies part s from in[s], from element from[s] on, to elements first[s] to first[s + 1] - 1 of
 * every out. */
static int copy_spread(const char *fn, int64_t n, dpt_tensor *const *out,
                       const dpt_tensor *const *in, const int64_t *from, const int64_t *first) {
  dpt__event ready[DPT__MAX_DEVICES];
  DPT__TRY(copy_ready_all(n, in, ready));
  for (int64_t i = 0; i < n; i++)
    for (int64_t turn = 0; turn < n; turn++) {
      int64_t s = (i + turn) % n; /* not all from one device at once */
      const dpt_tensor *to = out[i];
      dpt__row source = {1, &in[s], from[s]}, result = {1, &to, first[s]};
      if (dpt__at(to) == dpt__at(in[s]) && from[s] == first[s]) continue;
      DPT__TRY(copy_receive(fn, result, source, first[s + 1] - first[s], ready[s]));
    }
  DPT__TRY(copy_ready_all(n, in, ready));
  for (int64_t i = 0; i < n; i++)
    for (int64_t s = 0; s < n; s++)
      DPT__TRY(dpt__stream_wait(dpt__current_stream(in[i]->storage_->device), ready[s]));
  return 0;
}

static int copy_reduce(dpt__row out, int64_t sources, const dpt__row *in) {
  return dpt__sum_rows("reduceAdd", out, sources, in);
}

static int copy_all_gather(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                           const int64_t *first) {
  static const int64_t from[DPT__MAX_DEVICES];
  return copy_spread("allGather", n, out, in, from, first);
}

static int copy_reduce_scatter(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                               const int64_t *first) {
  static const int64_t to[DPT__MAX_DEVICES];
  return dpt__sum_parts("reduceScatter", n, out, to, in, first);
}

/* Sums on the first device, then copies to the others: fewer items to queue. */
static int copy_all_reduce_small(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  const dpt_tensor *const *results = (const dpt_tensor *const *)out;
  dpt__row rows[DPT__MAX_DEVICES];
  for (int64_t i = 0; i < n; i++) rows[i] = (dpt__row){1, &in[i], 0};
  DPT__TRY(dpt__sum_rows("allReduce", (dpt__row){1, &results[0], 0}, n, rows));
  for (int64_t i = 1; i < n; i++) rows[i - 1] = (dpt__row){1, &results[i], 0};
  return copy_broadcast((dpt__row){1, &results[0], 0}, n - 1, rows);
}

/* Every device sums a part, then all parts are sent to all. Each device receives twice the bytes
 * less its own part, whatever n is (DPT_LINK=1GB/s, 42 MB, 4 devices: 66 ms; by sum and copies
 * 88). */
static int copy_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  int64_t first[DPT__MAX_DEVICES + 1], count = dpt__count(in[0]);
  if (count * (int64_t)dpt__dtype_size(dpt__type(in[0])) < LITTLE)
    return copy_all_reduce_small(n, out, in);
  int64_t part = ((count + n - 1) / n + LINE - 1) / LINE * LINE;
  for (int64_t i = 0; i <= n; i++) first[i] = i * part < count ? i * part : count;
  DPT__TRY(dpt__sum_parts("allReduce", n, out, first, in, first));
  return copy_spread("allReduce", n, out, (const dpt_tensor *const *)out, first, first);
}

const dpt__transport dpt__transport_copy = {
    "copy",          copy_available,  copy_broadcast,     copy_reduce,
    copy_all_reduce, copy_all_gather, copy_reduce_scatter};

_Atomic(const dpt__transport *) dpt__transport_chosen = &dpt__transport_copy;
