/* allocator_spec.c: tests reuse in stream order, splitting and merging of blocks, limits and frees
 * by other threads, and runs random programs that check that no two live blocks overlap and no
 * block is reused too early.
 */
#include "device/allocator.h"

#include "device/device.h"
#include "device/storage.h"

#include "gate.h"

#include <pthread.h>

static dpt_memory_stats stats(int device) {
  dpt_memory_stats s;
  OK(dpt_memory_stats_get(device, &s));
  return s;
}

static dpt_storage *floats(int64_t size) {
  dpt_storage *s = NULL;
  OK(dpt_storage_new(&s, DPT_F32 | DPT_ON_DEVICE, size));
  return s;
}

/* A block that is freed is reused at once on the stream that allocated it, while work is queued. */
static void reuses_in_stream_order(void) {
  dpt_storage *a = floats(1000);
  void *data = dpt_storage_data(a);
  CHECK((uintptr_t)data % 64 == 0);
  OK(dpt_stream_sleep(30));
  dpt_storage_release(a);
  a = floats(1000);
  CHECK(dpt_storage_data(a) == data);
  dpt_storage_release(a);
  OK(dpt_device_synchronize(0));

  /* After use by another stream, it is reused only once that stream's work has ended. */
  a = floats(1000);
  data = dpt_storage_data(a);
  OK(dpt_stream_reserve(1, 1));
  OK(dpt_stream_set(1, 1));
  gate busy;
  gate_close(&busy, 1);
  OK(dpt__block_use(a->block, dpt__current_stream(1)));
  OK(dpt_stream_set(1, 0));
  dpt_storage_release(a);
  dpt_storage *b = floats(1000);
  CHECK(dpt_storage_data(b) != data);
  gate_open(&busy);
  OK(dpt_stream_synchronize(1, 1));
  a = floats(1000);
  CHECK(dpt_storage_data(a) == data);
  dpt_storage_release(a);
  dpt_storage_release(b);
}

static void counts(void) {
  OK(dpt_memory_empty_cache(1));
  dpt_memory_stats before = stats(1);
  CHECK(before.live == 0 && before.cached == 0);
  dpt_storage *a = floats(1000), *b = floats(1 << 20), *empty = floats(0);
  dpt_memory_stats after = stats(1);
  CHECK(after.live == 4096 + (4 << 20));
  CHECK(after.blocks == before.blocks + 2 && after.segments == before.segments + 2);
  CHECK(after.cached == (2 << 20) - 4096 + (16 << 20));
  CHECK(dpt_device_live_bytes() == after.live);
  dpt_storage_release(a);
  dpt_storage_release(b);
  dpt_storage_release(empty);
  after = stats(1);
  CHECK(after.live == 0 && after.cached == 22 << 20 && after.peak >= 4096 + (4 << 20));
  OK(dpt_memory_peak_reset(1));
  CHECK(stats(1).peak == 0);
  OK(dpt_memory_empty_cache(1));
  CHECK(stats(1).cached == 0);
}

/* Adjacent free blocks merge: after many small blocks, one allocation gets the whole segment. */
static void joins(void) {
  enum { N = 2048 };
  static dpt_storage *small[N];
  OK(dpt_memory_empty_cache(1));
  for (int i = 0; i < N; i++) small[i] = floats(256);
  int64_t segments = stats(1).segments;
  for (int i = 0; i < N; i += 2) dpt_storage_release(small[i]);
  for (int i = 1; i < N; i += 2) dpt_storage_release(small[i]);
  dpt_storage *whole = floats(1 << 18);
  CHECK(stats(1).segments == segments);
  dpt_storage_release(whole);
}

static void respects_the_limit(void) {
  OK(dpt_memory_empty_cache(1));
  OK(dpt_memory_limit_set(1, 3 << 20));
  dpt_storage *a = floats(1 << 18), *b = NULL;
  CHECK(a != NULL); /* 1 MiB of a 2 MiB segment */
  FAILS(
      dpt_storage_new(&b, DPT_F32 | DPT_ON_DEVICE, 1 << 19),
      "out of memory on device 1: 2097152 bytes asked, 1048576 live, 1048576 cached, the limit is "
      "3145728");
  dpt_storage_release(a);
  /* The cache is freed and the allocation retried: a segment of exactly its size fits. */
  b = floats(3 << 18);
  CHECK(b && stats(1).live == 3 << 20);
  /* If the limit is below the live bytes, nothing is left. */
  OK(dpt_memory_limit_set(1, 1 << 20));
  CHECK(stats(1).left == 0);
  dpt_storage_release(b);
  OK(dpt_memory_limit_set(1, 0));
  FAILS(dpt_memory_limit_set(1, -1), "setMemoryLimit");
  FAILS(dpt_memory_limit_set(3, 1), "no device 3");
  OK(dpt_fault_set("malloc:2"));
  a = floats(10);
  FAILS(dpt_storage_new(&b, DPT_F32 | DPT_ON_DEVICE, 10), "out of memory");
  dpt_storage_release(a);
  FAILS(dpt_storage_new(&b, DPT_F32 | DPT_ON_DEVICE, -1), "wanted 0 to");
  FAILS(dpt_storage_new(&b, DPT_F32 | DPT_ON_DEVICE, INT64_MAX), "wanted 0 to");
  FAILS(dpt_storage_new(&b, DPT_F32 | DPT_ON_DEVICE, INT64_MAX / 16), "out of memory on device 1");
}

