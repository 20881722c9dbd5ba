/* storage_spec.c: tests storages in host, page-locked and device memory: reference counts,
 * resizing, copies between devices, and frees by a thread other than the one that allocated. */
#include "device/storage.h"

#include "device/copy.h"
#include "device/device.h"

#include "check.h"

#include <pthread.h>

static void host_memory(void) {
  dpt_storage *s = NULL;
  int64_t before = dpt_host_live_bytes();
  OK(dpt_storage_new(&s, DPT_I16, 100));
  CHECK(dpt_storage_size(s) == 100 && dpt_storage_kind(s) == DPT_I16 && !dpt_storage_device(s));
  CHECK((uintptr_t)dpt_storage_data(s) % 64 == 0 && !dpt_storage_pinned(s));
  CHECK(dpt_host_live_bytes() == before + 200);
  int16_t *p = dpt_storage_data(s);
  for (int i = 0; i < 100; i++) p[i] = (int16_t)i;
  OK(dpt_storage_resize(s, 1000));
  p = dpt_storage_data(s);
  CHECK(p[0] == 0 && p[99] == 99 && dpt_host_live_bytes() == before + 2000);
  OK(dpt_storage_resize(s, 10));
  p = dpt_storage_data(s);
  CHECK(p[9] == 9 && dpt_host_live_bytes() == before + 20);
  FAILS(dpt_storage_resize(s, -1), "got a size of -1");
  FAILS(dpt_storage_resize(s, INT64_MAX / 2), "wanted 0 to");
  OK(dpt_fault_set("malloc:1"));
  FAILS(dpt_storage_resize(s, 20), "no host memory");
  CHECK(dpt_storage_size(s) == 10 && ((int16_t *)dpt_storage_data(s))[9] == 9);
  dpt_storage_retain(s);
  dpt_storage_release(s);
  OK(dpt_storage_resize(s, 0));
  OK(dpt_storage_resize(s, 5));
  dpt_storage_retain(s); /* another tensor may refer to all of it */
  p = dpt_storage_data(s);
  OK(dpt_storage_resize(s, 1));
  p[4] = 44;
  CHECK(dpt_storage_size(s) == 1 && dpt_storage_data(s) == p);
  OK(dpt_storage_resize(s, 5));
  CHECK(((int16_t *)dpt_storage_data(s))[4] == 44 && dpt_host_live_bytes() == before + 10);
  dpt_storage_release(s);
  dpt_storage_release(s);
  dpt_storage_release(NULL);
  CHECK(dpt_host_live_bytes() == before);
}

static void pinned_memory(void) {
  dpt_storage *s = NULL;
  FAILS(dpt_storage_new_pinned(&s, DPT_F32 | DPT_ON_DEVICE, 10), "torch.CudaTensor");
  OK(dpt_storage_new_pinned(&s, DPT_F32, 10));
  CHECK(dpt_storage_pinned(s) && !dpt_storage_device(s) && dpt_storage_data(s));
  ((float *)dpt_storage_data(s))[9] = 7;
  /* While a stream uses its memory, it is not reused. */
  OK(dpt_stream_sleep(20));
  OK(dpt__block_use(s->block, dpt__current_stream(1)));
  void *data = dpt_storage_data(s);
  dpt_storage_release(s);
  OK(dpt_storage_new_pinned(&s, DPT_F32, 10));
  CHECK(dpt_storage_data(s) != data);
  OK(dpt_storage_resize(s, 20));
  dpt_storage_release(s);
  OK(dpt_device_synchronize(-1));
}

/* Tests memory that dpt did not allocate: from a pointer, a file, or a shared memory object. */
static void mapped_memory(void) {
  static const char name[] = "/dpt_storage_spec";
  float memory[4] = {1, 2, 3, 4};
  dpt_storage *s = NULL, *view = NULL, *again = NULL;
  int64_t before = dpt_host_live_bytes();
  OK(dpt_storage_over(&s, DPT_F32, memory, 4));
  CHECK(dpt_storage_data(s) == memory && dpt_storage_size(s) == 4);
  FAILS(dpt_storage_resize(s, 5), "fixed at 4");
  dpt_storage_release(s);
  CHECK(memory[3] == 4);
  FAILS(dpt_storage_over(&s, DPT_F32, NULL, 4), "wanted one of 16 bytes");
  OK(dpt_storage_over(&s, DPT_F32, NULL, 0));
  dpt_storage_release(s);
  FAILS(dpt_storage_map(&s, DPT_F32, name, 0, 1, -1), "cannot open");
  OK(dpt_storage_map(&s, DPT_F32, name, 1, 1, 10));
  CHECK(dpt_storage_size(s) == 10);
  OK(dpt_fault_set("malloc:1"));
  FAILS(dpt_storage_map(&again, DPT_F32, name, 1, 1, INT64_MAX / 2), "wanted 0 to");
  OK(dpt_fault_set(""));
  ((float *)dpt_storage_data(s))[9] = 7;
  OK(dpt_storage_view(&view, s, 9, 1));
  dpt_storage_release(s);
  OK(dpt_storage_map(&again, DPT_F32, name, 0, 1, -1));
  CHECK(dpt_storage_size(again) == 10 && ((float *)dpt_storage_data(again))[9] == 7);
  dpt_storage_release(again);
  CHECK(*(float *)dpt_storage_data(view) == 7);
  dpt_storage_release(view);
  FAILS(dpt_storage_map(&s, DPT_F32, name, 0, 1, -1), "cannot open");
  CHECK(dpt_host_live_bytes() == before);
}

