/* communicators.c: joins devices, issues collectives, aborts stuck ones.
 *
 * Invariant: one thread at a time calls the library, under `lock`. The lock is held while NCCL
 * connects devices, up to the limit of 600 s. So a thread that only looks up a communicator takes
 * just `table` (the inner lock), and a thread that changes the fields that `table` guards holds
 * both locks. To read these fields, either lock is enough. A batch is a rendezvous of its streams
 * (device/rendezvous.h): the thread of the last one issues it for all, waits until the library has
 * put it into their native streams, and adds it to the pending list. One thread watches over the
 * pending collectives; it sleeps while there is none. The thread that waits for a collective of
 * several processes polls it, and holds `lock` during a query only, because other processes may
 * take long.
 */
#include "comm/communicators.h"

#include "base/lock.h"
#include "comm/comm.h"
#include "device/capture.h"
#include "device/fault.h"
#include "device/rendezvous.h"
#include "device/threads.h"
#include "device/timeout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMUNICATORS = 16, POLL_MS = 20, TEST_SECONDS = 30 };

struct dpt__communicator {
  dpt__communicator *next; /* in the list of those given up, or of those of several processes */
  int n;                   /* devices of this process */
  int *device;             /* (n) */
  void *joined;
  int ended;     /* of several processes: aborted; under `lock` */
  char name[64]; /* "devices 1, 2" */
};

typedef struct watched {
  struct watched *next;
  void *pending;
  const char *fn;
  const dpt__communicator *communicator;
  int64_t until;
  dpt__event item[]; /* (communicator->n) */
} watched;

enum state { CLOSED, OPEN, ENDING };

static dpt__mutex lock = DPT__MUTEX_INIT, table = DPT__MUTEX_INIT;

static pthread_cond_t more; /* signals that the list is no longer empty */
static const dpt__collectives *library DPT__GUARDED_BY(lock);
static int watching DPT__GUARDED_BY(lock);
static atomic_int testing;
static watched *first DPT__GUARDED_BY(lock), **last DPT__GUARDED_BY(lock) = &first; /* by age */
static char why[512] DPT__GUARDED_BY(lock); /* why the library was aborted */
/* kept, since queued items may still refer to them */
static dpt__communicator *given_up DPT__GUARDED_BY(lock);
static dpt__communicator *between DPT__GUARDED_BY(lock);        /* those of several processes */
static dpt__list spare[DPT__MAX_DEVICES] DPT__GUARDED_BY(lock); /* events of a device */

/* clang checks the writers only: it cannot express "either lock" */
static enum state state DPT__GUARDED_BY(lock);
static int ncommunicator DPT__GUARDED_BY(lock);
static dpt__communicator *communicators[COMMUNICATORS] DPT__GUARDED_BY(lock);

double dpt__communicators_limit(void) {
  double seconds = (double)dpt__timeout() * 1e-9;
  return atomic_load(&testing) && seconds > TEST_SECONDS ? TEST_SECONDS : seconds;
}

void dpt__communicators_testing(int on) { atomic_store(&testing, on); }

static int64_t communicators_deadline(void) {
  return dpt__now() + (int64_t)(dpt__communicators_limit() * 1e9);
}

/* Sets the state and the number of communicators left. */
static void communicators_set_state(enum state next, int n) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__lock(&table);
  state = next;
  ncommunicator = n;
  dpt__unlock(&table);
}

static void communicator_add(dpt__communicator *communicator) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__lock(&table);
  communicators[ncommunicator++] = communicator;
  dpt__unlock(&table);
}

/* ---- failures ---- */

/* Makes this thread's error message the error of all streams of an item, as one error. */
static void communicators_watch_blame(const watched *w) {
  dpt__stream_set_error(w->item[0].stream, w->fn, w->item[0].number);
  for (int i = 1; i < w->communicator->n; i++)
    dpt__stream_inherit(w->item[i].stream, w->item[i].number, w->item[0]);
}

/* Aborts the library; this thread's error message has the reason. The lock is not held during the
 * abort. Streams of collectives that have not ended get the error before the abort lets them
 * continue. */
static void communicators_give_up(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  watched *w;
  for (int i = 0; i < ncommunicator; i++) {
    communicators[i]->next = given_up;
    given_up = communicators[i];
  }
  for (dpt__communicator *g = between; g; g = g->next) g->ended = 1;
  communicators_set_state(ENDING, 0);
  atomic_store(&dpt__transport_chosen, &dpt__transport_copy);
  snprintf(why, sizeof why, "%s", dpt_message());
  while ((w = first)) {
    int over = 0;
    if (library->query(w->pending, &over) || !over) {
      dpt__set_message("%s", why);
      communicators_watch_blame(w);
    }
    first = w->next;
    free(w);
  }
  last = &first;
  const dpt__collectives *aborted = library;
  dpt__unlock(&lock);
  aborted->abort();
  dpt__lock(&lock);
  communicators_set_state(CLOSED, 0);
  dpt__set_message("%s", why);
}

