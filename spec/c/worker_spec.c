/* worker_spec.c: tests threads with a Lua state each: mail, references, workers that fail or do not
 * start, locks. The workers' programs call libdpt's functions, which this program exports, by FFI.
 */
#include "worker/worker.h"

#include "device/storage.h"

#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static const char head[] =
    "local ffi = require 'ffi' "
    "ffi.cdef [[typedef struct mail {const char *bytes; int64_t size, tag; int32_t w, e;} mail; "
    "mail *dpt_worker_receive(void); int dpt_worker_number(void); void dpt_mail_free(mail *); "
    "int dpt_worker_answer(const void *, int64_t, void *, int); "
    "typedef struct dpt_shared dpt_shared; int dpt_mutex_lock(dpt_shared *); "
    "int dpt_mutex_unlock(dpt_shared *); int64_t dpt_counter_add(dpt_shared *, int64_t);]] "
    "local C = ffi.C assert(C.dpt_worker_number() == ...) C.dpt_worker_answer('up', 2, nil, 0) "
    "local mail = C.dpt_worker_receive() "
    "while mail ~= nil do local text = ffi.string(mail.bytes, mail.size) C.dpt_mail_free(mail) ";
static const char tail[] = " mail = C.dpt_worker_receive() end";

/* Starts n workers that run `job` for each mail, whose bytes are `text`; returns once all have
 * started. */
static dpt_workers *begin(int n, const char *job) {
  char program[4096];
  int size = snprintf(program, sizeof program, "%s%s%s", head, job, tail);
  dpt_workers *w;
  OK(dpt_workers_new(&w, n, program, size));
  for (int i = 0; i < n; i++) {
    dpt_mail *mail;
    OK(dpt_workers_receive(w, &mail));
    CHECK(!mail->ended && mail->size == 2);
    dpt_mail_free(mail);
  }
  return w;
}

static const char echo[] = "C.dpt_worker_answer(text, #text, nil, 0)";

/* Every job is answered once, with its number; those sent to one worker are answered in order. */
static void answers_each_once(void) {
  enum { N = 4, JOBS = 2000 };
  dpt_workers *w = begin(N, echo);
  int last[N + 1] = {0}, seen[JOBS + 1] = {0}, good = 0;
  for (int i = 1; i <= JOBS; i++)
    OK(dpt_workers_send(w, i % 2 ? 0 : 1 + i / 2 % N, i, &i, sizeof i, NULL, 0));
  for (int i = 1; i <= JOBS; i++) {
    dpt_mail *mail;
    int value;
    OK(dpt_workers_receive(w, &mail));
    memcpy(&value, mail->bytes, sizeof value);
    seen[value]++;
    good += value == mail->tag && mail->size == sizeof value && !mail->ended;
    if (value % 2 == 0) {
      good += last[mail->worker] < value && mail->worker == 1 + value / 2 % N;
      last[mail->worker] = value;
    }
    dpt_mail_free(mail);
  }
  CHECK(good == JOBS + JOBS / 2);
  for (int i = 1; i <= JOBS; i++) CHECK(seen[i] == 1);
  dpt_mail *none;
  FAILS(dpt_workers_receive(w, &none), "no job to wait for");
  CHECK(dpt_workers_waiting(w, 0) == 0);
  FAILS(dpt_workers_send(w, N + 1, 0, "", 0, NULL, 0), "got worker 5, wanted 1 to 4");
  dpt_workers_stop(w);
  dpt_workers_free(w);
}

/* A mail holds references to its objects, and releases them however it ends. */
static void holds_references(void) {
  dpt_storage *s;
  dpt_shared *counter;
  OK(dpt_storage_new(&s, DPT_F32, 10));
  OK(dpt_shared_new(&counter, DPT_COUNTER));
  dpt_reference both[2] = {{s, DPT_REFERENCE_STORAGE}, {counter, DPT_REFERENCE_SHARED}};
  char pointer[32];
  snprintf(pointer, sizeof pointer, "%p", (void *)counter);
  dpt_workers *w = begin(1, "C.dpt_counter_add(ffi.cast('dpt_shared *', tonumber(text)), 1)"
                            "C.dpt_worker_answer(text, #text, nil, 0)");
  for (int i = 0; i < 3; i++)
    OK(dpt_workers_send(w, 1, i, pointer, (int64_t)strlen(pointer), both, 2));
  for (int i = 0; i < 3; i++) {
    dpt_mail *mail;
    OK(dpt_workers_receive(w, &mail));
    dpt_mail_free(mail);
  }
  CHECK(dpt_counter_get(counter) == 3);
  CHECK(atomic_load(&s->references) == 1);
  for (int i = 0; i < 3; i++)
    OK(dpt_workers_send(w, 1, i, pointer, (int64_t)strlen(pointer), both, 2));
  dpt_workers_stop(w); /* while jobs may not have begun, and answers have not been received */
  dpt_workers_free(w);
  CHECK(atomic_load(&s->references) == 1);
  dpt_storage_release(s);
  dpt_shared_release(counter);
}

