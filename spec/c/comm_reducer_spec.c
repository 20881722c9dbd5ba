/* comm_reducer_spec.c: tests gradients that are summed bucket by bucket while they are computed.
 * Several threads mark buckets as ready in any order, with random delays in the streams: a missing
 * event shows as a wrong value, and under ThreadSanitizer as a race.
 */
#include "device/device.h"
#include "gate.h"

#include <pthread.h>

enum { REPLICAS = 4, BUCKETS = 5, F32 = DPT_F32 | DPT_ON_DEVICE };

static const int64_t counts[BUCKETS] = {2, 1, 3, 1, 1};
static const int64_t sizes[8] = {40, 7, 300, 1, 5, 2000, 70000, 3};

static dpt_tensor own[8 * REPLICAS];
static dpt_tensor *tensors[8 * REPLICAS];
static dpt_reducer *reducer;

/* Returns tensor k of bucket b of a replica. */
static dpt_tensor *at(int64_t replica, int64_t b, int64_t k) {
  int64_t first = 0;
  for (int64_t i = 0; i < b; i++) first += counts[i] * REPLICAS;
  return tensors[first + replica * counts[b] + k];
}

static void setup(void) {
  int64_t next = 0, kind = 0;
  for (int64_t b = 0; b < BUCKETS; b++) {
    for (int64_t r = 0; r < REPLICAS; r++) {
      OK(dpt_device_set((int)r + 1));
      for (int64_t k = 0; k < counts[b]; k++, next++) {
        OK(dpt_tensor_new(&own[next], F32, 1, &sizes[kind + k]));
        OK(dpt_fill(&own[next], 0));
        tensors[next] = &own[next];
      }
    }
    kind += counts[b];
  }
  OK(dpt_device_set(1));
  OK(dpt_reducer_new(&reducer, BUCKETS, counts, REPLICAS, tensors));
}

static void teardown(void) {
  dpt_reducer_free(reducer);
  for (int i = 0; i < 8 * REPLICAS; i++) dpt_tensor_free(&own[i]);
}

/* Returns the number that a replica adds to bucket b in a step. */
static double addend(int64_t replica, int64_t b, int step) {
  return (double)((replica + 1) * (b + 2) + step);
}

static void add_to(int64_t replica, int64_t b, double value) {
  for (int64_t k = 0; k < counts[b]; k++) {
    dpt_tensor *t = at(replica, b, k);
    OK(dpt_map1(dpt_op("add"), t, t, value, 0));
  }
}

typedef struct worker {
  int64_t replica;
  int step, late; /* late: adds to bucket 1 after marking it; leaves bucket 3 unmarked */
} worker;

static void *work(void *arg) {
  const worker *w = arg;
  dpt_event event;
  int device = (int)w->replica + 1;
  OK(dpt_device_set(device));
  if (w->replica % 2) { /* on stream 1, ordered with stream 0 by the test */
    OK(dpt_event_record(&event, device, 0));
    OK(dpt_stream_set(device, 1));
    OK(dpt_stream_wait_event(device, 1, &event));
  }
  for (int64_t i = 0; i < BUCKETS; i++) {
    int64_t b = (i + w->replica * w->step) % BUCKETS;
    add_to(w->replica, b, addend(w->replica, b, w->step));
    if (w->late && b == 3) continue;
    OK(dpt_reducer_bucket_ready(reducer, w->replica, b));
    OK(dpt_reducer_bucket_ready(reducer, w->replica, b)); /* no effect */
  }
  if (w->late) {
    OK(dpt_reducer_invalidate(reducer, w->replica, 1));
    add_to(w->replica, 1, 0.5);
  }
  if (w->replica % 2) {
    OK(dpt_event_record(&event, device, 1));
    OK(dpt_stream_wait_event(device, 0, &event));
  }
  return NULL;
}

