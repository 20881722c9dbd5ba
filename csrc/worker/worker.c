/* worker.c: the workers' side of a set's queues: a worker takes jobs and answers them (see
 * worker.h).
 */
#include "worker/worker.h"

#include "device/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local dpt__worker *self;

/* Drops a reference. Frees the set without its lock: no other thread has it any more. */
void dpt__workers_release(dpt_workers *w) DPT__UNPROVED {
  if (atomic_fetch_sub(&w->references, 1) != 1) return;
  dpt__mails_drop(&w->shared);
  dpt__mails_drop(&w->answers);
  for (int i = 0; i < w->n; i++) {
    dpt__mails_drop(&w->worker[i].own);
    free(w->worker[i].last_words);
  }
  dpt__mutex_destroy(&w->lock);
  free(w->boot);
  free(w->idle);
  free(w);
}

int dpt_worker_number(void) { return self ? self->number : 0; }

static void worker_set_idle(dpt_workers *w, dpt__worker *worker) DPT__REQUIRES(w->lock) {
  dpt__assert_held(&w->lock);
  w->returning -= worker->returns;
  worker->returns = 0;
}

dpt_mail *dpt_worker_receive(void) {
  if (!self) return NULL;
  dpt_workers *w = self->workers;
  dpt__mail *mail = NULL;
  dpt__lock(&w->lock);
  worker_set_idle(w, self);
  while (!w->closing && !(mail = dpt__mails_take(&self->own)) &&
         !(mail = dpt__mails_take(&w->shared))) {
    self->state = DPT__WORKER_IDLE;
    w->idle[w->idle_count++] = self->number;
    uint64_t next = dpt__counter_value(&self->wake) + 1;
    dpt__unlock(&w->lock);
    dpt__counter_wait_adaptive(&self->wake, next, &self->spin_history);
    dpt__lock(&w->lock);
  }
  self->owes = mail != NULL;
  self->tag = mail ? mail->head.tag : 0;
  dpt__unlock(&w->lock);
  return mail ? &mail->head : NULL;
}

static void worker_answer(dpt_workers *w, dpt__worker *worker, dpt__mail *mail)
    DPT__REQUIRES(w->lock) {
  dpt__assert_held(&w->lock);
  mail->head.worker = worker->number;
  dpt__mails_put(&w->answers, mail);
  dpt__counter_advance(&w->answered, dpt__counter_value(&w->answered) + 1);
}

int dpt_worker_answer(const void *bytes, int64_t size, const dpt_reference *references, int count) {
  if (!self || !self->owes) return dpt__fail("Threads: this thread has no job to answer");
  dpt__mail *mail = dpt__mail_new("Threads", bytes, size, references, count);
  if (!mail) return 1;
  mail->head.tag = self->tag;
  dpt_workers *w = self->workers;
  dpt__lock(&w->lock);
  self->owes = 0;
  self->returns = 1;
  w->returning++;
  worker_answer(w, self, mail);
  dpt__unlock(&w->lock);
  return 0;
}

void dpt__worker_begin(dpt__worker *worker) {
  self = worker;
  dpt__counter_worker();
  dpt__runner_add(&worker->runner);
  dpt__local.runner = &worker->runner;
  int threads = dpt__cores() / worker->workers->n;
  dpt_threads_set(threads > 1 ? threads : 1);
  pthread_sigmask(SIG_SETMASK, &worker->workers->signals, NULL);
}

/* Answers a job whose worker has ended with the reason; the job's own mail carries the answer. */
static void worker_answer_lost(dpt_workers *w, dpt__worker *worker, dpt__mail *mail)
    DPT__REQUIRES(w->lock) {
  dpt__mail_release(mail);
  mail->head.bytes = worker->why;
  mail->head.size = (int64_t)strlen(worker->why);
  mail->head.ended = 1;
  worker_answer(w, worker, mail);
}

void dpt__worker_end(dpt__worker *worker, const char *why) {
  dpt_workers *w = worker->workers;
  snprintf(worker->why, sizeof worker->why, "%s", why ? why : "it was ended by its pool");
  dpt__lock(&w->lock);
  worker->state = DPT__WORKER_DEAD;
  w->alive--;
  worker_set_idle(w, worker);
  if (worker->owes) {
    *worker->last_words = (dpt__mail){.head = {.tag = worker->tag}};
    worker_answer_lost(w, worker, worker->last_words);
    worker->last_words = NULL;
    worker->owes = 0;
  }
  for (dpt__mail *mail; (mail = dpt__mails_take(&worker->own));)
    worker_answer_lost(w, worker, mail);
  for (dpt__mail *mail; !w->alive && (mail = dpt__mails_take(&w->shared));)
    worker_answer_lost(w, worker, mail);
  dpt__unlock(&w->lock);
  self = NULL;
}

void dpt__worker_gone(dpt__worker *worker) {
  dpt__runner_remove(&worker->runner);
  dpt__counter_worker_end();
  dpt__workers_release(worker->workers);
}