/* ---- torture ---- */

struct stamp_args {
  uint64_t *p;
  size_t words;
  uint64_t old, new; /* old 0: not checked */
  atomic_int *wrong;
};

static int run_stamp(dpt__context *context, const void *args) {
  const struct stamp_args *a = args;
  for (size_t i = 0; i < a->words; i += 64) {
    if (a->old && a->p[i] != a->old) atomic_fetch_add(a->wrong, 1);
    a->p[i] = a->new;
  }
  return 0;
}

enum { LIVE = 64, THREADS = 4 };
static atomic_int wrong;
static dpt_storage *mailbox[LIVE]; /* blocks passed between threads; any may free them */
static pthread_mutex_t mailbox_lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes a stamp on the current stream, or on another one ordered by events. Row B1 of
 * docs/user-issues.md: threads free each other's memory, in 1,000,000 random operations. */
static void stamp(dpt_storage *s, uint64_t old, uint64_t new, uint64_t *seed) {
  dpt__stream *own = s->block->stream, *stream = own;
  if (draw(seed, 3) == 0) {
    stream = dpt__device_at((int)draw(seed, 2) + 1)->streams[draw(seed, 2)];
    OK(dpt__stream_wait(stream, dpt__event_last(own)));
    OK(dpt__block_use(s->block, stream));
  }
  struct stamp_args args = {s->data, (size_t)s->size / 2, old, new, &wrong};
  OK(dpt__stream_push(stream, run_stamp, "stamp", &args, sizeof args));
  OK(dpt__stream_wait(own, dpt__event_last(stream)));
}

static void *random_thread(void *arg) {
  uint64_t seed = *(uint64_t *)arg;
  struct {
    dpt_storage *storage;
    uint64_t stamp;
  } live[LIVE] = {0};
  for (int i = 0; i < torture(1000000) / THREADS; i++) {
    int slot = (int)draw(&seed, LIVE);
    if (!live[slot].storage) {
      OK(dpt_device_set((int)draw(&seed, 2) + 1));
      OK(dpt_stream_set(0, (int)draw(&seed, 2)));
      int64_t size = (int64_t)draw(&seed, UINT64_C(1) << (4 + draw(&seed, 16))) + 2;
      if (!(live[slot].storage = floats(size))) break;
      stamp(live[slot].storage, 0, live[slot].stamp = i + 1, &seed);
    } else if (draw(&seed, 2)) {
      stamp(live[slot].storage, live[slot].stamp, i + 1, &seed);
      live[slot].stamp = i + 1;
    } else {
      int place = (int)draw(&seed, LIVE);
      pthread_mutex_lock(&mailbox_lock);
      dpt_storage *found = mailbox[place];
      mailbox[place] = live[slot].storage;
      pthread_mutex_unlock(&mailbox_lock);
      live[slot].storage = NULL;
      dpt_storage_release(found);
    }
    if (draw(&seed, 200) == 0) OK(dpt_memory_empty_cache((int)draw(&seed, 2) + 1));
  }
  for (int slot = 0; slot < LIVE; slot++) dpt_storage_release(live[slot].storage);
  return NULL;
}

static void random_programs(uint64_t seed) {
  pthread_t threads[THREADS];
  uint64_t seeds[THREADS];
  for (int i = 0; i < THREADS; i++) {
    seeds[i] = seed + (uint64_t)i * 1000003;
    pthread_create(&threads[i], NULL, random_thread, &seeds[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < LIVE; i++) {
    dpt_storage_release(mailbox[i]);
    mailbox[i] = NULL;
  }
  OK(dpt_device_synchronize(-1));
  CHECK(!wrong);
  CHECK(stats(1).live == 0 && stats(2).live == 0);
  OK(dpt_memory_empty_cache(1));
  OK(dpt_memory_empty_cache(2));
  CHECK(stats(1).cached == 0 && stats(2).cached == 0);
}

int main(void) {
  uint64_t seed = check_seed();
  OK(dpt_devices_set("host:2"));
  reuses_in_stream_order();
  counts();
  joins();
  respects_the_limit();
  random_programs(seed);
  return check_end();
}
