/* trace.c: records of the items that streams run (see trace.h). */
#include "device/trace.h"

#include <stdlib.h>
#include <string.h>

/* The native clock of a stream, used by its thread while a trace runs and by dpt_trace_stop after
 * it. */
struct dpt__trace_clock {
  uint64_t run;    /* the trace that `zero` belongs to */
  void *zero;      /* the backend's event, recorded at... */
  int64_t at;      /* this time of dpt__now */
  dpt__list spare; /* events */
};

/* Events around a record's item. */
typedef struct timers {
  dpt__stream *stream; /* NULL: the record already has its times */
  void *begin, *end;
} timers;

enum { LABELS = 1 << 16 };
static const int64_t CLOSED = INT64_MAX / 2;

atomic_int dpt__trace_on;
static dpt__mutex lock = DPT__MUTEX_INIT; /* for dpt_trace_start and dpt_trace_stop */
static uint64_t run;                      /* the number of the trace */
static dpt_trace_record *records;
static timers *timed;
static int64_t capacity, count;
static _Atomic int64_t next = INT64_MAX / 2;
static atomic_llong lost;
static char *labels[LABELS];
static atomic_int nlabel = 1; /* 0: none */
static _Thread_local uint32_t label;
static _Thread_local uint16_t thread;
static _Thread_local dpt_trace_record next_item; /* set by this thread with dpt__trace_describe */

const int *dpt_trace_on(void) { return (const int *)&dpt__trace_on; }
uint32_t *dpt_trace_label(void) { return &label; }
double dpt_trace_now(void) { return (double)dpt__now(); }

uint32_t dpt_trace_label_new(const char *text) {
  int i = atomic_load(&nlabel);
  while (i < LABELS && !atomic_compare_exchange_weak(&nlabel, &i, i + 1)) {}
  if (i >= LABELS) return 0;
  labels[i] = strdup(text);
  return (uint32_t)i;
}

const char *dpt_trace_label_text(uint32_t number) {
  return number < LABELS && labels[number] ? labels[number] : "";
}

static uint16_t trace_thread(void) {
  static atomic_int threads;
  if (!thread) thread = (uint16_t)(atomic_fetch_add(&threads, 1) + 1);
  return thread;
}

/* Returns a new record, zero in the other fields; NULL: none left. */
static dpt_trace_record *trace_claim(int kind) {
  int64_t i = atomic_fetch_add_explicit(&next, 1, memory_order_acquire);
  if (i >= CLOSED) return NULL;
  if (i >= capacity) {
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return NULL;
  }
  dpt_trace_record *r = &records[i];
  r->kind_ = (uint8_t)kind; /* whole_ is 0 since the start, and dpt_trace_stop reads it */
  r->label_ = label;
  r->thread_ = trace_thread();
  return r;
}

static void trace_whole(dpt_trace_record *r) { __atomic_store_n(&r->whole_, 1, __ATOMIC_RELEASE); }

static void trace_set_subject(dpt_trace_record *r, dpt__event event) {
  r->other_device_ = (int16_t)event.stream->device;
  r->other_stream_ = (int16_t)event.stream->index;
  r->other_ = event.number;
}

/* ---- items ---- */

static uint64_t *trace_number_of(const dpt__item *item) {
  return (uint64_t *)((char *)item + item->size) - 1;
}

void dpt__trace_queued(dpt__stream *stream, uint64_t number, dpt__item *item, const void *args) {
  dpt_trace_record *r = trace_claim(DPT_TRACE_ITEM + (int)item->kind);
  *trace_number_of(item) = r ? (uint64_t)(r - records) + 1 : 0;
  if (!r) return;
  r->queued_ = dpt__now();
  r->name_ = item->name;
  r->device_ = (int16_t)stream->device;
  r->stream_ = (int16_t)stream->index;
  r->number_ = number;
  if (item->kind == DPT__ITEM_WAIT) {
    dpt__event event;
    memcpy(&event, args, sizeof event);
    trace_set_subject(r, event);
    return;
  }
  if (next_item.kind_) r->kind_ = next_item.kind_;
  r->bytes_ = next_item.bytes_;
  memcpy(r->size_, next_item.size_, sizeof r->size_);
  next_item = (dpt_trace_record){0};
}

void dpt__trace_describe(int64_t bytes, const dpt_tensor *t, int between) {
  next_item = (dpt_trace_record){.bytes_ = bytes, .kind_ = between ? DPT_TRACE_COPY : 0};
  for (int d = 0; t && d < t->ndim_ && d < 4; d++) next_item.size_[d] = (int32_t)t->size_[d];
}

/* Records an event after the work issued to the native stream; NULL if that fails. */
static void *trace_record(dpt__stream *stream, struct dpt__trace_clock *clock) {
  void *event = clock->spare.n ? clock->spare.item[--clock->spare.n] : NULL;
  if (!stream->backend->timer_record(stream->unit, stream->native_stream, &event)) return event;
  if (event && dpt__list_add(&clock->spare, event)) event = NULL;
  return NULL;
}

/* Returns the stream's clock, set for this trace; NULL if it has none. */
static struct dpt__trace_clock *trace_clock(dpt__stream *stream) {
  struct dpt__trace_clock *clock = stream->clock;
  if (!clock && !(clock = stream->clock = calloc(1, sizeof *clock))) return NULL;
  if (clock->run == run) return clock;
  if (!clock->zero) clock->zero = trace_record(stream, clock);
  if (!clock->zero ||
      stream->backend->timer_record(stream->unit, stream->native_stream, &clock->zero) ||
      stream->backend->event_synchronize(clock->zero))
    return NULL;
  clock->at = dpt__now();
  clock->run = run;
  return clock;
}

