/* stream_rendezvous_spec.c: tests work of several streams at once: order, errors, no deadlock.
 *
 * Every wait here must end: the test's time limit detects streams that wait for each other.
 */
#include "device/device.h"
#include "device/rendezvous.h"

#include "check.h"

enum { DEVICES = 6, THREADS = 4 };

/* A number that only items of one stream modify. */
static struct {
  int64_t value;
  char apart[56];
} cell[DEVICES + 1];

static int run_add(dpt__context *context, const void *args) {
  cell[context->device].value += *(const int64_t *)args;
  return 0;
}

/* Sets every stream's cell to the sum of all. */
static int meet_sum(dpt__context *context, int n, dpt__stream *const *streams, const void *args) {
  int64_t sum = *(const int64_t *)args;
  for (int i = 0; i < n; i++) sum += cell[streams[i]->device].value;
  for (int i = 0; i < n; i++) cell[streams[i]->device].value = sum;
  return 0;
}

static int meet_fail(dpt__context *context, int n, dpt__stream *const *streams, const void *args) {
  return dpt__fail("%d streams met in vain", n);
}

static void list(dpt__stream *streams[DEVICES]) {
  for (int i = 0; i < DEVICES; i++) streams[i] = dpt__current_stream(i + 1);
}

static void add(int device, int64_t value) {
  OK(dpt__stream_push(dpt__current_stream(device), run_add, "add", &value, sizeof value));
}

/* The rendezvous sees work queued before it, whichever stream is late; work queued later runs
 * later. */
static void keeps_order(void) {
  dpt__stream *streams[DEVICES];
  list(streams);
  for (int late = 1; late <= DEVICES; late++) {
    int64_t extra = 1000;
    for (int i = 1; i <= DEVICES; i++) {
      OK(dpt_device_set(i));
      if (i == late) OK(dpt_stream_sleep(5));
      cell[i].value = 0;
      add(i, i);
    }
    OK(dpt__stream_rendezvous(DEVICES, streams, meet_sum, "sum", &extra, sizeof extra));
    for (int i = 1; i <= DEVICES; i++) add(i, i);
    OK(dpt_device_synchronize(-1));
    for (int i = 1; i <= DEVICES; i++)
      CHECK(cell[i].value == 1000 + DEVICES * (DEVICES + 1) / 2 + i);
  }
  int64_t one = 1;
  OK(dpt__stream_rendezvous(1, streams, meet_sum, "sum", &one, sizeof one));
  OK(dpt_device_synchronize(-1));
  CHECK(cell[1].value == 1000 + DEVICES * (DEVICES + 1) / 2 + 2);
}

/* Raises one error, once, with the name of the work. */
static void tells_its_error_once(void) {
  dpt__stream *streams[DEVICES];
  list(streams);
  for (int round = 0; round < torture(200); round++) {
    int raised = 0;
    OK(dpt__stream_rendezvous(DEVICES, streams, meet_fail, "sum", NULL, 0));
    for (int i = 0; i < DEVICES; i++)
      if (dpt_stream_synchronize(1 + (round + i) % DEVICES, 0)) {
        raised++;
        CHECK(strstr(dpt_message(), "sum: 6 streams met in vain") != NULL);
      }
    CHECK(raised == 1);
    OK(dpt_device_synchronize(-1));
  }
}

static void *mix(void *arg) {
  uint64_t state = *(uint64_t *)arg;
  dpt__stream *streams[DEVICES], *some[DEVICES];
  list(streams);
  for (int round = 0; round < torture(5000); round++) {
    if (draw(&state, 2)) { /* one stream waits for another, as copies do */
      dpt__stream *a = streams[draw(&state, DEVICES)], *b = streams[draw(&state, DEVICES)];
      OK(dpt__stream_wait(a, dpt__event_last(b)));
      continue;
    }
    int n = 0;
    int64_t nothing = 0;
    for (int i = 0; i < DEVICES; i++)
      if (draw(&state, 2)) some[n++] = streams[i];
    for (int i = n - 1; i > 0; i--) {
      int k = (int)draw(&state, (uint64_t)i + 1);
      dpt__stream *other = some[i];
      some[i] = some[k];
      some[k] = other;
    }
    if (n) OK(dpt__stream_rendezvous(n, some, meet_sum, "sum", &nothing, sizeof nothing));
  }
  return NULL;
}

/* Several threads queue work on random streams, with waits in between. */
static void never_waits_in_a_circle(uint64_t seed) {
  pthread_t threads[THREADS];
  uint64_t state[THREADS];
  for (int i = 1; i <= DEVICES; i++) cell[i].value = 0;
  for (int i = 0; i < THREADS; i++) {
    state[i] = seed + (uint64_t)i;
    CHECK(pthread_create(&threads[i], NULL, mix, &state[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(dpt_device_synchronize(-1));
  for (int i = 1; i <= DEVICES; i++) CHECK(cell[i].value == 0);
}

int main(void) {
  uint64_t seed = check_seed();
  OK(dpt_devices_set("host:6"));
  OK(dpt__devices_ready("test"));
  keeps_order();
  tells_its_error_once();
  never_waits_in_a_circle(seed);
  return check_end();
}
