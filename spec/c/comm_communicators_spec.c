/* comm_communicators_spec.c: tests the transport that uses a backend's library, and the watchdog
 * for it, with a fake library on host devices that can hang, fail or be absent.
 *
 * Invariant: two threads are never in the library at once. Under ThreadSanitizer, missing
 * synchronization between streams is a race on the tensors' memory.
 */
#include "comm/comm.h"
#include "comm/communicators.h"
#include "device/collectives.h"
#include "device/device.h"

#include "check.h"

#include <pthread.h>

enum { DEVICES = 4, THREADS = 3, F32 = DPT_F32 | DPT_ON_DEVICE };

/* ---- the library ---- */

typedef struct joined {
  int n, pending;
} joined;

static atomic_int inside, aborts, left, issued, hang_at, fail_at, absent;

static void enter(void) { CHECK(atomic_fetch_add(&inside, 1) == 0); }
static void leave(void) { atomic_fetch_sub(&inside, 1); }

static int library_open(void) {
  return absent ? dpt__fail("the library was tried as /a and as /b") : 0;
}

static int library_new_id(void *id) {
  memset(id, 7, DPT__COLLECTIVES_ID);
  return 0;
}

static int library_join(const void *id, int ranks, int first, int n, const int *unit, void **out) {
  enter();
  CHECK(*(const char *)id == 7 && ranks == n && !first);
  joined *g = calloc(1, sizeof *g);
  for (int i = 1; i < n; i++) CHECK(unit[i] > unit[i - 1]);
  *g = (joined){n, 3};
  *out = g; /* never freed: queued work may use it */
  leave();
  return 0;
}

static int library_state(void *communicator, int *ready) {
  joined *g = communicator;
  enter();
  *ready = !g->pending;
  if (g->pending > 0) g->pending--;
  leave();
  return 0;
}

static void compute(int n, const dpt__collective_call *c, const dpt__buffers *p) {
  size_t count = (size_t)c->count, bytes = count;
  if (c->what == DPT__BROADCAST) {
    for (int i = 0; i < n; i++) memmove(p[i].to, p[c->root].from, bytes);
  } else if (c->what == DPT__ALL_GATHER) {
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) memmove((char *)p[i].to + (size_t)k * bytes, p[k].from, bytes);
  } else {
    size_t all = c->what == DPT__REDUCE_SCATTER ? count * (size_t)n : count;
    float *sum = calloc(all, sizeof *sum);
    for (int i = 0; i < n; i++)
      for (size_t e = 0; e < all; e++) sum[e] += ((const float *)p[i].from)[e];
    for (int i = 0; i < n; i++)
      if (c->what != DPT__REDUCE || i == c->root)
        memcpy(p[i].to, sum + (all > count ? (size_t)i * count : 0), count * sizeof *sum);
    free(sum);
  }
}

static int library_issue(void *communicator, void *const *queues, int n,
                         const dpt__collective_call *call, const dpt__buffers *buffers) {
  joined *g = communicator;
  int number = ++issued;
  enter();
  CHECK(!g->pending);
  g->pending = 2;
  for (int i = 0; i < n && number != fail_at; i++) compute(g->n, &call[i], buffers + i * g->n);
  leave();
  return number == fail_at ? dpt__fail("a cable was pulled") : 0;
}

static int never; /* pending of a group that hangs */

static int library_record(void *communicator, void *const *queues, void **pending) {
  *pending = issued == hang_at ? &never : malloc(1);
  return 0;
}

static int library_query(void *pending, int *over) {
  *over = pending != &never;
  if (*over) free(pending);
  return 0;
}

static void library_leave(void *communicator) {
  enter();
  left++;
  free(communicator);
  leave();
}

static void library_abort(void) {
  enter();
  aborts++;
  leave();
}

static const dpt__collectives library = {
    "LIB",         library_open,   library_new_id, library_join,  library_state,
    library_issue, library_record, library_query,  library_leave, library_abort};

/* ---- tests ---- */

static dpt_tensor tensor(int device, int64_t n, double value) {
  dpt_tensor t;
  OK(dpt_device_set(device));
  OK(dpt_tensor_new(&t, F32, 1, &n));
  OK(dpt_fill(&t, value));
  return t;
}

static int holds(const dpt_tensor *t, int64_t first, int64_t last, double value) {
  double x = -1, y = -1;
  OK(dpt_get(t, first, &x));
  OK(dpt_get(t, last, &y));
  return x == value && y == value;
}

/* Tests every collective over devices first to last, as one of several threads. */
static void collect(int first, int last, int64_t size) {
  int n = last - first + 1;
  dpt_tensor t[DEVICES], whole[DEVICES], cut[DEVICES];
  dpt_tensor *to[DEVICES], *all[DEVICES], *part[DEVICES];
  const dpt_tensor *from[DEVICES];
  int64_t sum = 0;
  for (int i = 0; i < n; i++) {
    t[i] = tensor(first + i, size, i + 1);
    whole[i] = tensor(first + i, n * size, 0);
    cut[i] = tensor(first + i, size, 0);
    to[n - 1 - i] = &t[i]; /* in another order than the ranks */
    from[n - 1 - i] = &t[i];
    all[n - 1 - i] = &whole[i];
    part[n - 1 - i] = &cut[i];
    sum += i + 1;
  }
  OK(dpt_comm_all_gather(n, all, from));
  OK(dpt_comm_reduce_scatter(n, part, (const dpt_tensor *const *)all));
  OK(dpt_comm_all_reduce(n, to, from));
  if (n > 1) OK(dpt_comm_reduce(1, to, n - 1, to + 1, 1, 1));
  if (n > 1) OK(dpt_comm_broadcast(1, (const dpt_tensor *const *)to, n - 1, to + 1));
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) CHECK(holds(all[i], k * size, (k + 1) * size - 1, n - k));
    CHECK(holds(part[i], 0, size - 1, n * (n - i)));
    CHECK(holds(to[i], 0, size - 1, (double)(sum * n)));
  }
  for (int i = 0; i < n; i++) {
    dpt_tensor_free(&t[i]);
    dpt_tensor_free(&whole[i]);
    dpt_tensor_free(&cut[i]);
  }
}