/* A worker that fails answers its job and the jobs that wait for it; the others continue. */
static void tells_death(void) {
  dpt_workers *w = begin(2, "if text == 'die' then error('no more', 0) end "
                            "C.dpt_worker_answer(text, #text, nil, 0)");
  OK(dpt_workers_send(w, 1, 1, "die", 3, NULL, 0));
  int sent = 1, ended = 0;
  while (sent < 1000 && !dpt_workers_send(w, 1, ++sent, "on", 2, NULL, 0)) {}
  if (sent < 1000) sent--;
  for (int i = 1; i <= sent; i++) {
    dpt_mail *mail;
    OK(dpt_workers_receive(w, &mail));
    ended += mail->ended && !strncmp(mail->bytes, "no more", (size_t)mail->size);
    dpt_mail_free(mail);
  }
  CHECK(ended == sent);
  FAILS(dpt_workers_send(w, 1, 0, "on", 2, NULL, 0), "worker 1 has ended");
  dpt_mail *mail;
  OK(dpt_workers_send(w, 0, 5, "on", 2, NULL, 0));
  OK(dpt_workers_receive(w, &mail));
  CHECK(mail->worker == 2 && mail->tag == 5 && !mail->ended);
  dpt_mail_free(mail);
  OK(dpt_workers_send(w, 0, 6, "die", 3, NULL, 0));
  OK(dpt_workers_receive(w, &mail));
  CHECK(mail->ended);
  dpt_mail_free(mail);
  FAILS(dpt_workers_send(w, 0, 0, "on", 2, NULL, 0), "all workers have ended");
  dpt_workers_free(w);

  OK(dpt_workers_new(&w, 1, "this is no Lua", 14));
  OK(dpt_workers_receive(w, &mail));
  CHECK(mail->ended && strstr(mail->bytes, "worker:1:"));
  dpt_mail_free(mail);
  dpt_workers_free(w);
}

/* If a thread does not start, the threads before it are ended and an error is raised. */
static void reports_no_thread(void) {
  dpt_workers *w;
  for (int nth = 1; nth <= 3; nth++) {
    char fault[32];
    snprintf(fault, sizeof fault, "thread:%d", nth);
    OK(dpt_fault_set(fault));
    FAILS(dpt_workers_new(&w, 3, head, 0), "its thread can not start");
    CHECK(!w);
  }
  OK(dpt_fault_set(""));
  FAILS(dpt_workers_new(&w, 0, "", 0), "got 0 threads");
}

/* Workers are freed while they run jobs; nothing waits for them. */
static void lets_go(void) {
  for (int i = 0; i < 20; i++) {
    dpt_workers *w = begin(2, "for i = 1, 1e6 do end C.dpt_worker_answer(text, #text, nil, 0)");
    for (int k = 0; k < 10; k++) OK(dpt_workers_send(w, 0, k, "x", 1, NULL, 0));
    dpt_workers_free(w);
  }
}

/* Row D14: runs hundreds of states at once. */
static void has_many_states(void) {
  enum { SETS = 4, EACH = 64 };
  dpt_workers *w[SETS];
  for (int i = 0; i < SETS; i++) w[i] = begin(EACH, echo);
  for (int i = 0; i < SETS; i++) dpt_workers_stop(w[i]);
  for (int i = 0; i < SETS; i++) dpt_workers_free(w[i]);
}

static void *lock_in_thread(void *mutex) {
  OK(dpt_mutex_lock(mutex));
  OK(dpt_mutex_unlock(mutex));
  return NULL;
}

