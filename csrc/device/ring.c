/* ring.c: rings of items (see ring.h). */
#include "device/ring.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RING = 1 << 14, MAX_RING = 1 << 22 };

struct dpt__ring {
  _Atomic(dpt__ring *) next; /* set when nothing more is written to this ring */
  size_t capacity;           /* a power of two */
  /* Bytes written since the ring was created, and the writer's copy of `head`. */
  _Alignas(DPT__LINE) _Atomic size_t tail;
  size_t known_head;
  _Alignas(DPT__LINE) _Atomic size_t head; /* bytes read */
  _Alignas(DPT__LINE) char bytes[];
};
_Static_assert(sizeof(dpt__item) == 32, "items divide a cache line, and so a ring");

static dpt__ring *ring_new(size_t capacity) {
  dpt__ring *ring = aligned_alloc(DPT__LINE, sizeof *ring + capacity);
  if (!ring) return NULL;
  atomic_init(&ring->next, NULL);
  atomic_init(&ring->head, 0);
  atomic_init(&ring->tail, 0);
  ring->known_head = 0;
  ring->capacity = capacity;
  return ring;
}

dpt__ring *dpt__ring_new(void) { return ring_new(FIRST_RING); }

static dpt__item *ring_item(dpt__ring *ring, size_t position) {
  return (dpt__item *)(ring->bytes + (position & (ring->capacity - 1)));
}

/* Returns true if size bytes fit contiguously at *tail, after a filler if the ring ends before
 * that. */
static int ring_fits(dpt__ring *ring, size_t size, size_t *tail) {
  size_t written = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  size_t to_end = ring->capacity - (written & (ring->capacity - 1));
  size_t filler = size > to_end ? to_end : 0;
  if (written + filler + size - ring->known_head > ring->capacity) {
    ring->known_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (written + filler + size - ring->known_head > ring->capacity) return 0;
  }
  if (filler) *ring_item(ring, written) = (dpt__item){.size = filler};
  *tail = written + filler;
  return 1;
}

/* An item fits into an empty ring of twice its size, wherever the ring wraps around. */
int dpt__ring_reserve(dpt__ring **ring, dpt__counter *run, size_t size, size_t *tail) {
  for (;;) {
    /* read before the check that the ring is full: an item that runs after this ends the wait
     * below */
    uint64_t seen = dpt__counter_value(run);
    dpt__ring *full = *ring;
    if (ring_fits(full, size, tail)) return 0;
    if (full->capacity >= MAX_RING && full->capacity >= 2 * size) {
      (void)dpt__sync_point("stream full");
      dpt__counter_wait(run, seen + 1);
      continue;
    }
    size_t capacity = full->capacity * 2;
    while (capacity < 2 * size) capacity *= 2;
    dpt__ring *next = ring_new(capacity);
    if (!next) return dpt__no_memory("no host memory for the queue of a stream");
    atomic_store_explicit(&full->next, next, memory_order_release);
    *ring = next;
  }
}

dpt__item *dpt__ring_put(dpt__ring *ring, size_t tail, const dpt__item *head, const void *args,
                         size_t bytes) {
  dpt__assert(tail + head->size - atomic_load(&ring->head) <= ring->capacity);
  dpt__item *item = ring_item(ring, tail);
  *item = *head;
  if (bytes) memcpy(item + 1, args, bytes);
  atomic_store_explicit(&ring->tail, tail + head->size, memory_order_release);
  return item;
}

dpt__item *dpt__ring_next(dpt__ring **read) {
  for (;;) {
    dpt__ring *ring = *read;
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    dpt__assert(head <= atomic_load(&ring->tail));
    if (head == atomic_load_explicit(&ring->tail, memory_order_acquire)) {
      *read = atomic_load_explicit(&ring->next, memory_order_acquire);
      free(ring);
      continue;
    }
    dpt__item *item = ring_item(ring, head);
    if (item->fn) return item;
    atomic_store_explicit(&ring->head, head + item->size, memory_order_release);
  }
}

void dpt__ring_pop(dpt__ring *ring, size_t size) {
  atomic_fetch_add_explicit(&ring->head, size, memory_order_release);
}