static void *collect_some(void *arg) {
  uint64_t state = *(uint64_t *)arg;
  for (int round = 0; round < torture(300); round++) {
    int first = 1 + (int)draw(&state, DEVICES);
    int last = first + (int)draw(&state, (uint64_t)(DEVICES - first + 1));
    collect(first, last, 1 + (int64_t)draw(&state, 3000));
  }
  return NULL;
}

static void computes(uint64_t seed) {
  pthread_t threads[THREADS];
  uint64_t state[THREADS];
  int before = issued;
  OK(dpt_comm_use("nccl"));
  CHECK(!strcmp(dpt_comm_transport(), "nccl"));
  for (int i = 0; i < THREADS; i++) {
    state[i] = seed + (uint64_t)i;
    CHECK(pthread_create(&threads[i], NULL, collect_some, &state[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(dpt_device_synchronize(-1));
  CHECK(issued > before + 5);
  CHECK(!aborts);
}

/* After a failure, copies replace the library, one stream raises the error, and a later
 * dpt_comm_use opens the library again. */
static void gives_up(int fails, const char *message) {
  dpt_tensor a = tensor(1, 9, 1), b = tensor(2, 9, 2), *both[] = {&a, &b};
  const dpt_tensor *const *from = (const dpt_tensor *const *)both;
  int raised = 0, before = aborts;
  OK(dpt_comm_use("nccl"));
  OK(dpt_comm_all_reduce(2, both, from));
  OK(dpt_device_synchronize(-1));
  atomic_store(fails ? &fail_at : &hang_at, issued + 1);
  OK(dpt_comm_all_reduce(2, both, from));
  for (int i = 0; i < 6000 && (aborts == before || strcmp(dpt_comm_transport(), "copy")); i++)
    dpt__sleep(10000000);
  CHECK(aborts == before + 1);
  for (int i = 1; i <= DEVICES; i++)
    if (dpt_stream_synchronize(i, 0)) {
      raised++;
      CHECK(strstr(dpt_message(), message) &&
            strstr(dpt_message(), "allReduce: LIB of devices 1, 2"));
    }
  CHECK(raised == 1);
  collect(1, DEVICES, 100);
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
}

static void is_rejected(void) {
  atomic_store(&absent, 1);
  FAILS(dpt_comm_use("nccl"), "NCCL was asked for, but the library was tried as /a and as /b");
  atomic_store(&absent, 0);
  CHECK(!strcmp(dpt_comm_transport(), "copy"));
  OK(dpt_comm_use("nccl"));
}

/* A communicator of several processes, here of one, is joined, used and left, repeatedly. */
static void is_left(void) {
  char id[DPT__COLLECTIVES_ID];
  float from[2] = {1, 2}, to[2];
  dpt__communicator *g;
  OK(dpt__communicators_open());
  for (int i = 0; i < 3; i++) {
    dpt__ongoing ongoing;
    OK(dpt__communicator_new_id(id) || dpt__communicator_join(id, 1, 0, 1, &g));
    to[1] = 0;
    dpt__collective_call call[2] = {{.what = DPT__ALL_REDUCE, .dtype = DPT_F32, .count = 2},
                                    {.what = DPT__ALL_REDUCE, .dtype = DPT_F32, .count = 2}};
    dpt__buffers buffers[2] = {{from, to}, {from, to}};
    OK(dpt__communicator_order_after(g, NULL, &ongoing));
    OK(dpt__communicator_begin(g, NULL, 2, call, buffers, &ongoing));
    dpt__communicator_await_turn(g, &ongoing);
    OK(dpt__communicator_await(g, &ongoing));
    CHECK(to[1] == 2 && left == i);
    dpt__communicator_leave(g);
  }
  CHECK(left == 3);
  OK(dpt__communicator_join(id, 1, 0, 1, &g));
  dpt__communicators_abort();
  dpt__communicator_leave(g); /* aborted before: the library is not called */
  CHECK(left == 3);
}

int main(void) {
  static dpt__backend backend;
  uint64_t seed = check_seed();
  setenv("DPT_TIMEOUT", "0.3", 1);
  OK(dpt_devices_set("host:4"));
  OK(dpt__devices_ready("test"));
  FAILS(dpt_comm_use("nccl"), "host devices have none");
  backend = dpt__host;
  backend.collectives = &library;
  for (int i = 1; i <= DEVICES; i++) dpt__device_at(i)->backend = &backend;
  computes(seed);
  gives_up(0, "did not end within 0.3 s");
  gives_up(1, "a cable was pulled");
  is_rejected();
  is_left();
  return check_end();
}