static void device_memory(void) {
  dpt_storage *a = NULL, *b = NULL;
  float values[1000];
  for (int i = 0; i < 1000; i++) values[i] = (float)i;
  OK(dpt__storage_new_on(&a, DPT_F32 | DPT_ON_DEVICE, 1000, 2));
  OK(dpt__storage_new_on(&b, DPT_F32 | DPT_ON_DEVICE, 1000, 1));
  FAILS(dpt__storage_new_on(&b, DPT_F32 | DPT_ON_DEVICE, 1000, 3), "no device 3, wanted 1 to 2");
  CHECK(dpt_storage_device(a) == 2 && dpt_storage_device(b) == 1);
  uint64_t copied = dpt_copied_bytes();
  dpt__stream *stream = dpt__current_stream(2);
  OK(dpt__copy_on(stream, "copy", a->data, a, values, NULL, sizeof values));
  OK(dpt_storage_resize(a, 5000));
  CHECK(dpt_copied_bytes() == copied);
  OK(dpt__copy_between("copy", b, 0, a, 400, 3600));
  CHECK(dpt_copied_bytes() == copied + 3600);
  OK(dpt__stream_synchronize(dpt__current_stream(1)));
  float *p = dpt_storage_data(b);
  CHECK(p[0] == 100 && p[899] == 999);
  dpt_storage_release(a);

  /* An injected fault of a copy raises once, at the wait; then copies work again. */
  OK(dpt__storage_new_on(&a, DPT_F32 | DPT_ON_DEVICE, 1000, 2));
  OK(dpt_fault_set("copy:2"));
  for (int i = 0; i < 3; i++) OK(dpt__copy_between("copy", a, 0, b, 0, 4000));
  FAILS(dpt_device_synchronize(-1), "DPT_FAULT");
  OK(dpt_device_synchronize(-1));

  /* A slow link delays its copy without using the CPU, and delays nothing else. */
  static const char *const links[] = {"40KB/s", "4KB/s", "400B/s", "40B/s"};
  int done = 1;
  for (int i = 0; i < 4 && done;
       i++) { /* if the machine was slower than the link, tries a slower one */
    dpt_event event;
    OK(dpt_link_set(links[i]));
    int64_t start = dpt__now();
    OK(dpt__copy_between("copy", a, 0, b, 0, 4000));
    OK(dpt_event_record(&event, 2, 0));
    OK(dpt_event_query(&event, &done));
    OK(dpt__stream_synchronize(dpt__current_stream(2)));
    CHECK(dpt__now() - start >= 100000000);
  }
  CHECK(!done);
  OK(dpt_link_set("40KB/s"));

  /* Later work on the sender's stream waits for the copy. */
  float zeros[1000] = {0};
  OK(dpt__copy_on(dpt__current_stream(1), "copy", b->data, b, values, NULL, 4000));
  OK(dpt__copy_between("copy", a, 0, b, 0, 4000));
  OK(dpt__copy_on(dpt__current_stream(1), "copy", b->data, b, zeros, NULL, 4000));
  OK(dpt__copy_on(dpt__current_stream(2), "copy", values, NULL, a->data, a, 4000));
  OK(dpt_device_synchronize(-1));
  CHECK(values[999] == 999);
  OK(dpt_link_set(""));
  dpt_storage_release(a);
  dpt_storage_release(b);
}

static void *release(void *arg) {
  dpt_storage **list = arg;
  for (int i = 0; i < 100; i++) dpt_storage_release(list[i]);
  return NULL;
}

