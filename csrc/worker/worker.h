/* worker.h: OS threads with one Lua state each, and the mail between them and the state that
 * created them.
 *
 * Invariant: a Lua state is only ever entered by its own thread. States share nothing but mail:
 * bytes, and reference-counted objects (storages, locks), to which a mail holds references until it
 * is freed. Every mail that is sent is answered exactly once; if the worker dies, the answer is its
 * error message. Starting counts as a worker's first job, which no caller sends.
 *
 * Locks: workers->lock guards queues and states; nothing but counters is called while it is held.
 */
#ifndef DPT_WORKER_WORKER_H
#define DPT_WORKER_WORKER_H
#include "base/lock.h"
#include "base/status.h"
#include "device/counter.h"
#include "device/shutdown.h"
#include <signal.h>

typedef struct dpt__mail {
  dpt_mail head; /* the part that Lua sees; bytes points past the references */
  struct dpt__mail *next;
  int count;
  dpt_reference references[];
} dpt__mail;

typedef struct dpt__mails {
  dpt__mail *first, *last;
  int64_t length;
} dpt__mails;

/* mail.c. Returns NULL with an error message if there is no memory. fn: the caller's name for that
 * message. */
dpt__mail *dpt__mail_new(const char *fn, const void *bytes, int64_t size,
                         const dpt_reference *references, int count);
/* Releases the objects that the mail refers to. */
void dpt__mail_release(dpt__mail *mail);
void dpt__mails_put(dpt__mails *mails, dpt__mail *mail);
dpt__mail *dpt__mails_take(dpt__mails *mails); /* NULL: empty */
void dpt__mails_drop(dpt__mails *mails);

typedef struct dpt__worker {
  dpt_workers *workers;
  int number;  /* from 1 */
  int state;   /* enum dpt__worker_state; this and the next two: under workers->lock */
  int owes;    /* 1: has a job that is not yet answered */
  int returns; /* 1: has answered, and has not yet asked for the next job */
  int64_t tag;
  dpt__mails own; /* jobs for this worker only */
  dpt__counter wake;
  dpt__spin_history spin_history;
  pthread_t thread;
  dpt__runner runner;
  char why[1024];        /* why it ended */
  dpt__mail *last_words; /* an answer allocated in advance, for when the worker dies */
} dpt__worker;

enum dpt__worker_state { DPT__WORKER_DEAD, DPT__WORKER_BUSY, DPT__WORKER_IDLE };

struct dpt_workers {
  atomic_int references; /* the owner's and the threads' */
  int forks;             /* count of forks when it was made: a child of fork has no threads */
  int n;
  char *boot; /* the Lua program that every worker runs */
  size_t boot_size;
  sigset_t signals; /* signals that the owner blocks; the workers block them too */
  dpt__mutex lock;
  dpt__mails shared DPT__GUARDED_BY(lock), answers DPT__GUARDED_BY(lock);
  dpt__counter answered;          /* answers so far */
  uint64_t taken;                 /* answers that the owner has taken; used by the owner only */
  dpt__spin_history spin_history; /* used by the owner only */
  uint64_t sent;                  /* jobs sent, including the starts; used by the owner only */
  int started;                    /* threads neither joined nor detached; used by the owner only */
  int closing DPT__GUARDED_BY(lock), alive DPT__GUARDED_BY(lock);
  int returning DPT__GUARDED_BY(
      lock); /* workers that have answered and are about to ask for a job: none has to be woken */
  int idle_count DPT__GUARDED_BY(lock);
  int *idle DPT__PT_GUARDED_BY(lock); /* a stack of worker numbers */
  dpt__worker worker[];
};

/* state.c: the body of a worker's thread; arg is its dpt__worker. */
void *dpt__worker_run(void *arg);
/* worker.c: the first and last calls of a worker's thread. why: an error message, NULL if the
 * worker was asked to end. Each thread and the owner hold one reference to the set. */
void dpt__worker_begin(dpt__worker *worker);
void dpt__worker_end(dpt__worker *worker, const char *why); /* its Lua state still exists */
void dpt__worker_gone(dpt__worker *worker);
void dpt__workers_release(dpt_workers *w); /* drops such a reference */

/* shared.c: makes an object of that kind. If `end` is not NULL, it frees the content when the
 * object is freed, and if this function fails; content NULL then means that its allocation failed,
 * which is an error. */
int dpt__shared_new(dpt_shared **shared, int kind, void *content, void (*end)(void *content));
void *dpt__shared_content(const dpt_shared *shared);

#endif