static void run_step(int used, int step, int late) {
  pthread_t threads[REPLICAS];
  worker workers[REPLICAS];
  OK(dpt_reducer_begin(reducer, used));
  for (int r = 0; r < used; r++) {
    workers[r] = (worker){r, step, late};
    CHECK(!pthread_create(&threads[r], NULL, work, &workers[r]));
  }
  for (int r = 0; r < used; r++) CHECK(!pthread_join(threads[r], NULL));
}

/* Checks the first and the last element of every tensor of bucket b of a replica. */
static void expect(int64_t replica, int64_t b, double wanted) {
  for (int64_t k = 0; k < counts[b]; k++) {
    dpt_tensor *t = at(replica, b, k);
    double first, last;
    OK(dpt_get(t, 0, &first));
    OK(dpt_get(t, dpt_count(t) - 1, &last));
    if (!CHECK(first == wanted && last == wanted))
      printf("replica %d, bucket %d: got %g and %g, wanted %g\n", (int)replica, (int)b, first, last,
             wanted);
  }
}

static void clear(void) {
  for (int i = 0; i < 8 * REPLICAS; i++) OK(dpt_fill(tensors[i], 0));
}

static void test_steps(void) {
  for (int step = 0; step < 12; step++) {
    int used = step % (REPLICAS + 1), late = step % 3 == 2;
    run_step(used, step, late);
    OK(dpt_reducer_finish(reducer));
    for (int64_t b = 0; b < BUCKETS; b++) {
      double sum = 0;
      for (int r = 0; r < used; r++) sum += addend(r, b, step) + (late && b == 1 ? 0.5 : 0);
      expect(0, b, sum);
      for (int r = 1; r < REPLICAS; r++) expect(r, b, 0);
    }
    clear();
  }
}

static int sums_done(void) {
  for (int device = 1; device <= REPLICAS; device++)
    if (!dpt__event_done(dpt__event_last(dpt__communication_stream(device)))) return 0;
  return 1;
}

/* Sums are complete while the replicas' streams are still busy with later work. */
static void test_overlap(void) {
  gate busy[REPLICAS];
  OK(dpt_reducer_begin(reducer, REPLICAS));
  for (int64_t r = 0; r < REPLICAS; r++) {
    OK(dpt_device_set((int)r + 1));
    add_to(r, 2, 1);
    OK(dpt_reducer_bucket_ready(reducer, r, 2));
    gate_close(&busy[r], (int)r + 1);
  }
  OK(dpt_device_set(1));
  while (!sums_done()) dpt__sleep(5000000);
  for (int64_t r = 0; r < REPLICAS; r++) gate_open(&busy[r]);
  OK(dpt_reducer_finish(reducer));
  expect(0, 2, REPLICAS);
  clear();
}

/* The reducer works after a canceled step. */
static void test_cancel(void) {
  for (int tries = 0; tries < 3; tries++) {
    OK(dpt_reducer_begin(reducer, REPLICAS));
    for (int r = 0; r < REPLICAS; r++) {
      add_to(r, 0, 7);
      OK(dpt_reducer_bucket_ready(reducer, r, 0));
      if (r < tries) OK(dpt_reducer_bucket_ready(reducer, r, 2));
    }
    OK(dpt_reducer_cancel(reducer));
    clear();
    run_step(REPLICAS, tries, 0);
    OK(dpt_reducer_finish(reducer));
    double sum = 0;
    for (int r = 0; r < REPLICAS; r++) sum += addend(r, 0, tries);
    expect(0, 0, sum);
    clear();
  }
}

