/* stream_races_spec.c: tests races: test builds call hooks between two steps of a thread
 * (base/assert.h), and run the other thread's work there. Functions of this file simulate a backend
 * with queues.
 */
#include "device/allocator.h"
#include "device/backend_events.h"
#include "device/device.h"
#include "device/storage.h"

#include "gate.h"

static int run_nothing(dpt__context *context, const void *args) { return 0; }
static int run_fail(dpt__context *context, const void *args) { return dpt__fail("it failed"); }

/* ---- a backend with queues ---- */

static dpt__stream *starting; /* its queue is being created */
static int looks;             /* number of waits during that time */

static int stream_new(int index, int urgent, void **queue) {
  static int queues;
  *queue = &queues;
  if (!starting) return 0;
  looks++;
  return dpt__stream_synchronize(starting);
}
static int records_fail, is_lost;
static int event_record(int index, void *queue, void **m) {
  static int event;
  if (records_fail) return dpt__fail("there is no event");
  *m = &event;
  return 0;
}
static int stream_wait_event(void *queue, void *m) { return 0; }
static int event_query(void *m, int *passed) {
  *passed = 1;
  return 0;
}
static int event_synchronize(void *m) { return 0; }
static int lost(void) { return is_lost; }
static int stream_fault(void *queue, uint64_t *number, const char **name) { return 0; }

static const dpt__backend played = {.name = "played",
                                    .lost = lost,
                                    .stream_new = stream_new,
                                    .event_record = event_record,
                                    .stream_wait_event = stream_wait_event,
                                    .event_query = event_query,
                                    .event_synchronize = event_synchronize,
                                    .stream_fault = stream_fault};

static dpt__device device = {.backend = &played, .number = 1, .threads = 1};

static dpt__stream *new_stream(void) {
  dpt__stream *stream = dpt__stream_new(&device, 1, 0);
  CHECK(stream != NULL);
  return stream;
}

/* ---- streams ---- */

static dpt__stream *watched;
static gate held;
static int visits;

static int when_full(const char *name) {
  if (strcmp(name, "stream full")) return 0;
  visits++;
  gate_open(&held);
  dpt__event_wait_keep_error(dpt__event_last(watched));
  return 0;
}

/* The stream runs all items before the thread that queues begins to wait for space. */
static void full_queue_that_empties(void) {
  enum { LARGE = 1 << 20 };
  char *args = calloc(1, LARGE);
  watched = dpt__current_stream(1);
  gate_close(&held, 1);
  dpt__sync_set(when_full);
  for (int i = 0; i < 5; i++) OK(dpt__stream_push(watched, run_nothing, "nothing", args, LARGE));
  dpt__sync_set(NULL);
  CHECK(visits > 0);
  OK(dpt__stream_synchronize(watched));
  free(args);
}

static void *synchronizes(void *arg) {
  dpt__stream *stream = arg;
  while (!dpt__counter_value(&stream->submitted)) OK(dpt__stream_synchronize(stream));
  OK(dpt__stream_synchronize(stream));
  return NULL;
}

static int when_starting(const char *name) {
  if (strcmp(name, "events are there")) return 0;
  looks++;
  return dpt__stream_synchronize(starting);
}

/* A stream is waited for while it starts: from within its start, before its native stream exists
 * and before that is visible, and by another thread. */
static void start_that_is_seen(void) {
  starting = new_stream();
  dpt__sync_set(when_starting);
  OK(dpt__stream_push(starting, run_nothing, "nothing", NULL, 0));
  dpt__sync_set(NULL);
  CHECK(looks == 2);
  OK(dpt__stream_synchronize(starting));
  starting = NULL;
  dpt__stream *stream = new_stream();
  pthread_t other;
  pthread_create(&other, NULL, synchronizes, stream);
  OK(dpt__stream_push(stream, run_nothing, "nothing", NULL, 0));
  pthread_join(other, NULL);
}

static int when_settling(const char *name) {
  if (strcmp(name, "wait quietly")) return 0;
  dpt__sync_set(NULL);
  visits++;
  CHECK(dpt__event_done((dpt__event){watched, 1}));
  dpt__backend_events_close(watched, 1);
  return 0;
}

/* Fills the stack that the next function will use. */
static __attribute__((noinline)) void soil_stack(void) {
  volatile unsigned char bytes[1 << 14];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x7e;
}

