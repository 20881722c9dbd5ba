/* sum.c: sums over devices for the transport that copies.
 *
 * Invariant: an element is summed in the order of its summands, in the wide accumulator of its
 * type, on every device, so the bits depend only on the operands. Summands of other devices are
 * copied into buffers of CHUNK bytes on the device that sums, small enough to fit in a core's
 * cache. GPUs with peer access, if kernels may use it (peer.h), read summands and write sums
 * directly and need no buffers: a launch is long enough to keep a link busy. If the sum is large
 * and two devices or more can help, they sum chunks in turn, each into two buffers, and the device
 * of the result only collects. Measured with DPT_LINK=1GB/s and 42 MB: 4 devices 46 ms (the
 * result's device alone: 134), 8 devices 49 ms (314); without a link, 8 devices on 2 cores, 13 ms
 * (20). One helper gains nothing.
 */
#include "comm/comm.h"
#include "device/device.h"
#include "device/launch.h"
#include "device/peer.h"
#include "device/trace.h"

#include <stdlib.h>

enum { CHUNK = 1 << 18, DIRECT_CHUNK = 1 << 22, HELP = 4 };

/* The rows of a sum, with their cursors at the same element. */
typedef struct reduction {
  const char *fn; /* names the sum in messages */
  dpt__row out;
  int64_t sources;
  dpt__row *in; /* (sources) */
  int direct;   /* the kernels of all participants can access all memory */
} reduction;

static int64_t sum_chunk_bytes(const reduction *j) { return j->direct ? DIRECT_CHUNK : CHUNK; }

/* A device that sums, or collects sums. */
typedef struct participant {
  dpt__stream *stream;
  dpt__event ready;    /* recorded after the work queued there before */
  dpt_storage *buffer; /* a chunk for each summand, the last for the sum */
  dpt_storage *sums;   /* of a helper: two chunks */
  dpt__event taken[2]; /* when each of the two may be overwritten */
  int half;            /* the one that was written last */
} participant;

static int participant_init(participant *w, int device) {
  *w = (participant){.stream = dpt__current_stream(device)};
  return dpt__event_record(w->stream, &w->ready);
}

static void participant_destroy(participant *w) {
  dpt_storage_release(w->buffer);
  dpt_storage_release(w->sums);
}

/* Makes each participant wait for the work queued on all of them before. */
static int sum_participants_wait(participant *w, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < n; k++) DPT__TRY(dpt__stream_wait(w[i].stream, w[k].ready));
  return 0;
}

static int64_t sum_last_part(const reduction *j) {
  return j->sources < DPT__SOURCES ? j->sources : DPT__SOURCES;
}

static int sum_is_direct(const participant *w, int64_t n) {
  if (!dpt__peer_kernels()) return 0;
  for (int64_t i = 0; i < n; i++) {
    if (!w[i].stream->backend->stream_new) return 0;
    for (int64_t k = 0; k < i; k++)
      if (!dpt__peers(w[i].stream->device, w[k].stream->device)) return 0;
  }
  return 1;
}

/* Allocates all memory that w will need, before anything is queued, so that a sum that fails for
 * lack of memory has changed nothing. */
static int participant_alloc(participant *w, const reduction *j, int helps) {
  int device = w->stream->device, parts = j->sources > DPT__SOURCES;
  int64_t bytes = (sum_last_part(j) + 1) * sum_chunk_bytes(j);
  for (int64_t s = 0; s < j->sources && !j->direct; s++)
    parts |= dpt__row_device(&j->in[s]) != device;
  if (parts && !w->buffer)
    DPT__TRY(dpt__storage_new_on(&w->buffer, DPT_U8 | DPT_ON_DEVICE, bytes, device));
  return helps ? dpt__storage_new_on(&w->sums, DPT_U8 | DPT_ON_DEVICE, 2 * CHUNK, device) : 0;
}

static void *participant_part(const participant *w, const reduction *j, int64_t i) {
  return (char *)w->buffer->data + i * sum_chunk_bytes(j);
}

/* Elements that a participant's kernel can access: those of a row, run by run, or plain memory. */
typedef struct span {
  dpt__row *row; /* NULL: plain memory */
  char *at;
} span;

/* Finds the next elements of summand s: in place if w can access them, else copied into part i. */
static int sum_fetch(participant *w, reduction *j, int64_t s, int64_t count, int64_t i,
                     span *found) {
  dpt__row *row = &j->in[s];
  *found = (span){row, NULL};
  if (j->direct || dpt__row_device(row) == w->stream->device) return 0;
  void *to = participant_part(w, j, i);
  dpt__copies copies;
  *found = (span){NULL, to};
  dpt__copies_start(&copies, w->stream, j->fn);
  DPT__TRY(dpt__row_copy_advance(row, count, &copies, DPT__GATHER, to, w->buffer));
  return dpt__copies_end(&copies);
}

