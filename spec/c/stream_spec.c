/* stream_spec.c: tests order within a stream, asynchrony, queue growth, errors, and threads that
 * cannot start.
 */
#include "device/device.h"

#include "device/fault.h"

#include "gate.h"

struct append_args {
  int **next;
  int value;
  char filler[104];
};

static int run_append(dpt__context *context, const void *args) {
  const struct append_args *a = args;
  *(*a->next)++ = a->value;
  return 0;
}

static int run_fail(dpt__context *context, const void *args) {
  int number;
  memcpy(&number, args, sizeof number);
  return dpt__fail("index %d is out of range", number);
}

/* Items run one after another in the order in which they were queued, while the ring grows several
 * times. */
static void keeps_order(void) {
  enum { N = 5000 };
  dpt__stream *stream = dpt__current_stream(1);
  int *values = malloc(N * sizeof *values), *next = values;
  OK(dpt_device_set(1));
  OK(dpt_stream_sleep(20));
  struct append_args args = {&next, 0, {0}};
  for (int i = 0; i < N; i++) {
    args.value = i;
    OK(dpt__stream_push(stream, run_append, "append", &args, 16 + (size_t)(i % 100)));
  }
  OK(dpt_stream_synchronize(1, 0));
  CHECK(next == values + N);
  int good = 0;
  while (good < N && values[good] == good) good++;
  CHECK(good == N);
  free(values);
}

/* A thread that queues waits while the queue is full, and no item is lost. */
static void waits_when_full(void) {
  enum { N = 500, LARGE = 30000 }; /* 15 MB; a queue has 4 MiB */
  int values[N], *next = values;
  OK(dpt_stream_sleep(50));
  struct append_args *args = calloc(1, LARGE);
  args->next = &next;
  for (int i = 0; i < N; i++) {
    args->value = i;
    OK(dpt__stream_push(dpt__current_stream(1), run_append, "append", args, LARGE));
  }
  OK(dpt_stream_synchronize(1, 0));
  CHECK(next == values + N);
  int good = 0;
  while (good < N && values[good] == good) good++;
  CHECK(good == N);
  free(args);
}

static int run_check(dpt__context *context, const void *args) {
  const size_t *a = args; /* the number of words, then words that count up from it */
  size_t good = 0;
  while (good < a[0] && a[good] == a[0] + good) good++;
  return good == a[0] ? 0 : dpt__fail("word %zu is wrong", good);
}

/* Arguments may be larger than a queue. */
static void takes_large_arguments(void) {
  enum { MOST = 1200000 };
  size_t *words = malloc(MOST * sizeof *words);
  OK(dpt_stream_sleep(20));
  for (size_t n = 5; n <= MOST; n = n < 500000 ? n * 7 : n + 230000) {
    for (size_t i = 0; i < n; i++) words[i] = n + i;
    OK(dpt__stream_push(dpt__current_stream(1), run_check, "check", words, n * sizeof *words));
    OK(dpt__stream_push(dpt__current_stream(1), run_check, "check", words, n * sizeof *words));
  }
  OK(dpt_stream_synchronize(1, 0));
  free(words);
}

/* Queueing returns at once; other devices and streams are not blocked. */
static void is_asynchronous(void) {
  gate busy;
  dpt_event event;
  int done;
  OK(dpt_stream_reserve(2, 1));
  OK(dpt_device_set(2));
  gate_close(&busy, 2);
  OK(dpt_event_record(&event, 2, 0));
  OK(dpt_stream_synchronize(1, 0));
  OK(dpt_stream_set(2, 1));
  OK(dpt_stream_sleep(1));
  OK(dpt_stream_synchronize(2, -1));
  OK(dpt_event_query(&event, &done));
  CHECK(!done);
  gate_open(&busy);
  OK(dpt_stream_synchronize(2, 0));
  OK(dpt_event_query(&event, &done));
  CHECK(done);
  OK(dpt_stream_set(0, 0));
  OK(dpt_device_set(1));
}

/* A blocking stream and the default stream are ordered, both ways; a nonblocking stream is not. */
static void blocking_is_ordered(void) {
  int count, done;
  OK(dpt_stream_reserve(3, 0)); /* 1 and 2 stay nonblocking */
  OK(dpt_stream_count(&count));
  CHECK(count == 3);
  dpt_event event;
  for (int from = 0; from <= 3; from += 3) {
    gate busy;
    OK(dpt_stream_set(1, from));
    gate_close(&busy, 1);
    OK(dpt_stream_set(1, 3 - from));
    OK(dpt_stream_sleep(0));
    OK(dpt_event_record(&event, 1, 3 - from));
    OK(dpt_event_query(&event, &done));
    CHECK(!done);
    OK(dpt_stream_set(1, 1));
    OK(dpt_stream_sleep(0));
    OK(dpt_stream_synchronize(1, 1));
    OK(dpt_event_query(&event, &done));
    CHECK(!done);
    gate_open(&busy);
    OK(dpt_event_wait(&event));
    OK(dpt_event_query(&event, &done));
    CHECK(done);
  }
  OK(dpt_stream_set(0, 0));
  FAILS(dpt_stream_set(1, 4), "no stream 4");
  FAILS(dpt_stream_set(1, -1), "no stream");
  FAILS(dpt_stream_synchronize(1, 77), "no stream 77");
}

