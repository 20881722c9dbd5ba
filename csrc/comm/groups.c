/* groups.c: joins devices, issues collectives, aborts what is stuck (groups.h has the rules).
 *
 * The library is called by one thread at a time, under `lock`, which may be held while NCCL
 * connects devices; so who only looks for a group takes `table` (the inner lock) alone. A batch is
 * a meeting of its streams (device/meeting.h): the thread of the last one issues it for all, waits
 * until the library has put it into their queues, and leaves a ticket behind it. One thread watches
 * over the tickets; it sleeps while there is none.
 */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "comm/groups.h"

#include "comm/comm.h"
#include "device/fault.h"
#include "device/graph.h"
#include "device/meeting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 16, POLL_MS = 20, TEST_SECONDS = 30 };

struct dpt__group {
  dpt__group *next; /* of those that were given up */
  int n;
  int *device; /* (n) */
  void *joined;
  char name[64]; /* "devices 1, 2" */
};

typedef struct watched {
  struct watched *next;
  void *ticket;
  const char *fn;
  const dpt__group *group;
  int64_t until;
  dpt__event item[]; /* (group->n) */
} watched;

enum state { CLOSED, OPEN, ENDING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static pthread_cond_t more;                              /* the list is not empty any more */
static const dpt__collectives *library;
static int watching, testing;
static watched *first, **last = &first; /* oldest first */
static char why[512];                   /* the library was aborted */
static dpt__group *given_up;            /* queued items may still name them, so they stay */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; /* whoever writes these has both */
static enum state state;
static int ngroup;
static dpt__group *groups[GROUPS];

double dpt__groups_limit(void) {
  const char *text = getenv("DPT_NCCL_TIMEOUT");
  double seconds = text ? strtod(text, NULL) : 0;
  if (!(seconds > 0) || seconds > 1e6) seconds = 600;
  return testing && seconds > TEST_SECONDS ? TEST_SECONDS : seconds;
}

void dpt__groups_testing(int on) {
  pthread_mutex_lock(&lock);
  testing = on;
  pthread_mutex_unlock(&lock);
}

static int64_t deadline(void) { return dpt__now() + (int64_t)(dpt__groups_limit() * 1e9); }

/* Under the lock; n: how many groups are left. */
static void set_state(enum state next, int n) {
  pthread_mutex_lock(&table);
  state = next;
  ngroup = n;
  pthread_mutex_unlock(&table);
}

/* ---- when it goes wrong ---- */

/* Under the lock: all streams of an item keep this thread's sentence, as one error. */
static void blame(const watched *w) {
  dpt__stream_keep(w->item[0].stream, w->fn, w->item[0].number);
  for (int i = 1; i < w->group->n; i++)
    dpt__stream_inherit(w->item[i].stream, w->item[i].number, w->item[0]);
}

/* Under the lock, which is given away meanwhile: this thread's sentence says what went wrong. The
 * streams of what has not ended know of it before the abort lets them go on. */
static void give_up(void) {
  watched *w;
  for (int i = 0; i < ngroup; i++) {
    groups[i]->next = given_up;
    given_up = groups[i];
  }
  set_state(ENDING, 0);
  dpt__transport_drop();
  snprintf(why, sizeof why, "%s", dpt_message());
  while ((w = first)) {
    int over = 0;
    if (library->passed(w->ticket, &over) || !over) {
      dpt__say("%s", why);
      blame(w);
    }
    first = w->next;
    free(w);
  }
  last = &first;
  pthread_mutex_unlock(&lock);
  library->abort();
  pthread_mutex_lock(&lock);
  set_state(CLOSED, 0);
  dpt__say("%s", why);
}

/* A sentence about a library that will be given up; what went wrong is this thread's sentence. */
static int fail_for_good(const dpt__group *group) {
  char what[512];
  const char *after =
      testing ? "" : "; it was aborted, and tensors travel between devices by copies from now on";
  snprintf(what, sizeof what, "%s", dpt_message());
  return dpt__fail("%s of %s: %s%s", library->name, group->name, what, after);
}

/* Under the lock: what was begun on the group is done. */
static int settle(const dpt__group *group) {
  int64_t until = deadline(), pause = 1000;
  for (int ready = 0;;) {
    DPT__TRY(library->state(group->joined, &ready));
    if (ready) return 0;
    if (dpt__now() > until) return dpt__fail("it did not begin within %g s", dpt__groups_limit());
    dpt__sleep(pause);
    if (pause < 200000) pause *= 2;
  }
}

/* ---- the watch ---- */

/* Under the lock: whether it is over; 1 and a sentence where something is wrong. */
static int look_at(const watched *w, int *over) {
  int ready;
  *over = 0;
  DPT__TRY(library->passed(w->ticket, over));
  if (*over) return 0;
  DPT__TRY(library->state(w->group->joined, &ready));
  if (dpt__now() < w->until) return 0;
  return dpt__fail("it did not end within %g s", dpt__groups_limit());
}

/* Under the lock: forgets what is over, from the oldest on. */
static int look(void) {
  int over = 1;
  for (watched *w; over && (w = first);) {
    if (look_at(w, &over)) return fail_for_good(w->group);
    if (!over) return 0;
    first = w->next;
    if (!first) last = &first;
    free(w);
  }
  return 0;
}

static void *watch(void *arg) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!first) pthread_cond_wait(&more, &lock);
    if (look()) give_up();
    pthread_mutex_unlock(&lock);
    dpt__sleep((int64_t)POLL_MS * 1000000);
    pthread_mutex_lock(&lock);
  }
  return NULL;
}