static void test_errors(void) {
  FAILS(dpt_reducer_bucket_ready(reducer, REPLICAS, 0), "replica 5, wanted 1 to 5 of 1 to 4");
  FAILS(dpt_reducer_bucket_ready(reducer, 0, -1), "bucket 0");
  FAILS(dpt_reducer_invalidate(reducer, 0, BUCKETS), "bucket 6");
  dpt_reducer *none;
  FAILS(dpt_reducer_new(&none, 0, counts, REPLICAS, tensors), "0 buckets");
  int64_t zero[2] = {0, 0};
  FAILS(dpt_reducer_new(&none, 2, zero, REPLICAS, tensors), "no tensors in 2 buckets");
  dpt_tensor *mixed[2] = {at(0, 0, 0), at(1, 0, 0)};
  int64_t two = 2;
  FAILS(dpt_reducer_new(&none, 1, &two, 1, mixed), "device 2, wanted device 1");
  dpt_tensor host;
  OK(dpt_tensor_new(&host, DPT_F32, 1, sizes));
  dpt_tensor *wrong[2] = {at(0, 0, 0), &host};
  int64_t one = 1;
  FAILS(dpt_reducer_new(&none, 1, &one, 2, wrong), "torch.FloatTensor");
  dpt_tensor_free(&host);
  dpt_reducer_free(NULL);
}

/* Work on a sum is queued after it on its stream; the sum is not computed again afterwards. */
static void test_send(void) {
  OK(dpt_reducer_begin(reducer, REPLICAS));
  FAILS(dpt_reducer_send(reducer, 0, 1), "bucket 1 is not summed");
  for (int64_t r = 0; r < REPLICAS; r++) {
    add_to(r, 0, addend(r, 0, 2));
    CHECK(dpt_reducer_state(reducer, 0) == DPT_BUCKET_OPEN);
    OK(dpt_reducer_bucket_ready(reducer, r, 0));
  }
  CHECK(dpt_reducer_state(reducer, 0) == DPT_BUCKET_SUMMED);
  OK(dpt_reducer_invalidate(reducer, 0, 0)); /* is summed again */
  CHECK(dpt_reducer_state(reducer, 0) == DPT_BUCKET_OPEN);
  OK(dpt_reducer_flush(reducer));
  CHECK(dpt_reducer_state(reducer, 0) == DPT_BUCKET_SUMMED);
  CHECK(dpt_reducer_state(reducer, BUCKETS) == DPT_BUCKET_OPEN);
  uint64_t writes = dpt_storage_writes(at(0, 0, 0)->storage_);
  OK(dpt_reducer_send(reducer, 0, 1));
  add_to(0, 0, 100);
  OK(dpt_reducer_send(reducer, 0, 0));
  CHECK(dpt_storage_writes(at(0, 0, 0)->storage_) == writes); /* unchanged until the pass ends */
  CHECK(dpt_reducer_state(reducer, 0) == DPT_BUCKET_SENT);
  FAILS(dpt_reducer_invalidate(reducer, 1, 0), "bucket 1 was sent");
  OK(dpt_reducer_finish(reducer));
  CHECK(dpt_storage_writes(at(0, 0, 0)->storage_) > writes);
  double sum = 100;
  for (int r = 0; r < REPLICAS; r++) sum += addend(r, 0, 2);
  expect(0, 0, sum);
  clear();
}

/* A failed copy raises at the next wait; the next step is correct. */
static void test_fault(void) {
  OK(dpt_fault_set("copy:2"));
  run_step(REPLICAS, 1, 0);
  OK(dpt_reducer_finish(reducer));
  double value;
  FAILS(dpt_get(at(0, 0, 0), 0, &value) || dpt_device_synchronize(-1), "DPT_FAULT");
  OK(dpt_fault_set(""));
  (void)dpt_device_synchronize(-1);
  clear();
  run_step(REPLICAS, 1, 0);
  OK(dpt_reducer_finish(reducer));
  double sum = 0;
  for (int r = 0; r < REPLICAS; r++) sum += addend(r, 4, 1);
  expect(0, 4, sum);
  clear();
}

int main(void) {
  OK(dpt_devices_set("host:4"));
  OK(dpt_stream_reserve(1, 1));
  setup();
  test_steps();
  test_overlap();
  test_cancel();
  test_errors();
  test_send();
  test_fault();
  if (!getenv("DPT_DELAY")) {
    OK(dpt_delay_set(check_seed()));
    test_steps();
    test_cancel();
    test_send();
  }
  teardown();
  return check_end();
}