/* Fails with a message for a library that will be given up; this thread's message has the
 * reason. */
static int communicators_fail_for_good(const dpt__communicator *communicator) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  char what[512];
  const char *after =
      atomic_load(&testing)
          ? ""
          : "; it was aborted, and tensors travel between devices by copies from now on";
  snprintf(what, sizeof what, "%s", dpt_message());
  return dpt__fail("%s of %s: %s%s", library->name, communicator->name, what, after);
}

/* Waits until the operation begun on the communicator is done. */
static int communicators_wait_until_ready(const dpt__communicator *communicator)
    DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  int64_t until = communicators_deadline(), pause = 1000;
  for (int ready = 0;;) {
    DPT__TRY(library->state(communicator->joined, &ready));
    if (ready) return 0;
    if (dpt__now() > until)
      return dpt__fail("it did not begin within %g s", dpt__communicators_limit());
    dpt__sleep(pause);
    if (pause < 200000) pause *= 2;
  }
}

/* ---- the watch ---- */

/* Sets *over to 1 if the collective is over; returns 1 with an error message if the library failed
 * or the time is up. */
static int communicators_watch_look_at(const watched *w, int *over) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  int ready;
  *over = 0;
  DPT__TRY(library->query(w->pending, over));
  if (*over) return 0;
  DPT__TRY(library->state(w->communicator->joined, &ready));
  if (dpt__now() < w->until) return 0;
  return dpt__fail("it did not end within %g s", dpt__communicators_limit());
}

/* Removes the collectives that are over, from the oldest on. */
static int communicators_watch_look(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  int over = 1;
  for (watched *w; over && (w = first);) {
    if (communicators_watch_look_at(w, &over)) return communicators_fail_for_good(w->communicator);
    if (!over) return 0;
    first = w->next;
    if (!first) last = &first;
    free(w);
  }
  return 0;
}

static void *communicators_watch(void *arg) {
  dpt__lock(&lock);
  for (;;) {
    while (!first) dpt__cond_wait(&more, &lock);
    if (communicators_watch_look()) communicators_give_up();
    dpt__unlock(&lock);
    dpt__sleep((int64_t)POLL_MS * 1000000);
    dpt__lock(&lock);
  }
  return NULL;
}

static int communicators_start_watch(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  pthread_t thread;
  if (watching) return 0;
  pthread_cond_init(&more, NULL);
  DPT__TRY(dpt__thread_start(&thread, communicators_watch, NULL, "the watchdog of collectives"));
  pthread_detach(thread);
  watching = 1;
  return 0;
}

/* ---- communicators ---- */

int dpt__communicators_open(void) {
  dpt__lock(&lock);
  int status = state == ENDING ? dpt__fail("%s is still being aborted", library->name) : 0;
  library = dpt__device_at(1)->backend->collectives;
  if (!status) status = library->open() || communicators_start_watch();
  if (!status) communicators_set_state(OPEN, ncommunicator);
  dpt__unlock(&lock);
  return status;
}

static void communicators_name_devices(dpt__communicator *g) {
  int n = snprintf(g->name, sizeof g->name, "device%s", g->n > 1 ? "s" : "");
  for (int i = 0; i < g->n && n < (int)sizeof g->name - 16; i++)
    n += snprintf(g->name + n, sizeof g->name - (size_t)n, "%s %d", i ? "," : "", g->device[i]);
  if (n >= (int)sizeof g->name - 16) snprintf(g->name, sizeof g->name, "%d devices", g->n);
}

static int communicator_new(int n, const int *device, dpt__communicator **communicator) {
  dpt__communicator *g = calloc(1, sizeof *g);
  if (g) g->device = malloc((size_t)n * sizeof *device);
  if (!g || !g->device) {
    free(g);
    return dpt__no_memory("no host memory for a communicator of %d devices", n);
  }
  g->n = n;
  memcpy(g->device, device, (size_t)n * sizeof *device);
  communicators_name_devices(g);
  *communicator = g;
  return 0;
}

static void communicator_free(dpt__communicator *g) {
  free(g->device);
  free(g);
}

static int communicators_join(int n, const int *device, dpt__communicator **communicator)
    DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  int unit[DPT__MAX_DEVICES];
  char id[DPT__COLLECTIVES_ID];
  dpt__communicator *g;
  DPT__TRY(communicator_new(n, device, &g));
  for (int i = 0; i < n; i++) unit[i] = dpt__device_at(device[i])->index;
  int status = library->new_id(id) || library->join(id, n, 0, n, unit, &g->joined);
  if (status && !g->joined) {
    communicator_free(g);
    return 1;
  }
  if (status || communicators_wait_until_ready(g)) {
    communicators_fail_for_good(g);
    g->next = given_up;
    given_up = g;
    communicators_give_up();
    return 1;
  }
  *communicator = g;
  communicator_add(g);
  return 0;
}