/* A graph begins to capture while another thread waits for work that has ended by then. */
static void settled_meanwhile(void) {
  watched = new_stream();
  OK(dpt__stream_push(watched, run_nothing, "nothing", NULL, 0));
  visits = 0;
  dpt__sync_set(when_settling);
  soil_stack();
  OK(dpt__event_wait_keep_error((dpt__event){watched, 1}));
  CHECK(visits == 1);
  dpt__backend_events_close(watched, 0);
  CHECK(dpt__counter_value(&watched->done) == 1);
}

/* A failed wait does not mean that the work has ended, unless the device is lost. */
static void waits_that_fail(void) {
  dpt__stream *stream = new_stream();
  dpt__event event = {stream, 1};
  int done = 1;
  OK(dpt__stream_push(stream, run_nothing, "nothing", NULL, 0));
  records_fail = 1;
  FAILS(dpt__event_wait(event), "there is no event");
  FAILS(dpt__event_query(event, &done), "there is no event");
  CHECK(!done && !dpt__event_known_done(event));
  records_fail = 0;
  OK(dpt__event_query(event, &done));
  CHECK(done);
  OK(dpt__stream_push(stream, run_nothing, "nothing", NULL, 0));
  records_fail = is_lost = 1;
  FAILS(dpt__event_wait(dpt__event_last(stream)), "there is no event");
  CHECK(dpt__event_known_done(dpt__event_last(stream)));
  records_fail = is_lost = 0;
}

static int no_memory_for_errors(const char *name) { return !strcmp(name, "error_new"); }

/* The error of a kernel is raised even if there is no memory for its message. */
static void error_without_memory(void) {
  dpt__stream *stream = dpt__current_stream(2);
  OK(dpt__stream_push(stream, run_nothing, "nothing", NULL, 0));
  for (int i = 0; i < 3; i++) {
    OK(dpt__stream_synchronize(stream));
    dpt__sync_set(i < 2 ? no_memory_for_errors : NULL);
    OK(dpt__stream_push(stream, run_fail, "failing", NULL, 0));
    dpt__event_wait_keep_error(dpt__event_last(stream));
    dpt__sync_set(NULL);
    FAILS(dpt__stream_synchronize(stream), "failing: it failed (queued on stream 0");
  }
}

/* ---- the allocator ---- */

enum { MB = 1 << 18 }; /* floats */

static const char *stop; /* hook at which the first thread starts the second one */
static pthread_t first, second;
static atomic_int over;

static dpt_storage *floats(int64_t size) {
  dpt_storage *s = NULL;
  OK(dpt_storage_new(&s, DPT_F32 | DPT_ON_DEVICE, size));
  return s;
}

static void *takes(void *arg) {
  dpt_storage_release(floats(3 * MB));
  atomic_store(&over, 1);
  return NULL;
}

/* Within that time the second thread has failed by mistake, or waits for the first one. */
static int when_emptying(const char *name) {
  if (!stop || strcmp(name, stop) || !pthread_equal(first, pthread_self())) return 0;
  stop = NULL;
  visits++;
  pthread_create(&second, NULL, takes, NULL);
  for (int i = 0; i < 100 && !atomic_load(&over); i++) dpt__sleep(1000000);
  gate_open(&held);
  return 0;
}

/* A thread reaches the limit while another one is freeing memory that both need. */
static void two_at_the_limit(const char *where, int used_elsewhere) {
  OK(dpt_memory_empty_cache(1));
  OK(dpt_memory_limit_set(1, 7 << 20));
  dpt_storage *a = floats(3 * MB), *b = floats(3 * MB);
  if (used_elsewhere) {
    OK(dpt_stream_set(1, 1));
    gate_close(&held, 1);
    OK(dpt__block_use(a->block, dpt__current_stream(1)));
    OK(dpt__block_use(b->block, dpt__current_stream(1)));
    OK(dpt_stream_set(1, 0));
  }
  dpt_storage_release(a);
  dpt_storage_release(b);
  first = pthread_self();
  stop = where;
  visits = 0;
  atomic_store(&over, 0);
  dpt__sync_set(when_emptying);
  a = floats(7 * MB / 2);
  CHECK(visits == 1);
  if (visits) pthread_join(second, NULL);
  dpt__sync_set(NULL);
  dpt_storage_release(a);
  OK(dpt_memory_limit_set(1, 0));
}

int main(void) {
  OK(dpt_devices_set("host:2"));
  OK(dpt_stream_reserve(1, 1));
  full_queue_that_empties();
  start_that_is_seen();
  settled_meanwhile();
  waits_that_fail();
  error_without_memory();
  two_at_the_limit("pending blocks are taken", 1);
  two_at_the_limit("free segments are taken", 0);
  return check_end();
}