/* An error is kept and raised once, at the next wait, with the operation's name; the stream
 * continues. */
static void keeps_errors(void) {
  dpt__stream *one = dpt__current_stream(1), *two = dpt__current_stream(2);
  int number = 7;
  OK(dpt__stream_push(one, run_fail, "gather", &number, sizeof number));
  number = 8;
  OK(dpt__stream_push(one, run_fail, "scatter", &number, sizeof number));
  FAILS(dpt__stream_synchronize(one), "gather: index 7 is out of range");
  OK(dpt__stream_synchronize(one));

  /* A stream that waits for the event inherits the error: if one stream raises it, the other does
   * not. */
  OK(dpt__stream_push(one, run_fail, "gather", &number, sizeof number));
  OK(dpt__stream_wait(two, dpt__event_last(one)));
  FAILS(dpt__stream_synchronize(two), "gather: index 8");
  OK(dpt__stream_synchronize(one));
  OK(dpt__stream_push(one, run_fail, "gather", &number, sizeof number));
  OK(dpt__stream_wait(two, dpt__event_last(one)));
  FAILS(dpt__stream_synchronize(one), "gather: index 8");
  OK(dpt__stream_synchronize(two));

  /* It is also inherited if the event has already occurred. */
  OK(dpt__stream_push(one, run_fail, "gather", &number, sizeof number));
  dpt__event past = dpt__event_last(one);
  dpt__counter_wait(&one->done, past.number);
  OK(dpt__stream_wait(two, past));
  FAILS(dpt__stream_synchronize(two), "gather: index 8");
  OK(dpt__stream_synchronize(one));

  /* An error after the event is not inherited. */
  OK(dpt_device_set(1));
  OK(dpt_stream_sleep(20));
  dpt__event before = dpt__event_last(one);
  OK(dpt__stream_push(one, run_fail, "late", &number, sizeof number));
  OK(dpt__stream_wait(two, before));
  OK(dpt__event_wait(before));
  OK(dpt__stream_synchronize(two));
  FAILS(dpt_device_synchronize(-1), "late: index 8");
  OK(dpt_device_synchronize(-1));
}

/* ---- kernels that run on the calling thread ---- */

struct note_args {
  pthread_t *ran;
  int *failed;
};

static int run_note(dpt__context *context, const void *args) {
  const struct note_args *a = args;
  *a->ran = pthread_self();
  return a->failed ? dpt__fail("number %d", ++*a->failed) : 0;
}

/* Returns true if a kernel of that many bytes (-1: an awaited kernel) ran on this thread. waits:
 * checks that the stream has no error; otherwise an error stays pending. */
static int ran_here(dpt__stream *stream, int64_t bytes, int *failed, int waits) {
  pthread_t ran;
  dpt__context context = dpt__stream_context(stream, "note");
  context.awaited = bytes < 0;
  context.bytes = bytes < 0 ? 0 : bytes;
  memset(&ran, 0, sizeof ran);
  uint64_t before = dpt__counter_value(&stream->submitted);
  OK(dpt__stream_push_kernel(&context, run_note, &(struct note_args){&ran, failed},
                             sizeof(struct note_args)));
  CHECK(dpt__event_last(stream).number == before + 1);
  OK(waits ? dpt__stream_synchronize(stream) : dpt__event_wait_keep_error(dpt__event_last(stream)));
  return pthread_equal(ran, pthread_self());
}

static void rest(dpt__stream *stream) {
  OK(dpt__stream_synchronize(stream));
  while (!dpt__stream_is_idle(stream)) dpt__sleep(100000);
}