static void locks(void) {
  dpt_shared *mutex, *other, *condition, *counter;
  OK(dpt_shared_new(&mutex, DPT_MUTEX));
  OK(dpt_shared_new(&condition, DPT_CONDITION));
  OK(dpt_shared_new(&counter, DPT_COUNTER));
  OK(dpt_shared_find(&other, DPT_MUTEX, dpt_shared_id(mutex)));
  CHECK(other == mutex);
  FAILS(dpt_shared_find(&other, DPT_COUNTER, dpt_shared_id(mutex)), "there is none with the id");
  FAILS(dpt_mutex_unlock(mutex), "this thread has not locked");
  FAILS(dpt_condition_wait(condition, mutex), "this thread has not locked");
  OK(dpt_mutex_lock(mutex));
  FAILS(dpt_mutex_lock(mutex), "has locked the mutex already");
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, lock_in_thread, mutex));
  OK(dpt_mutex_unlock(mutex));
  pthread_join(thread, NULL);
  dpt_counter_set(counter, 1LL << 60);
  CHECK(dpt_counter_add(counter, -1) == (1LL << 60) - 1);
  int64_t id = dpt_shared_id(mutex);
  dpt_shared_release(mutex);
  dpt_shared_release(mutex);
  FAILS(dpt_shared_find(&other, DPT_MUTEX, id), "there is none with the id");
  dpt_shared_release(condition);
  dpt_shared_release(counter);
}

static dpt_shared *queue;

/* Puts the numbers below 100 into the queue. */
static void *put_many(void *counter) {
  const dpt_reference held = {.object = counter, .kind = DPT_REFERENCE_SHARED};
  for (char i = 0; i < 100; i++) OK(dpt_queue_put(queue, &i, 1, &held, 1));
  return NULL;
}

/* Two threads put mail and wait for space, this one takes it; each thread's mail stays in order. */
static void queues(void) {
  dpt_shared *counter, *other;
  FAILS(dpt_queue_new(&queue, 0, 0), "got the size 0");
  OK(dpt_shared_new(&counter, DPT_COUNTER));
  OK(dpt_queue_new(&queue, 3, 1));
  OK(dpt_shared_find(&other, DPT_QUEUE, dpt_shared_id(queue)));
  dpt_shared_release(other);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(!pthread_create(&threads[i], NULL, put_many, counter));
  int seen[100] = {0}, sum = 0;
  int64_t about[3];
  for (int i = 0; i < 200; i++) {
    dpt_mail *mail = dpt_queue_take(queue);
    CHECK(mail->size == 1 && seen[(int)mail->bytes[0]]++ < 2);
    CHECK(!mail->bytes[0] || seen[mail->bytes[0] - 1] >= seen[(int)mail->bytes[0]]);
    sum += mail->bytes[0];
    dpt_mail_free(mail);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  dpt_queue_about(queue, about);
  CHECK(sum == 9900 && about[0] == 3 && about[1] == 1 && about[2] == 0);
  OK(dpt_queue_put(queue, "left", 4, NULL, 0)); /* freed with the queue */
  dpt_shared_release(queue);
  dpt_shared_release(counter);
}

static int64_t late; /* nanoseconds */

static void *advance_late(void *counter) {
  dpt__sleep(late);
  dpt__counter_advance(counter, dpt__counter_value(counter) + 1);
  return NULL;
}

/* Returns true if waits for a late value count their failures as they should. */
static int gets_wary(void) {
  static const int failed[] = {1, 1, 3, 3, 3, 3, 7};
  int good = 1;
  dpt__counter counter;
  dpt__counter_init(&counter);
  dpt__spin_history wary = {0, 0};
  for (uint64_t i = 0; i < sizeof failed / sizeof *failed; i++) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, advance_late, &counter));
    dpt__counter_wait_adaptive(&counter, i + 1, &wary);
    CHECK(dpt__counter_value(&counter) == i + 1);
    good &= wary.failed == failed[i];
    pthread_join(thread, NULL);
  }
  dpt__counter_wait_adaptive(&counter, 1, &wary);
  return good && wary.failed == 7 && wary.skip == 7;
}

/* If spinning fails, more and more waits do not spin; a value that has already been reached needs
 * no wait. A busy machine may delay the waiting thread until the value has been reached: the value
 * is then set later. */
static void spins_less(void) {
  int good = 0;
  for (late = 3000000; !good && late < 4000000000; late *= 4) good = gets_wary();
  CHECK(good);
}

/* A child of fork has no workers: calls raise an error and do not wait for them. */
static void rejects_after_fork(void) {
  dpt_workers *w = begin(2, echo);
  pid_t child = fork();
  if (child == 0) {
    dpt_mail *mail;
    alarm(300);
    int good = dpt_workers_send(w, 1, 0, "x", 1, NULL, 0) && strstr(dpt_message(), "fork") &&
               dpt_workers_receive(w, &mail) && strstr(dpt_message(), "fork");
    dpt_workers_stop(w);
    dpt_workers_free(w);
    _exit(good ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  dpt_workers_stop(w);
  dpt_workers_free(w);
}

int main(void) {
  answers_each_once();
  holds_references();
  tells_death();
  reports_no_thread();
  lets_go();
  has_many_states();
  locks();
  queues();
  spins_less();
  rejects_after_fork();
  return check_end();
}