/* Sets *run to the number of elements, at most `most`, that are contiguous in all spans. */
static int sum_next_run(participant *w, span *spans, int n, int64_t most, int64_t *run) {
  *run = most;
  for (int i = 0; i < n; i++) {
    if (!spans[i].row) continue;
    DPT__TRY(dpt__row_run(spans[i].row, *run, w->stream, &spans[i].at, run));
  }
  return 0;
}

static int sum_launch(participant *w, const char *fn, const struct dpt__comm_sum_args *args) {
  size_t words = (size_t)(args->runs * (2 + args->sources));
  if (!words) return 0;
  int64_t count = 0, width = (int64_t)dpt__dtype_size(args->dtype);
  for (int64_t i = 0; i < args->runs; i++) count += args->word[i * (2 + args->sources)].count;
  return dpt__launch_on(w->stream, DPT__KERNEL_comm_sum, fn, count * width * (1 + args->sources),
                        args,
                        offsetof(struct dpt__comm_sum_args, word) + words * sizeof *args->word);
}

/* Sets spans[0] to the sum of spans[1] to spans[n]. */
static int sum_add_up(participant *w, const char *fn, span *spans, int n, int64_t count,
                      int dtype) {
  struct dpt__comm_sum_args args;
  args.sources = n;
  args.dtype = dtype;
  args.runs = 0;
  for (int64_t run; count > 0; count -= run) {
    if ((args.runs + 1) * (2 + n) > DPT__SUM_WORDS) {
      DPT__TRY(sum_launch(w, fn, &args));
      args.runs = 0;
    }
    dpt__word *word = args.word + args.runs++ * (2 + n);
    DPT__TRY(sum_next_run(w, spans, n + 1, count, &run));
    word[0].count = run;
    word[1].sum = spans[0].at;
    for (int i = 1; i <= n; i++) word[1 + i].source = spans[i].at;
    for (int i = 0; i <= n; i++) {
      spans[i].at += (size_t)run * dpt__dtype_size(dtype);
      if (spans[i].row) dpt__row_advance(spans[i].row, run);
    }
  }
  return sum_launch(w, fn, &args);
}

/* Sets dst to the sum of the next elements, at most a chunk; with more than DPT__SOURCES summands
 * dst is plain memory and none of them. */
static int sum_chunk_on(participant *w, reduction *j, int64_t count, int dtype, span dst) {
  span spans[DPT__SOURCES + 1] = {dst};
  int n = 0;
  for (int64_t s = 0; s < j->sources; s++) {
    DPT__TRY(sum_fetch(w, j, s, count, n, &spans[n + 1]));
    if (++n < DPT__SOURCES && s + 1 < j->sources) continue;
    DPT__TRY(sum_add_up(w, j->fn, spans, n, count, dtype));
    spans[0] = spans[1] = dst;
    n = 1;
  }
  return 0;
}

/* Returns the number of elements to sum next: of one type, at most a chunk and `most` bytes. */
static int64_t sum_chunk_count(reduction *j, int64_t most) {
  int64_t chunk = sum_chunk_bytes(j), count = dpt__row_count(&j->out, chunk);
  if (!count) return 0;
  if (most > chunk) most = chunk;
  most /= (int64_t)dpt__dtype_size(dpt__type(j->out.t[0]));
  return count < most ? count : most;
}

/* Sums the next elements, at most a chunk, into out, which w can access. */
static int sum_next(participant *w, reduction *j, int64_t count) {
  int dtype = dpt__type(j->out.t[0]);
  if (j->sources <= DPT__SOURCES) return sum_chunk_on(w, j, count, dtype, (span){&j->out, NULL});
  void *dst = participant_part(w, j, sum_last_part(j));
  dpt__copies copies;
  DPT__TRY(sum_chunk_on(w, j, count, dtype, (span){NULL, dst}));
  dpt__copies_start(&copies, w->stream, j->fn);
  DPT__TRY(dpt__row_copy_advance(&j->out, count, &copies, DPT__SPREAD, dst, w->buffer));
  return dpt__copies_end(&copies);
}

/* Like sum_next, but sums chunk by chunk, up to `most` bytes. */
static int sum_next_limited(participant *w, reduction *j, int64_t most) {
  for (int64_t count; (count = sum_chunk_count(j, most));) {
    most -= count * (int64_t)dpt__dtype_size(dpt__type(j->out.t[0]));
    DPT__TRY(sum_next(w, j, count));
  }
  return 0;
}