static void small_kernels_run_at_once(void) {
  dpt__stream *stream = dpt__current_stream(1), *two = dpt__current_stream(2);
  rest(stream);
  for (int i = 0; i < 1000; i++) CHECK(ran_here(stream, 8, NULL, 1));
  CHECK(dpt__stream_is_idle(stream));
  CHECK(ran_here(stream, 1 << 15, NULL, 1));
  CHECK(!ran_here(stream, (1 << 15) + 1, NULL, 1)); /* the 1,000 kernels before have ended */
  rest(stream);
  CHECK(!ran_here(stream, 0, NULL, 1)); /* size unknown */
  rest(stream);
  for (int i = 0; i < 100; i++)
    CHECK(ran_here(stream, -1, NULL, i % 10 == 0)); /* awaited: any size */
  CHECK(ran_here(stream, 8, NULL, 1));

  /* not while another item is queued */
  gate busy;
  gate_close(&busy, 1);
  pthread_t ran = pthread_self();
  dpt__context context = dpt__stream_context(stream, "note");
  context.bytes = 8;
  struct note_args args = {&ran, NULL};
  OK(dpt__stream_push_kernel(&context, run_note, &args, sizeof args));
  CHECK(!dpt__event_known_done(dpt__event_last(stream)));
  gate_open(&busy);
  OK(dpt__stream_synchronize(stream));
  CHECK(!pthread_equal(ran, pthread_self()));

  /* an error belongs to the stream, and is raised by a wait or inherited */
  rest(stream);
  int failed = 0;
  CHECK(ran_here(stream, 8, &failed, 0) && failed == 1);
  FAILS(dpt__stream_synchronize(stream), "note: number 1 (queued on stream 0 of device 1)");
  rest(stream);
  CHECK(ran_here(stream, 8, &failed, 0));
  OK(dpt__stream_wait(two, dpt__event_last(stream)));
  FAILS(dpt__stream_synchronize(two), "note: number 2");
  OK(dpt__stream_synchronize(stream));

  rest(stream);
  OK(dpt_delay_set(1));
  CHECK(!ran_here(stream, 8, NULL, 1));
  OK(dpt_delay_set(0));
}

static int run_take_time(dpt__context *context, const void *args) {
  dpt__sleep(30000);
  return run_note(context, args);
}

/* If nothing waits, the stream's thread is eventually woken. */
static void many_kernels_wake_the_thread(void) {
  enum { MOST = 64 };
  dpt__stream *stream = dpt__current_stream(1);
  pthread_t ran[MOST];
  dpt__context context = dpt__stream_context(stream, "note");
  context.bytes = 8;
  rest(stream);
  for (int i = 0; i < MOST; i++)
    OK(dpt__stream_push_kernel(&context, run_take_time, &(struct note_args){&ran[i], NULL},
                               sizeof(struct note_args)));
  OK(dpt__stream_synchronize(stream));
  CHECK(pthread_equal(ran[0], pthread_self()) && !pthread_equal(ran[MOST - 1], pthread_self()));
}

struct add_args {
  int64_t *sum; /* modified only by items of one stream, without synchronization */
};

static int run_add(dpt__context *context, const void *args) {
  const struct add_args *a = args;
  ++*a->sum;
  return 0;
}

enum { ADDS = 20000 };

static void *adds(void *arg) {
  dpt__stream *stream = dpt__current_stream(1);
  dpt__context context = dpt__stream_context(stream, "add");
  for (int i = 0; i < ADDS; i++) {
    context.bytes = i % 7 ? 8 : 0;
    OK(dpt__stream_push_kernel(&context, run_add, &(struct add_args){arg},
                               sizeof(struct add_args)));
    if (i % 16 == 0) OK(dpt__stream_synchronize(stream));
    if (i % 512 == 0) dpt__sleep(100000); /* lets the stream become idle */
  }
  return NULL;
}

/* Several threads queue; items run one after another, on any thread. */
static void several_threads_queue(void) {
  pthread_t thread[3];
  int64_t sum = 0;
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, adds, &sum);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  OK(dpt__stream_synchronize(dpt__current_stream(1)));
  CHECK(sum == 3 * ADDS);
}

static void thread_failure_is_raised(void) {
  OK(dpt_stream_reserve(5, 1));
  OK(dpt_stream_set(1, 5));
  OK(dpt_fault_set("thread:1"));
  FAILS(dpt_stream_sleep(0), "stream 5 of device 1: its thread can not start");
  OK(dpt_stream_sleep(0)); /* the fault occurs once: the same stream now works */
  OK(dpt_stream_synchronize(1, 5));
  OK(dpt_stream_set(0, 0));
}

static void bad_faults_are_rejected(void) {
  const char *bad[] = {"thread", "thread:", "thread:0", "threads:1", "copy:2x", "copy:1;malloc:1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    FAILS(dpt_fault_set(bad[i]), "DPT_FAULT: got");
  OK(dpt_fault_set("thread:30000|malloc:20000,copy:2000"));
  OK(dpt_fault_set(""));
  FAILS(dpt_link_set("fast"), "DPT_LINK");
  FAILS(dpt_link_set("-1GB/s"), "DPT_LINK");
  OK(dpt_link_set("1.5GB/s"));
  CHECK(dpt__link_ns(1500000000) == 1000000000);
  OK(dpt_link_set(""));
  CHECK(dpt__link_ns(1500000000) == 0);
}

int main(void) {
  OK(dpt_devices_set("host:2"));
  int count;
  OK(dpt_device_count(&count));
  CHECK(count == 2);
  FAILS(dpt_devices_set("host:3"), "in use already");
  keeps_order();
  waits_when_full();
  takes_large_arguments();
  is_asynchronous();
  blocking_is_ordered();
  keeps_errors();
  thread_failure_is_raised();
  bad_faults_are_rejected();
  OK(dpt_delay_set(0)); /* with delays, every kernel runs on its stream's thread */
  small_kernels_run_at_once();
  many_kernels_wake_the_thread();
  several_threads_queue();
  return check_end();
}
