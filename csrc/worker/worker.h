/* worker.h: OS threads with a Lua state each, and the mail between them and the state that made
 * them.
 *
 * Invariant: a Lua state is only ever entered by its own thread; states share nothing but mail:
 * bytes, and counted objects (storages, locks) to which a mail holds references until it is freed.
 * Every mail that is sent is answered exactly once: if a worker dies, by the message why.
 * Starting counts as a worker's first job, which nobody sends.
 *
 * Locks: workers->lock guards queues and states; nothing is called under it but counters.
 */
#ifndef DPT_WORKER_WORKER_H
#define DPT_WORKER_WORKER_H
#include "base/lock.h"
#include "base/status.h"
#include "device/counter.h"
#include "device/shutdown.h"
#include <signal.h>

typedef struct dpt__mail {
  dpt_mail head; /* what Lua sees; bytes points behind the references */
  struct dpt__mail *next;
  int count;
  dpt_reference references[];
} dpt__mail;

typedef struct dpt__mails {
  dpt__mail *first, *last;
  int64_t length;
} dpt__mails;

/* mail.c. For fn; NULL: there is no memory, and the status is set. */
dpt__mail *dpt__mail_new(const char *fn, const void *bytes, int64_t size,
                         const dpt_reference *references, int count);
/* Releases what the mail refers to. */
void dpt__mail_let_go(dpt__mail *mail);
void dpt__mails_put(dpt__mails *mails, dpt__mail *mail);
dpt__mail *dpt__mails_take(dpt__mails *mails); /* NULL: there is none */
void dpt__mails_drop(dpt__mails *mails);

typedef struct dpt__worker {
  dpt_workers *workers;
  int number;  /* from 1 */
  int state;   /* enum dpt__worker_state; these three under workers->lock */
  int owes;    /* has a job that is not answered */
  int returns; /* has answered and not come back yet */
  int64_t tag;
  dpt__mails own; /* jobs for this one alone */
  dpt__counter wake;
  dpt__wary wary;
  pthread_t thread;
  dpt__runner runner;
  char why[1024];        /* it ended */
  dpt__mail *last_words; /* an answer that needs no new memory */
} dpt__worker;

enum dpt__worker_state { DPT__WORKER_DEAD, DPT__WORKER_BUSY, DPT__WORKER_IDLE };

struct dpt_workers {
  atomic_int references; /* the owner's and the threads' */
  int forks;             /* when it was made: a child of fork has no threads */
  int n;
  char *boot; /* the Lua program that every worker runs */
  size_t boot_size;
  sigset_t signals; /* that the owner blocks: so do the workers */
  dpt__mutex lock;
  dpt__mails shared DPT__GUARDED_BY(lock), answers DPT__GUARDED_BY(lock);
  dpt__counter answered; /* answers so far */
  uint64_t taken;        /* of those, by the owner; the owner's */
  dpt__wary wary;        /* the owner's */
  uint64_t sent;         /* jobs, with the first ones; the owner's */
  int started;           /* threads that are neither joined nor let go; the owner's */
  int closing DPT__GUARDED_BY(lock), alive DPT__GUARDED_BY(lock);
  int returning DPT__GUARDED_BY(
      lock); /* workers that have answered and come back for a job: nobody need be woken */
  int idle_count DPT__GUARDED_BY(lock);
  int *idle DPT__PT_GUARDED_BY(lock); /* a stack of numbers */
  dpt__worker worker[];
};

/* state.c: the thread's body; arg is its dpt__worker. */
void *dpt__worker_run(void *arg);
/* worker.c, for the thread of a worker: its first and last calls. why: a message, NULL if it was
 * asked to end. Each thread and the owner hold one reference to the set. */
void dpt__worker_begin(dpt__worker *worker);
void dpt__worker_end(dpt__worker *worker, const char *why); /* its state is there still */
void dpt__worker_gone(dpt__worker *worker);
void dpt__workers_release(dpt_workers *w); /* gives such a reference back */

/* shared.c: makes an object of that kind. `end`, if it is not NULL, frees the content when the
 * object ends or this fails; content NULL then means that there was no memory for it: a failure. */
int dpt__shared_new(dpt_shared **shared, int kind, void *content, void (*end)(void *content));
void *dpt__shared_content(const dpt_shared *shared);

#endif
