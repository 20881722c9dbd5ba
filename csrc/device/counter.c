/* counter.c: monotonic counters over futexes (see counter.h).
 *
 * Why no wake-up is lost: a waiter reads the generation, registers its value, then reads the
 * counter; the owner writes the counter, then reads the registered value. All accesses are
 * sequentially consistent, so one of them sees the other's write. The thread that clears the
 * registration increments the generation, so that a waiter whose registration was cleared before it
 * slept does not sleep.
 */
#define _GNU_SOURCE /* syscall */
#include "device/counter.h"

#include "base/assert.h"
#include "dpt.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_NS = 50000, POLL_NS = 5000000, PAUSES = 32 /* about 1 us */ };

static atomic_int spinning; /* threads that are spinning */
static atomic_int working;  /* workers that are not waiting */
static _Thread_local int is_worker;

void dpt__counter_worker(void) {
  is_worker = 1;
  prctl(PR_SET_TIMERSLACK, 1000); /* a sleep may be 1 us late, not 50 */
  atomic_fetch_add(&working, 1);
}

void dpt__counter_worker_end(void) {
  is_worker = 0;
  atomic_fetch_sub(&working, 1);
}

int dpt__cores(void) {
  static atomic_int known;
  int cores = atomic_load_explicit(&known, memory_order_relaxed);
  if (!cores) {
    cores = dpt_cores();
    atomic_store_explicit(&known, cores, memory_order_relaxed);
  }
  return cores;
}

int64_t dpt__now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void dpt__sleep(int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  struct timespec t = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR) {}
}

void dpt__counter_init(dpt__counter *counter) {
  atomic_init(&counter->value, 0);
  atomic_init(&counter->wake_at, UINT64_MAX);
  atomic_init(&counter->generation, 0);
}

void dpt__counter_advance(dpt__counter *counter, uint64_t value) {
  dpt__assert(value > atomic_load(&counter->value));
  atomic_store(&counter->value, value);
  if (value < atomic_load(&counter->wake_at)) return;
  atomic_store(&counter->wake_at, UINT64_MAX);
  atomic_fetch_add(&counter->generation, 1);
  syscall(SYS_futex, &counter->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void counter_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Counts the calling thread as spinning until spin_end; returns 1 if there is a core for it. A
 * worker leaves a core to the thread that queues. */
static int spin_begin(void) {
  int others = is_worker + atomic_load_explicit(&working, memory_order_relaxed);
  return atomic_fetch_add(&spinning, 1) + others < dpt__cores();
}

static void spin_end(void) { atomic_fetch_sub(&spinning, 1); }

/* Returns 1 if the value was reached while spinning. */
static int counter_spin(dpt__counter *counter, uint64_t value) {
  int there = 0;
  if (spin_begin()) {
    int64_t end = dpt__now() + SPIN_NS;
    do {
      for (int i = 0; i < PAUSES && !there; i++) {
        counter_relax();
        there = dpt__counter_value(counter) >= value;
      }
    } while (!there && dpt__now() < end);
  }
  spin_end();
  return there;
}

int dpt__poll(int (*query)(void *data, int *done), void *data, int *done) {
  int status = 0;
  *done = 0;
  if (spin_begin()) {
    int64_t end = dpt__now() + POLL_NS;
    while (!(status = query(data, done)) && !*done && dpt__now() < end)
      for (int i = 0; i < PAUSES; i++) counter_relax();
  }
  spin_end();
  return status;
}

/* Sleeps until the value is reached. */
static void counter_sleep(dpt__counter *counter, uint64_t value) {
  for (;;) {
    uint32_t generation = atomic_load(&counter->generation);
    uint64_t at = atomic_load(&counter->wake_at);
    while (at > value && !atomic_compare_exchange_weak(&counter->wake_at, &at, value)) {}
    if (atomic_load(&counter->value) >= value) return;
    syscall(SYS_futex, &counter->generation, FUTEX_WAIT_PRIVATE, generation, NULL, NULL, 0);
  }
}

void dpt__counter_wait(dpt__counter *counter, uint64_t value) {
  dpt__counter_wait_adaptive(counter, value, &(dpt__spin_history){0, 0});
}

void dpt__counter_wait_adaptive(dpt__counter *counter, uint64_t value,
                                dpt__spin_history *spin_history) {
  enum { MOST = 15 };
  if (dpt__counter_value(counter) >= value) return;
  if (is_worker) atomic_fetch_sub(&working, 1);
  int there = 0;
  if (spin_history->skip > 0) {
    spin_history->skip--;
  } else {
    there = counter_spin(counter, value);
    spin_history->failed = there                         ? 0
                           : spin_history->failed < MOST ? 2 * spin_history->failed + 1
                                                         : MOST;
    spin_history->skip = spin_history->failed;
  }
  if (!there) counter_sleep(counter, value);
  if (is_worker) atomic_fetch_add(&working, 1);
}
