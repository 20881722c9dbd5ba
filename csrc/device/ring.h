/* ring.h: the queue of a stream's items that have not run yet.
 *
 * Invariant: there is one reader; writers exclude each other. Items are read in the order in which
 * they were written. When a ring of bytes is full, one of twice the size is appended, and the old
 * one is freed when it has been read to its end; so queueing allocates only while a queue grows. A
 * writer that finds a ring of MAX_RING full waits until items have run.
 */
#ifndef DPT_DEVICE_RING_H
#define DPT_DEVICE_RING_H
#include "device/backend.h"
#include "device/counter.h"

enum { DPT__LINE = 64 }; /* bytes of a cache line */

typedef struct dpt__ring dpt__ring;

/* Kinds of items: compute, wait for other streams, rendezvous. A rendezvous waits for streams that
 * wait for this one, so it runs even if the device is lost. */
enum dpt__item_kind { DPT__ITEM_KERNEL, DPT__ITEM_WAIT, DPT__ITEM_RENDEZVOUS };

/* The head of an item; its arguments follow. */
typedef struct dpt__item {
  dpt__kernel_fn *fn; /* NULL: the rest of the ring is not used */
  const char *name;
  uint64_t size : 28; /* including the arguments, a multiple of the head's */
  uint64_t kind : 2;
  uint64_t traced : 1;    /* trace.h */
  uint64_t capacity : 33; /* of temporary memory, in DPT__SCRATCH_ALIGN bytes */
  char *scratch;
} dpt__item;

dpt__ring *dpt__ring_new(void); /* NULL: out of memory */
/* Returns the size of an item with that many bytes of arguments. */
static inline size_t dpt__item_size(size_t bytes) {
  size_t head = sizeof(dpt__item);
  return (head + bytes + head - 1) / head * head;
}

/* For the writer. reserve: makes space for an item of that size at *tail of *ring; *ring may become
 * another ring. `run` counts the items that have run. put: writes the item, which is then visible
 * to the reader.
 */
int dpt__ring_reserve(dpt__ring **ring, dpt__counter *run, size_t size, size_t *tail);
dpt__item *dpt__ring_put(dpt__ring *ring, size_t tail, const dpt__item *head, const void *args,
                         size_t bytes);

/* For the reader, which knows that there is an item. next: returns it. pop: removes it after it has
 * run. */
dpt__item *dpt__ring_next(dpt__ring **ring);
void dpt__ring_pop(dpt__ring *ring, size_t size);

#endif
