/* workers.c: the functions that the owner of a set of workers calls: they start the workers, send
 * jobs and take answers (see worker.h).
 *
 * Wake-ups: each idle worker sleeps on its own counter, so that a job wakes one thread. The worker
 * that became idle last gets the next job, since its caches are warm. No worker is woken if at
 * least as many workers have answered and are about to ask for a job as there are jobs.
 */
#include "worker/worker.h"

#include "device/fault.h"
#include "device/threads.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static atomic_int forks; /* incremented in every child of fork */

static void workers_after_fork(void) { atomic_fetch_add(&forks, 1); }

static void workers_watch_fork(void) { pthread_atfork(NULL, NULL, workers_after_fork); }

static int workers_is_lost(const dpt_workers *w) { return w->forks != atomic_load(&forks); }

static void workers_wake(dpt__worker *worker) {
  dpt__counter_advance(&worker->wake, dpt__counter_value(&worker->wake) + 1);
}

/* Wakes worker `number` if it is idle; for number 0, the worker that became idle last. */
static void workers_wake_one(dpt_workers *w, int number) DPT__REQUIRES(w->lock) {
  dpt__assert_held(&w->lock);
  int i = w->idle_count - 1;
  if (i < 0) return;
  if (number)
    while (i >= 0 && w->idle[i] != number) i--;
  if (i < 0) return;
  dpt__worker *worker = &w->worker[w->idle[i] - 1];
  memmove(w->idle + i, w->idle + i + 1, (size_t)(w->idle_count - 1 - i) * sizeof *w->idle);
  w->idle_count--;
  worker->state = DPT__WORKER_BUSY;
  workers_wake(worker);
}

static void workers_close_all(dpt_workers *w) {
  dpt__lock(&w->lock);
  w->closing = 1;
  while (w->idle_count) workers_wake_one(w, 0);
  dpt__unlock(&w->lock);
}

/* Marks a worker as started or ended. */
static void workers_set_alive(dpt__worker *worker, int alive) {
  dpt_workers *w = worker->workers;
  dpt__lock(&w->lock);
  worker->state = alive ? DPT__WORKER_BUSY : DPT__WORKER_DEAD;
  w->alive += alive ? 1 : -1;
  dpt__unlock(&w->lock);
}

/* Returns 1 if the address space (ulimit -v) has space for all workers: a stack of 8 MiB, a malloc
 * arena of 64 MiB and a Lua state each, and the alignment of one arena. Checked before any worker
 * starts, since LuaJIT and glibc abort a thread, or crash, if memory runs out while they set it
 * up. */
static int workers_fit(int n) {
  enum { EACH = 80 << 20, SPARE = 128 << 20 };
  struct rlimit limit = {0};
  getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return 1;
  for (int i = 1; i <= n; i++) {
    size_t bytes = (size_t)i * EACH + SPARE;
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) {
      munmap(room, bytes);
      continue;
    }
    dpt__fail("Threads: worker %d of %d: its stack and state do not fit: "
              "RLIMIT_AS (ulimit -v) is %llu kB",
              i, n, (unsigned long long)limit.rlim_cur / 1024);
    return 0;
  }
  return 1;
}

static dpt_workers *new_workers(int n, const char *boot, int64_t size) {
  dpt_workers *w = calloc(1, sizeof *w + (size_t)n * sizeof *w->worker);
  if (!w) return NULL;
  w->boot = malloc((size_t)size + 1);
  w->idle = calloc((size_t)n, sizeof *w->idle);
  atomic_init(&w->references, 1);
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
  dpt__mutex_init(&w->lock, &kind);
  pthread_mutexattr_destroy(&kind);
  dpt__counter_init(&w->answered);
  w->n = n;
  int complete = w->boot && w->idle;
  for (int i = 0; i < n; i++) {
    dpt__worker *worker = &w->worker[i];
    *worker = (dpt__worker){.workers = w, .number = i + 1, .owes = 1, .tag = i + 1};
    dpt__counter_init(&worker->wake);
    worker->last_words = malloc(sizeof *worker->last_words);
    complete = complete && worker->last_words;
  }
  if (!complete) {
    dpt__workers_release(w);
    return NULL;
  }
  memcpy(w->boot, boot, (size_t)size);
  w->boot_size = (size_t)size;
  w->forks = atomic_load(&forks);
  pthread_sigmask(SIG_SETMASK, NULL, &w->signals);
  return w;
}