/* Under the lock. */
static int start_watch(void) {
  pthread_t thread;
  if (watching) return 0;
  pthread_cond_init(&more, NULL);
  DPT__TRY(dpt__thread_start(&thread, watch, NULL, "the watch over collectives"));
  pthread_detach(thread);
  watching = 1;
  return 0;
}

/* ---- groups ---- */

int dpt__groups_open(void) {
  pthread_mutex_lock(&lock);
  int status = state == ENDING ? dpt__fail("%s is still being aborted", library->name) : 0;
  library = dpt__device_at(1)->backend->collectives;
  if (!status) status = library->open() || start_watch();
  if (!status) set_state(OPEN, ngroup);
  pthread_mutex_unlock(&lock);
  return status;
}

static void name_devices(dpt__group *g) {
  int n = snprintf(g->name, sizeof g->name, "device%s", g->n > 1 ? "s" : "");
  for (int i = 0; i < g->n && n < (int)sizeof g->name - 16; i++)
    n += snprintf(g->name + n, sizeof g->name - (size_t)n, "%s %d", i ? "," : "", g->device[i]);
  if (n >= (int)sizeof g->name - 16) snprintf(g->name, sizeof g->name, "%d devices", g->n);
}

/* Under the lock. */
static int join(int n, const int *device, dpt__group **group) {
  int unit[DPT__MAX_DEVICES];
  dpt__group *g = calloc(1, sizeof *g);
  if (g) g->device = malloc((size_t)n * sizeof *device);
  if (!g || !g->device) {
    free(g);
    return dpt__no_memory("no host memory to join %d devices", n);
  }
  g->n = n;
  memcpy(g->device, device, (size_t)n * sizeof *device);
  name_devices(g);
  for (int i = 0; i < n; i++) unit[i] = dpt__device_at(device[i])->index;
  int status = library->join(n, unit, &g->joined);
  if (status && !g->joined) {
    free(g->device);
    free(g);
    return 1;
  }
  if (status || settle(g)) {
    fail_for_good(g);
    g->next = given_up;
    given_up = g;
    give_up();
    return 1;
  }
  *group = groups[ngroup] = g;
  set_state(OPEN, ngroup + 1);
  return 0;
}

/* Under one of the locks; NULL where these have not been joined. */
static dpt__group *find(int n, const int *device) {
  for (int i = 0; i < ngroup; i++)
    if (groups[i]->n == n && !memcmp(groups[i]->device, device, (size_t)n * sizeof *device))
      return groups[i];
  return NULL;
}

int dpt__group_of(int n, const int *device, dpt__group **group) {
  pthread_mutex_lock(&table);
  *group = find(n, device);
  int more_fit = state == OPEN && ngroup < GROUPS;
  pthread_mutex_unlock(&table);
  if (*group || !more_fit) return 0;
  int status = 0;
  pthread_mutex_lock(&lock);
  *group = find(n, device);
  if (!*group && state == OPEN && ngroup < GROUPS) status = join(n, device, group);
  pthread_mutex_unlock(&lock);
  return status;
}

/* ---- what runs ---- */

/* Under the lock. */
static int begin_to_watch(const char *fn, const dpt__group *g, dpt__stream *const *streams,
                          void *const *queues) {
  watched *w = malloc(sizeof *w + (size_t)g->n * sizeof *w->item);
  if (!w) return dpt__no_memory("no host memory to watch over %s", g->name);
  *w = (watched){.fn = fn, .group = g, .until = deadline()};
  if (library->mark(g->joined, queues, &w->ticket)) {
    free(w);
    return 1;
  }
  /* every stream is in this meeting */
  for (int i = 0; i < g->n; i++) w->item[i] = dpt__event_running(streams[i]);
  if (!first) pthread_cond_signal(&more);
  *last = w;
  last = &w->next;
  return 0;
}

static int is_known(const dpt__group *g) {
  for (int i = 0; i < ngroup; i++)
    if (groups[i] == g) return 1;
  return 0;
}

static int run(dpt__context *context, int n, dpt__stream *const *streams, const void *args) {
  const dpt__batch *b = args;
  const dpt__group *g = b->group;
  const dpt__place *place = (const dpt__place *)b->place;
  void *queues[DPT__MAX_DEVICES];
  for (int i = 0; i < n; i++) queues[i] = streams[i]->queue;
  pthread_mutex_lock(&lock);
  int status = 1;
  if (!is_known(g)) {
    dpt__say("%s", why);
  } else {
    status = library->issue(g->joined, queues, b->calls, b->call, place) || settle(g) ||
             begin_to_watch(context->name, g, streams, queues);
    if (status) {
      fail_for_good(g);
      give_up();
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

/* What DPT_FAULT asks to fail is counted with the copies. */
static int run_failure(dpt__context *context, int n, dpt__stream *const *streams,
                       const void *args) {
  return dpt__fail("%s of %d devices: failed on demand (DPT_FAULT)", library->name, n);
}

int dpt__group_run(const char *fn, dpt__stream *const *streams, const dpt__batch *batch) {
  size_t places = (size_t)batch->calls * (size_t)batch->ranks;
  if (!places) return 0;
  DPT__TRY(dpt__graph_refuses(fn, "a library does it on several devices"));
  return dpt__meet(batch->ranks, streams, dpt__fault(DPT__FAULT_COPY) ? run_failure : run, fn,
                   batch, offsetof(dpt__batch, place) + places * sizeof *batch->place);
}
