/* trace_spec.c: tests records of the items of streams, while several threads queue and traces start
 * and stop.
 */
#include "device/trace.h"

#include "device/device.h"
#include "gate.h"

#include <pthread.h>

static int run_nothing(dpt__context *context, const void *args) { return 0; }

static void push(dpt__stream *stream) {
  int value = 7;
  OK(dpt__stream_push(stream, run_nothing, "nothing", &value, sizeof value));
}

static const dpt_trace_record *records(int64_t *n, int64_t *lost) {
  return dpt_trace_records(n, lost);
}

/* Items are recorded if queued between start and stop; stop waits until they have run. */
static void records_what_is_queued(void) {
  dpt__stream *stream = dpt__current_stream(1), *other = dpt__current_stream(2);
  int64_t n, lost;
  push(stream);
  OK(dpt_trace_start(100));
  CHECK(*dpt_trace_on());
  *dpt_trace_label() = dpt_trace_label_new("phase");
  uint64_t first = dpt__event_last(stream).number + 1;
  gate g;
  gate_close(&g, 1);
  dpt__trace_describe(40, &(dpt_tensor){.ndim_ = 2, .size_ = {3, 5}}, 1);
  push(stream);
  OK(dpt__stream_wait(other, dpt__event_last(stream)));
  gate_open(&g);
  dpt_trace_span(1, 0);
  *dpt_trace_label() = 0;
  OK(dpt_trace_stop());
  push(stream);
  const dpt_trace_record *r = records(&n, &lost);
  CHECK(n == 4 && lost == 0);
  for (int i = 0; i < 3; i++) {
    CHECK(r[i].whole_ && r[i].queued_ <= r[i].begin_ && r[i].begin_ <= r[i].end_);
    CHECK(!strcmp(dpt_trace_label_text(r[i].label_), "phase"));
  }
  CHECK(r[0].number_ == first && r[0].kind_ == DPT_TRACE_ITEM && !strcmp(r[0].name_, "gate"));
  CHECK(r[1].number_ == first + 1 && r[1].kind_ == DPT_TRACE_COPY && r[1].bytes_ == 40);
  CHECK(r[1].size_[0] == 3 && r[1].size_[1] == 5 && r[1].size_[2] == 0);
  CHECK(r[2].kind_ == DPT_TRACE_WAIT && r[2].device_ == 2 && r[2].other_device_ == 1);
  CHECK(r[2].other_ == first + 1 && r[2].end_ >= r[1].end_);
  CHECK(r[3].kind_ == DPT_TRACE_SPAN && r[3].begin_ == 1);
}

static void rejects(void) {
  FAILS(dpt_trace_stop(), "profiler: it does not run");
  FAILS(dpt_trace_start(0), "profiler: got 0 records");
  OK(dpt_trace_start(3));
  FAILS(dpt_trace_start(3), "profiler: it runs already");
  OK(dpt_trace_stop());
  CHECK(!strcmp(dpt_trace_label_text(1 << 30), ""));
}

/* ---- many threads ---- */

enum { THREADS = 3, ITEMS = 4000 };
static atomic_int running, traced;

/* Half of the items wait for the end of a trace, so that the test does not depend on timing. */
static void *queue_items(void *arg) {
  const int *device = arg;
  for (int i = 0; i < ITEMS; i++) {
    while (i == ITEMS / 2 && !atomic_load(&traced)) dpt__sleep(100000);
    push(dpt__current_stream(*device));
  }
  atomic_fetch_sub(&running, 1);
  return NULL;
}

static int by_number(const void *a, const void *b) {
  const dpt_trace_record *x = a, *y = b;
  if (x->device_ != y->device_) return x->device_ - y->device_;
  return x->number_ < y->number_ ? -1 : x->number_ > y->number_;
}

/* A trace records consecutive items of each stream, without a gap, whichever thread queues them. */
static void has_each_item_once(void) {
  pthread_t threads[THREADS];
  int devices[THREADS] = {1, 2, 1};
  atomic_store(&running, THREADS);
  atomic_store(&traced, 0);
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, queue_items, &devices[i]));
  int traces = 0;
  for (int more = 1; more; traces++) {
    more = atomic_load(&running) > 0;
    OK(dpt_trace_start(traces % 2 ? 3 * ITEMS : 2 * ITEMS));
    if (more) dpt__sleep(1000000);
    OK(dpt_trace_stop());
    atomic_store(&traced, 1);
    int64_t n, lost;
    const dpt_trace_record *r = records(&n, &lost);
    dpt_trace_record *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    if (n) memcpy(sorted, r, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_number);
    int good = 1;
    for (int64_t i = 1; i < n && !lost; i++)
      good &= sorted[i].device_ != sorted[i - 1].device_ ||
              sorted[i].number_ == sorted[i - 1].number_ + 1;
    CHECK(good);
    free(sorted);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(dpt_device_synchronize(-1));
  CHECK(traces > 1);
}

int main(void) {
  OK(dpt_devices_set("host:2"));
  int n;
  OK(dpt_device_count(&n));
  records_what_is_queued();
  rejects();
  has_each_item_once();
  return check_end();
}