int dpt_workers_new(dpt_workers **workers, int n, const char *boot, int64_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, workers_watch_fork);
  dpt__runner_own();
  *workers = NULL;
  if (n < 1 || n > 4096) return dpt__fail("Threads: got %d threads, wanted 1 to 4096", n);
  if (!workers_fit(n)) return 1;
  DPT__TRY(dpt__fault_init());
  dpt_workers *w = new_workers(n, boot, size);
  if (!w) return dpt__no_memory("Threads: no host memory for %d threads", n);
  for (; w->started < n; w->started++) {
    char what[64];
    snprintf(what, sizeof what, "Threads: worker %d of %d", w->started + 1, n);
    dpt__worker *worker = &w->worker[w->started];
    atomic_fetch_add(&w->references, 1); /* the thread's */
    workers_set_alive(worker, 1);
    if (!dpt__thread_start(&worker->thread, dpt__worker_run, worker, what)) continue;
    workers_set_alive(worker, 0);
    atomic_fetch_sub(&w->references, 1);
    dpt_workers_stop(w);
    dpt__workers_release(w);
    return 1;
  }
  w->sent = (uint64_t)n;
  *workers = w;
  return 0;
}

int dpt_workers_send(dpt_workers *w, int number, int64_t tag, const void *bytes, int64_t size,
                     const dpt_reference *references, int count) {
  if (workers_is_lost(w))
    return dpt__fail("Threads: this process is a child of fork: it has no workers");
  if (number < 0 || number > w->n)
    return dpt__fail("Threads: got worker %d, wanted 1 to %d", number, w->n);
  dpt__mail *mail = dpt__mail_new("Threads", bytes, size, references, count);
  if (!mail) return 1;
  mail->head.tag = tag;
  dpt__lock(&w->lock);
  int gone = number ? w->worker[number - 1].state == DPT__WORKER_DEAD : !w->alive;
  if (!gone) {
    dpt__mails_put(number ? &w->worker[number - 1].own : &w->shared, mail);
    if (number || w->shared.length > w->returning) workers_wake_one(w, number);
    w->sent++;
  }
  dpt__unlock(&w->lock);
  if (!gone) return 0;
  dpt_mail_free(&mail->head);
  if (number) return dpt__fail("Threads: worker %d has ended", number);
  return dpt__fail("Threads: all workers have ended");
}

int dpt_workers_receive(dpt_workers *w, dpt_mail **mail) {
  if (workers_is_lost(w))
    return dpt__fail("Threads: this process is a child of fork: it has no workers");
  if (w->taken == w->sent) return dpt__fail("Threads: there is no job to wait for");
  dpt__counter_wait_adaptive(&w->answered, w->taken + 1, &w->spin_history);
  dpt__lock(&w->lock);
  *mail = &dpt__mails_take(&w->answers)->head;
  dpt__unlock(&w->lock);
  w->taken++;
  return 0;
}

int64_t dpt_workers_waiting(dpt_workers *w, int number) {
  if (workers_is_lost(w) || number < 0 || number > w->n) return 0;
  dpt__lock(&w->lock);
  int64_t length = number ? w->worker[number - 1].own.length : w->shared.length;
  dpt__unlock(&w->lock);
  return length;
}

void dpt_workers_stop(dpt_workers *w) {
  if (workers_is_lost(w)) return;
  workers_close_all(w);
  for (; w->started > 0; w->started--) pthread_join(w->worker[w->started - 1].thread, NULL);
}

void dpt_workers_free(dpt_workers *w) {
  if (!w || workers_is_lost(w)) return;
  workers_close_all(w);
  for (; w->started > 0; w->started--) pthread_detach(w->worker[w->started - 1].thread);
  dpt__workers_release(w);
}