/* Finds a communicator under one of the locks; NULL if these devices have not been joined. */
static dpt__communicator *communicator_find(int n, const int *device) DPT__UNPROVED {
  dpt__assert(dpt__is_held(&lock) || dpt__is_held(&table));
  for (int i = 0; i < ncommunicator; i++)
    if (communicators[i]->n == n &&
        !memcmp(communicators[i]->device, device, (size_t)n * sizeof *device))
      return communicators[i];
  return NULL;
}

/* Finds a communicator under `table` alone; returns true if more may be joined. */
static int communicators_look_up(int n, const int *device,
                                 dpt__communicator **communicator) DPT__UNPROVED {
  dpt__lock(&table);
  *communicator = communicator_find(n, device);
  int more_fit = state == OPEN && ncommunicator < COMMUNICATORS;
  dpt__unlock(&table);
  return more_fit;
}

int dpt__communicator_of(int n, const int *device, dpt__communicator **communicator) {
  int more_fit = communicators_look_up(n, device, communicator);
  if (*communicator || !more_fit) return 0;
  int status = 0;
  dpt__lock(&lock);
  *communicator = communicator_find(n, device);
  if (!*communicator && state == OPEN && ncommunicator < COMMUNICATORS)
    status = communicators_join(n, device, communicator);
  dpt__unlock(&lock);
  return status;
}

/* ---- running collectives ---- */

static int communicators_begin_to_watch(const char *fn, const dpt__communicator *g,
                                        dpt__stream *const *streams, void *const *native)
    DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  watched *w = malloc(sizeof *w + (size_t)g->n * sizeof *w->item);
  if (!w) return dpt__no_memory("no host memory to monitor %s", g->name);
  *w = (watched){.fn = fn, .communicator = g, .until = communicators_deadline()};
  if (library->record(g->joined, native, &w->pending)) {
    free(w);
    return 1;
  }
  /* each of these streams is running its item of this rendezvous */
  for (int i = 0; i < g->n; i++) w->item[i] = dpt__event_running(streams[i]);
  if (!first) pthread_cond_signal(&more);
  *last = w;
  last = &w->next;
  return 0;
}

static int communicators_is_known(const dpt__communicator *g) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  for (int i = 0; i < ncommunicator; i++)
    if (communicators[i] == g) return 1;
  return 0;
}

static int communicators_batch_run(dpt__context *context, int n, dpt__stream *const *streams,
                                   const void *args) {
  const dpt__batch *b = args;
  const dpt__communicator *g = b->communicator;
  const dpt__buffers *buffers = (const dpt__buffers *)b->buffers;
  void *native[DPT__MAX_DEVICES];
  for (int i = 0; i < n; i++) native[i] = streams[i]->native_stream;
  dpt__lock(&lock);
  int status = 1;
  if (!communicators_is_known(g)) {
    dpt__set_message("%s", why);
  } else {
    status = library->issue(g->joined, native, b->calls, b->call, buffers) ||
             communicators_wait_until_ready(g) ||
             communicators_begin_to_watch(context->name, g, streams, native);
    if (status) {
      communicators_fail_for_good(g);
      communicators_give_up();
    }
  }
  dpt__unlock(&lock);
  return status;
}

/* The failure that DPT_FAULT requests; it counts as a copy. */
static int communicators_batch_fail(dpt__context *context, int n, dpt__stream *const *streams,
                                    const void *args) {
  const char *name = streams[0]->backend->collectives->name;
  return dpt__fail("%s of %d devices: failed on demand (DPT_FAULT)", name, n);
}

int dpt__communicator_run(const char *fn, dpt__stream *const *streams, const dpt__batch *batch) {
  size_t nbuffers = (size_t)batch->calls * (size_t)batch->ranks;
  if (!nbuffers) return 0;
  return dpt__stream_rendezvous(
      batch->ranks, streams,
      dpt__fault(DPT__FAULT_COPY) ? communicators_batch_fail : communicators_batch_run, fn, batch,
      offsetof(dpt__batch, buffers) + nbuffers * sizeof *batch->buffers);
}

/* ---- of several processes ---- */

int dpt__communicator_new_id(char id[DPT__COLLECTIVES_ID]) {
  dpt__lock(&lock);
  int status = library->new_id(id);
  dpt__unlock(&lock);
  return status;
}

/* Waits until the calls are in the native stream and, if `pending` is set, done. There is no time
 * limit here: the caller's operation has one, and failures that the library detects are errors. */
