/* queue.c: queues of mail, shared by several Lua states. */
#include "worker/worker.h"

#include <stdlib.h>

typedef struct {
  dpt__mutex lock;
  pthread_cond_t changed; /* signalled when mail is put or taken */
  int64_t size;           /* maximum number of mails */
  int share;              /* 1: tensors are shared, not copied */
  dpt__mails mails DPT__GUARDED_BY(lock);
} queue;

/* Frees a queue without its lock: the last reference is gone. */
static void queue_end(void *content) DPT__UNPROVED {
  queue *q = content;
  dpt__mails_drop(&q->mails);
  dpt__mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->changed);
  free(q);
}

int dpt_queue_new(dpt_shared **shared, int64_t size, int share) {
  if (size < 1) return dpt__fail("Queue: got the size %lld, wanted 1 or more", (long long)size);
  queue *q = calloc(1, sizeof *q);
  if (q) {
    dpt__mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->size = size;
    q->share = share;
  }
  return dpt__shared_new(shared, DPT_QUEUE, q, queue_end);
}

int dpt_queue_put(dpt_shared *shared, const void *bytes, int64_t size,
                  const dpt_reference *references, int count) {
  queue *q = dpt__shared_content(shared);
  dpt__mail *mail = dpt__mail_new("Queue", bytes, size, references, count);
  if (!mail) return 1;
  dpt__lock(&q->lock);
  while (q->mails.length >= q->size) dpt__cond_wait(&q->changed, &q->lock);
  dpt__mails_put(&q->mails, mail);
  pthread_cond_broadcast(&q->changed);
  dpt__unlock(&q->lock);
  return 0;
}

dpt_mail *dpt_queue_take(dpt_shared *shared) {
  queue *q = dpt__shared_content(shared);
  dpt__mail *mail;
  dpt__lock(&q->lock);
  while (!(mail = dpt__mails_take(&q->mails))) dpt__cond_wait(&q->changed, &q->lock);
  pthread_cond_broadcast(&q->changed);
  dpt__unlock(&q->lock);
  return &mail->head;
}

void dpt_queue_about(dpt_shared *shared, int64_t *about) {
  queue *q = dpt__shared_content(shared);
  dpt__lock(&q->lock);
  about[0] = q->size;
  about[1] = q->share;
  about[2] = q->mails.length;
  dpt__unlock(&q->lock);
}
