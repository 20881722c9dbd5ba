/* system_spec.c: tests clocks, folders and the environment, also while another thread reads it. */
#undef NDEBUG
#include "device/counter.h"
#include "device/timeout.h"
#include "dpt.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int ended;

static void *asks(void *wanted) {
  while (!atomic_load(&ended)) assert(dpt__timeout() == *(const int64_t *)wanted);
  return NULL;
}

/* The watchdog of ranks reads the timeout while MPI, or a script, sets variables. */
static void timeout_is_kept(void) {
  int64_t two = (int64_t)2e9;
  pthread_t thread;
  char name[32];
  assert(dpt_setenv("DPT_TIMEOUT", "2s") == 0 && dpt__timeout_keep() != 0);
  assert(dpt_setenv("DPT_TIMEOUT", "2") == 0 && dpt__timeout_keep() == 0);
  assert(pthread_create(&thread, NULL, asks, &two) == 0);
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "DPT_SYSTEM_SPEC_%d", i);
    assert(dpt_setenv(name, "x") == 0);
  }
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "DPT_SYSTEM_SPEC_%d", i);
    assert(dpt_setenv(name, NULL) == 0);
  }
  atomic_store(&ended, 1);
  pthread_join(thread, NULL);
}

struct queries {
  int count, passes_at, fails_at;
};

static int query(void *data, int *done) {
  struct queries *q = data;
  q->count++;
  *done = q->count == q->passes_at;
  return q->count == q->fails_at;
}

static void poll_is_bounded(void) {
  int done = 1;
  struct queries passes = {0, 3, 0}, fails = {0, 0, 2}, never = {0, 0, 0};
  assert(dpt__poll(query, &passes, &done) == 0 && done && passes.count == 3);
  assert(dpt__poll(query, &fails, &done) == 1 && !done && fails.count == 2);
  int64_t from = dpt__now();
  assert(dpt__poll(query, &never, &done) == 0 && !done);
  assert(never.count > 0 && dpt__now() - from >= 5000000);
  for (int i = 0; i < dpt__cores(); i++) dpt__counter_worker();
  done = 1;
  int before = never.count; /* no core is free */
  assert(dpt__poll(query, &never, &done) == 0 && !done && never.count == before);
  for (int i = 0; i < dpt__cores(); i++) dpt__counter_worker_end();
}

int main(void) {
  double before = dpt_clock(), user, system;
  assert(dpt_clock() >= before && dpt_epoch() > 1.7e9);
  dpt_cpu_time(&user, &system);
  assert(user >= 0 && system >= 0 && dpt_cores() >= 1);

  char folder[] = "/tmp/dpt_system_XXXXXX", path[100];
  assert(mkdtemp(folder));
  assert(dpt_path_kind(folder) == 2 && dpt_path_kind("/nonexistent") == 0);
  for (int i = 0; i < 40; i++) { /* more names than fit in the first buffer */
    snprintf(path, sizeof path, "%s/a rather long name %d", folder, i);
    assert(dpt_folder_make(path) == 0);
  }
  const char *names = dpt_folder_list(folder);
  assert(names && strstr(names, "a rather long name 39/") && strlen(names) > 256);
  for (int i = 0; i < 40; i++) {
    snprintf(path, sizeof path, "%s/a rather long name %d", folder, i);
    assert(dpt_folder_remove(path) == 0);
  }
  assert(strcmp(dpt_folder_list(folder), "./../") == 0 ||
         strcmp(dpt_folder_list(folder), ".././") == 0);
  assert(dpt_folder_make(folder) != 0 && strstr(dpt_message(), folder));
  assert(dpt_folder_remove(folder) == 0 && dpt_folder_remove(folder) != 0);
  assert(dpt_folder_list(folder) == NULL && strstr(dpt_message(), folder));
  assert(dpt_cwd()[0] == '/');

  assert(dpt_setenv("DPT_SYSTEM_SPEC", "x") == 0 && strcmp(getenv("DPT_SYSTEM_SPEC"), "x") == 0);
  assert(dpt_setenv("DPT_SYSTEM_SPEC", NULL) == 0 && !getenv("DPT_SYSTEM_SPEC"));
  assert(dpt_setenv("a=b", "x") != 0);
  assert(strstr(dpt_libraries(), "oneDNN 2."));
  timeout_is_kept();
  poll_is_bounded();
  return 0;
}