static int communicator_await(const dpt__communicator *g, void *pending) {
  enum { LONGEST = 50000 };
  for (int64_t pause = 1000;; pause = pause < LONGEST ? 2 * pause : LONGEST) {
    int over = 0;
    dpt__lock(&lock);
    int status = g->ended ? dpt__fail("%s", why) : library->state(g->joined, &over);
    if (!status && over && pending) status = library->query(pending, &over);
    dpt__unlock(&lock);
    if (status || over) return status;
    dpt__sleep(pause);
  }
}

int dpt__communicator_join(const char *id, int ranks, int rank, int device,
                           dpt__communicator **communicator) {
  dpt__communicator *g;
  DPT__TRY(communicator_new(1, &device, &g));
  dpt__lock(&lock);
  int status = library->join(id, ranks, rank, 1, &dpt__device_at(device)->index, &g->joined);
  g->next = between;
  between = g;
  dpt__unlock(&lock);
  if (status || communicator_await(g, NULL)) {
    dpt__communicator_leave(g);
    return 1;
  }
  *communicator = g;
  return 0;
}

int dpt__communicator_order_after(const dpt__communicator *g, void *native, dpt__ongoing *ongoing) {
  const dpt__device *d = dpt__device_at(g->device[0]);
  *ongoing = (dpt__ongoing){NULL, NULL};
  if (!native) return 0;
  dpt__lock(&lock);
  dpt__list *list = &spare[d->number - 1];
  void *recorded = list->n ? list->item[--list->n] : NULL;
  dpt__unlock(&lock);
  DPT__TRY(d->backend->event_record(d->index, native, &recorded));
  ongoing->before = recorded;
  return 0;
}

static int communicator_issue(dpt__communicator *g, void *native, int n,
                              const dpt__collective_call *call, const dpt__buffers *buffers,
                              dpt__ongoing *ongoing) {
  dpt__lock(&lock);
  int status =
      g->ended ? dpt__fail("%s", why) : library->issue(g->joined, &native, n, call, buffers);
  dpt__unlock(&lock);
  DPT__TRY(status || communicator_await(g, NULL));
  dpt__lock(&lock);
  status = g->ended ? dpt__fail("%s", why) : library->record(g->joined, &native, &ongoing->pending);
  dpt__unlock(&lock);
  return status;
}

/* Fails with a message about the library, for the caller of an operation of ranks. */
static int communicator_fail(const dpt__communicator *g) {
  char what[512];
  snprintf(what, sizeof what, "%s", dpt_message());
  return dpt__fail("%s between ranks: %s", dpt__device_at(g->device[0])->backend->collectives->name,
                   what);
}

int dpt__communicator_begin(dpt__communicator *g, void *native, int n,
                            const dpt__collective_call *call, const dpt__buffers *buffers,
                            dpt__ongoing *ongoing) {
  return communicator_issue(g, native, n, call, buffers, ongoing) ? communicator_fail(g) : 0;
}

void dpt__communicator_await_turn(dpt__communicator *g, dpt__ongoing *ongoing) {
  const dpt__device *d = dpt__device_at(g->device[0]);
  if (!ongoing->before) return;
  (void)d->backend->event_synchronize(ongoing->before); /* a device's failure is found later */
  dpt__lock(&lock);
  (void)dpt__list_add(&spare[d->number - 1], ongoing->before); /* a lost one costs its memory */
  dpt__unlock(&lock);
  ongoing->before = NULL;
}

int dpt__communicator_await(dpt__communicator *g, const dpt__ongoing *ongoing) {
  return communicator_await(g, ongoing->pending) ? communicator_fail(g) : 0;
}

void dpt__communicators_give_up(void) {
  dpt__lock(&lock);
  int lives = 0;
  for (const dpt__communicator *g = between; g; g = g->next) lives |= !g->ended;
  if (lives) communicators_give_up();
  dpt__unlock(&lock);
}

/* Frees a communicator unless it was aborted: the library must not be called for it then, so it is
 * kept. */
void dpt__communicator_leave(dpt__communicator *g) {
  dpt__lock(&lock);
  dpt__communicator **link = &between;
  while (*link != g) link = &(*link)->next;
  if (!g->ended) {
    *link = g->next;
    if (g->joined) library->leave(g->joined);
    communicator_free(g);
  }
  dpt__unlock(&lock);
}

void dpt__communicators_abort(void) {
  dpt__lock(&lock);
  int joined = 0;
  for (dpt__communicator *g = between; g; g = g->next) {
    joined |= !g->ended;
    g->ended = 1;
  }
  if (joined) {
    snprintf(why, sizeof why, "%s was aborted because the job is ending", library->name);
    library->abort();
  }
  dpt__unlock(&lock);
}