/* Sums the next chunk on a helper, and collects it on the participant of the result. */
static int sum_chunk(participant *result, participant *helper, reduction *j, int64_t count) {
  int half = helper->half = !helper->half, dtype = dpt__type(j->out.t[0]);
  dpt__copies copies;
  char *to = (char *)helper->sums->data + half * CHUNK;
  DPT__TRY(dpt__stream_wait(helper->stream, helper->taken[half]));
  DPT__TRY(sum_chunk_on(helper, j, count, dtype, (span){NULL, to}));
  DPT__TRY(dpt__stream_wait_all(result->stream, helper->stream));
  dpt__copies_start(&copies, result->stream, j->fn);
  DPT__TRY(dpt__row_copy_advance(&j->out, count, &copies, DPT__SPREAD, to, helper->sums));
  DPT__TRY(dpt__copies_end(&copies));
  return dpt__event_record(result->stream, &helper->taken[half]);
}

/* Sums all elements; w[0] has the result, w[1] to w[n - 1] the summands of other devices. */
static int sum_all(participant *w, int64_t n, reduction *j) {
  j->direct = sum_is_direct(w, n);
  if (n < 3 || dpt__row_bytes(&j->out) < (uint64_t)(HELP * sum_chunk_bytes(j))) {
    DPT__TRY(participant_alloc(w, j, 0));
    for (int64_t i = 1; i < n; i++) DPT__TRY(dpt__stream_wait(w->stream, w[i].ready));
    return sum_next_limited(w, j, INT64_MAX);
  }
  for (int64_t i = 1; i < n; i++) DPT__TRY(participant_alloc(&w[i], j, !j->direct));
  DPT__TRY(sum_participants_wait(w, n));
  int64_t turn = 0;
  for (int64_t count; (count = sum_chunk_count(j, INT64_MAX)); turn++) {
    participant *helper = &w[1 + turn % (n - 1)];
    DPT__TRY(j->direct ? sum_next(helper, j, count) : sum_chunk(w, helper, j, count));
  }
  for (int64_t i = 1; i < n && j->direct; i++)
    DPT__TRY(dpt__stream_wait_all(w->stream, w[i].stream));
  return 0;
}

int dpt__sum_rows(const char *fn, dpt__row out, int64_t sources, const dpt__row *in) {
  participant *w = malloc(sizeof *w * (size_t)(sources + 1));
  reduction j = {fn, out, sources, malloc(sizeof *in * (size_t)sources), 0};
  int64_t n = 0;
  int status = w && j.in ? 0 : dpt__no_memory("%s: no host memory", fn);
  for (int64_t s = -1; !status && s < sources; s++) {
    int device = dpt__row_device(s < 0 ? &out : &in[s]), known = 0;
    for (int64_t i = 0; i < n; i++) known |= w[i].stream->device == device;
    if (!known) status = participant_init(&w[n++], device);
    if (s >= 0) j.in[s] = in[s];
  }
  if (!status) status = sum_all(w, n, &j);
  dpt__row_written(&out);
  for (int64_t i = 0; i < n; i++) {
    participant_destroy(&w[i]);
    if (i) status |= dpt__stream_wait_all(w[i].stream, w->stream);
  }
  free(j.in);
  free(w);
  return status;
}

int dpt__sum_parts(const char *fn, int64_t n, dpt_tensor *const *out, const int64_t *to,
                   const dpt_tensor *const *in, const int64_t *first) {
  participant w[DPT__MAX_DEVICES];
  dpt__row rows[DPT__MAX_DEVICES];
  int64_t size = (int64_t)dpt__dtype_size(dpt__type(in[0])), joined = 0;
  int status = 0;
  while (!status && joined < n) {
    status = participant_init(&w[joined], out[joined]->storage_->device);
    joined++;
  }
  int direct = !status && sum_is_direct(w, n);
  for (int64_t s = 0; s < n; s++) rows[s] = (dpt__row){1, &in[s], 0};
  for (int64_t i = 0; !status && i < n; i++)
    status = participant_alloc(&w[i], &(reduction){.sources = n, .in = rows, .direct = direct}, 0);
  if (!status) status = sum_participants_wait(w, n);
  for (int64_t i = 0; !status && i < n; i++) {
    const dpt_tensor *sum = out[i];
    for (int64_t s = 0; s < n; s++) rows[s] = (dpt__row){1, &in[s], first[i]};
    reduction j = {fn, {1, &sum, to[i]}, n, rows, direct};
    status = sum_next_limited(&w[i], &j, (first[i + 1] - first[i]) * size);
    dpt__written(sum);
  }
  for (int64_t i = 0; i < joined; i++) {
    status |= dpt__event_record(w[i].stream, &w[i].ready);
    participant_destroy(&w[i]);
  }
  return status || sum_participants_wait(w, n);
}