static void other_threads_release(void) {
  static dpt_storage *list[3][100];
  dpt_memory_stats before, after;
  OK(dpt_memory_stats_get(1, &before));
  int64_t host = dpt_host_live_bytes();
  for (int i = 0; i < 100; i++) {
    OK(dpt_storage_new(&list[0][i], DPT_F32 | DPT_ON_DEVICE, 1000));
    OK(dpt_storage_new(&list[1][i], DPT_F32, 1000));
    OK(dpt_storage_new_pinned(&list[2][i], DPT_F32, 1000));
    OK(dpt_storage_resize(list[0][i], 2000));
  }
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, release, list[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  OK(dpt_memory_stats_get(1, &after));
  CHECK(after.live == before.live && dpt_host_live_bytes() == host);
}

static dpt_storage *shared;

static void *use_shared(void *stream) {
  for (int i = 0; i < 1000; i++) {
    dpt_storage_retain(shared);
    dpt_stream_set(1, 1 + (i + *(int *)stream) % 2);
    dpt__block_use(shared->block, dpt__current_stream(1));
    dpt_storage_release(shared);
  }
  return NULL;
}

/* ThreadSanitizer reports a reference count or user list that is not synchronized. */
static void two_threads_use_one(void) {
  dpt_memory_stats before, after;
  pthread_t threads[2];
  int streams[2] = {0, 1};
  OK(dpt_stream_reserve(2, 0));
  OK(dpt_memory_stats_get(1, &before));
  OK(dpt_storage_new(&shared, DPT_F32 | DPT_ON_DEVICE, 1000));
  for (int i = 0; i < 2; i++) CHECK(!pthread_create(&threads[i], NULL, use_shared, &streams[i]));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(shared->block->nuser == 2);
  dpt_storage_release(shared);
  OK(dpt_memory_stats_get(1, &after));
  CHECK(after.live == before.live);
}

static void tells_when_to_collect(void) {
  CHECK(!dpt_collect_due(DPT_F32, 1000));
  CHECK(dpt_collect_due(DPT_F32, 100 << 20));
  CHECK(dpt_collect_due(DPT_F32, 0)); /* until the thread has collected */
  dpt_collect_done(300 << 20);
  CHECK(!dpt_collect_due(DPT_F32, 100 << 20)); /* a large heap is collected less often */
  CHECK(dpt_collect_due(DPT_F32, 200 << 20));
  dpt_collect_done(0);
  CHECK(!dpt_collect_due(DPT_F32, 1000));
  OK(dpt_memory_limit_set(1, 10000));
  CHECK(dpt_collect_due(DPT_F32 | DPT_ON_DEVICE, 3000));
  CHECK(!dpt_collect_due(DPT_F32 | DPT_ON_DEVICE, 100));
  OK(dpt_memory_limit_set(1, 0));
  dpt_storage *s = NULL;
  OK(dpt_storage_new(&s, DPT_U8, 300 << 20));
  CHECK(dpt_collect_due(DPT_F32, 0));
  dpt_collect_done(0);
  CHECK(!dpt_collect_due(DPT_F32, 10 << 20));
  CHECK(dpt_collect_due(DPT_U8, 400 << 20));
  dpt_storage_release(s);
  dpt_collect_done(0);
}

static void *litter(void *storage) {
  OK(dpt_storage_new(storage, DPT_U8, 300 << 20));
  dpt_collect_done(0);
  return NULL;
}

/* Collects twice at its own limit, then reaches the soft limit. */
static void *takes_alone(void *arg) {
  dpt_storage *s[3];
  dpt_collect_done(0);
  for (int i = 0; i < 3; i++) {
    OK(dpt_storage_new(&s[i], DPT_U8, 200 << 20));
    dpt_collect_done(0);
  }
  CHECK(dpt_collect_due(DPT_U8, 200 << 20));
  for (int i = 0; i < 3; i++) dpt_storage_release(s[i]);
  return NULL;
}

/* Garbage of an idle thread raises the soft limit, but not what another thread may hold. */
static void bounds_each_thread(void) {
  dpt_storage *own, *other;
  pthread_t thread;
  OK(dpt_storage_new(&own, DPT_U8, 200 << 20));
  CHECK(!pthread_create(&thread, NULL, litter, &other));
  pthread_join(thread, NULL);
  CHECK(!dpt_collect_due(DPT_U8, 50 << 20));
  CHECK(dpt_collect_due(DPT_U8, 100 << 20));
  dpt_collect_done(0);
  CHECK(!dpt_collect_due(DPT_U8, 200 << 20));
  CHECK(!pthread_create(&thread, NULL, takes_alone, NULL));
  pthread_join(thread, NULL);
  CHECK(dpt_collect_due(DPT_U8, 0)); /* the other thread has not raised this thread's soft limit */
  dpt_collect_done(0);
  dpt_storage_release(own);
  dpt_storage_release(other);
  dpt_collect_done(0);
}

int main(void) {
  OK(dpt_devices_set("host:2"));
  host_memory();
  pinned_memory();
  mapped_memory();
  device_memory();
  other_threads_release();
  two_threads_use_one();
  tells_when_to_collect();
  bounds_each_thread();
  return check_end();
}
