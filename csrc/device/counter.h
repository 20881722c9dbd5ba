/* counter.h: a monotonic counter, and waiting until it reaches a value.
 *
 * Invariant: one thread at a time advances a counter (its owner, or under the owner's lock); any
 * number may wait. A waiter spins at most 50 us, and only while fewer threads spin or work than
 * there are cores; then it sleeps on a futex until the counter has reached its value. No wake-up is
 * sent for a value that no thread waits for.
 */
#ifndef DPT_DEVICE_COUNTER_H
#define DPT_DEVICE_COUNTER_H
#include <stdatomic.h>
#include <stdint.h>

typedef struct dpt__counter {
  _Atomic uint64_t value;
  _Atomic uint64_t wake_at;    /* least value that a sleeper waits for; UINT64_MAX: no sleeper */
  _Atomic uint32_t generation; /* the number of wake-ups: the futex word */
} dpt__counter;

void dpt__counter_init(dpt__counter *counter);
void dpt__counter_advance(dpt__counter *counter, uint64_t value);
void dpt__counter_wait(dpt__counter *counter, uint64_t value);
/* Like dpt__counter_wait, for a thread that waits repeatedly: after spinning has failed, the next
 * 1, 3, 7, 15, 15 ... waits sleep without spinning, since other work on the machine may need the
 * core. Zero-initialize the history. */
typedef struct dpt__spin_history {
  int failed, skip;
} dpt__spin_history;
void dpt__counter_wait_adaptive(dpt__counter *counter, uint64_t value,
                                dpt__spin_history *spin_history);

/* Marks the calling thread as a worker: it counts as working whenever it does not wait for a
 * counter. A worker calls _end before it ends. */
void dpt__counter_worker(void);
void dpt__counter_worker_end(void);

/* Returns true if a thread sleeps until the counter has this value, or less. */
static inline int dpt__counter_sleeps(dpt__counter *counter, uint64_t value) {
  return atomic_load(&counter->wake_at) <= value;
}
/* Advances without waking sleepers: the next dpt__counter_advance wakes them. */
static inline void dpt__counter_pass(dpt__counter *counter, uint64_t value) {
  atomic_store(&counter->value, value);
}

static inline uint64_t dpt__counter_value(dpt__counter *counter) {
  return atomic_load_explicit(&counter->value, memory_order_acquire);
}

/* Calls query(data, &done) until it fails, *done is true, or 5 ms have passed, but only while fewer
 * threads spin or work than there are cores; otherwise sets *done to 0 and returns at once. Returns
 * what query returned last, or 0. */
int dpt__poll(int (*query)(void *data, int *done), void *data, int *done);

/* Returns the number of cores that this process may run on, at least 1. */
int dpt__cores(void);
/* dpt__now returns a monotonic clock in nanoseconds; dpt__sleep sleeps for the whole time even if
 * signals arrive. */
int64_t dpt__now(void);
void dpt__sleep(int64_t nanoseconds);

#endif