uint64_t dpt__trace_begin(dpt__stream *stream, const dpt__item *item) {
  uint64_t record = *trace_number_of(item);
  if (!record) return 0;
  timers *t = &timed[record - 1];
  struct dpt__trace_clock *clock = NULL;
  if (stream->native_stream && stream->backend->timer_record && !atomic_load(&stream->capture))
    clock = trace_clock(stream);
  t->begin = clock ? trace_record(stream, clock) : NULL;
  t->stream = t->begin ? stream : NULL;
  records[record - 1].begin_ = dpt__now();
  return record;
}

void dpt__trace_end(dpt__stream *stream, uint64_t record) {
  timers *t = &timed[record - 1];
  records[record - 1].end_ = dpt__now();
  t->end = t->stream ? trace_record(stream, stream->clock) : NULL;
  trace_whole(&records[record - 1]);
}

/* Replaces the times of a record by the device's own. */
static void trace_resolve(dpt_trace_record *r, timers *t) {
  struct dpt__trace_clock *clock = t->stream->clock;
  double begin, duration;
  const dpt__backend *backend = t->stream->backend;
  if (t->end && !backend->event_synchronize(t->end) &&
      !backend->timer_elapsed(clock->zero, t->begin, &begin) &&
      !backend->timer_elapsed(t->begin, t->end, &duration)) {
    r->begin_ = clock->at + (int64_t)begin;
    r->end_ = r->begin_ + (int64_t)duration;
    if (begin > 1e9) { /* differences are float milliseconds, which lose precision */
      void *zero = clock->zero;
      clock->zero = t->begin;
      clock->at = r->begin_;
      t->begin = zero;
    }
  }
  /* without host memory the events are lost, which only costs their memory */
  if (t->begin) (void)dpt__list_add(&clock->spare, t->begin);
  if (t->end) (void)dpt__list_add(&clock->spare, t->end);
}

/* ---- records of other code ---- */

void dpt__trace_waited(dpt__event event, int64_t from) {
  dpt_trace_record *r = trace_claim(DPT_TRACE_THREAD_WAIT);
  if (!r) return;
  r->name_ = "wait";
  r->queued_ = r->begin_ = from;
  r->end_ = dpt__now();
  trace_set_subject(r, event);
  trace_whole(r);
}

void dpt__trace_memory(int device, const void *block, int64_t bytes, int64_t live) {
  dpt_trace_record *r = trace_claim(DPT_TRACE_MEMORY);
  if (!r) return;
  r->name_ = bytes > 0 ? "alloc" : "free";
  r->queued_ = r->begin_ = r->end_ = dpt__now();
  r->device_ = (int16_t)device;
  r->number_ = (uint64_t)(uintptr_t)block;
  r->bytes_ = bytes;
  r->other_ = (uint64_t)live;
  trace_whole(r);
}

void dpt_trace_span(double begin, uint32_t what) {
  dpt_trace_record *r = trace_claim(DPT_TRACE_SPAN);
  if (!r) return;
  r->name_ = "";
  r->label_ = what;
  r->queued_ = r->begin_ = (int64_t)begin;
  r->end_ = dpt__now();
  trace_whole(r);
}

/* ---- start and stop ---- */

static int trace_allocate(int64_t n) {
  if (n == capacity) return 0;
  free(records);
  free(timed);
  records = malloc((size_t)n * sizeof *records);
  timed = malloc((size_t)n * sizeof *timed);
  capacity = records && timed ? n : 0;
  return capacity ? 0 : dpt__no_memory("profiler: no host memory for %lld records", (long long)n);
}

int dpt_trace_start(int64_t n) {
  dpt__lock(&lock);
  int status = atomic_load(&dpt__trace_on) ? dpt__fail("profiler: it runs already")
               : n < 1 || n > INT32_MAX    ? dpt__fail("profiler: got %lld records, wanted 1 to %d",
                                                       (long long)n, INT32_MAX)
                                           : trace_allocate(n);
  if (!status) {
    memset(records, 0, (size_t)n * sizeof *records); /* touches all pages before timing */
    memset(timed, 0, (size_t)n * sizeof *timed);
    run++;
    count = 0;
    atomic_store(&lost, 0);
    trace_thread();
    atomic_store(&next, 0);
    atomic_store(&dpt__trace_on, 1);
  }
  dpt__unlock(&lock);
  return status;
}

int dpt_trace_stop(void) {
  dpt__lock(&lock);
  int status = atomic_load(&dpt__trace_on) ? 0 : dpt__fail("profiler: it does not run");
  if (!status) {
    atomic_store(&dpt__trace_on, 0);
    count = atomic_exchange(&next, CLOSED);
    if (count > capacity) count = capacity;
  }
  for (int64_t i = 0; i < count && !status; i++)
    while (!__atomic_load_n(&records[i].whole_, __ATOMIC_ACQUIRE)) dpt__sleep(50000);
  /* From here on no stream's thread uses its clock. */
  for (int64_t i = 0; i < count && !status; i++)
    if (timed[i].stream) trace_resolve(&records[i], &timed[i]);
  dpt__unlock(&lock);
  return status;
}

const dpt_trace_record *dpt_trace_records(int64_t *n, int64_t *without) {
  *n = count;
  *without = atomic_load(&lost);
  return records;
}
