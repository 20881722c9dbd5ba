/* scratch.c: a kernel's temporary memory: a stack of chunks for each thread.
 *
 * What must stay true: memory that was given stays where it is until the kernel returns; then all
 * chunks but one large enough for the sum are freed, so that the next such kernel takes no memory.
 * The thread's end frees the rest. A kernel runs on a stream's thread or on its caller's, so the
 * thread's own memory is the context's own; it is memory of the context's device, used in the order
 * of the stream's queue. A backend with queues waits for them before it takes memory back.
 */
#include "device/scratch.h"

#include "device/stream.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct chunk {
  struct chunk *next;
  const dpt__backend *backend;
  int unit;
  size_t size, used;
  void *bytes;
} chunk;

enum { FIRST = 1 << 16 };

static _Thread_local chunk *top, *aside;
static _Thread_local int diverted; /* a graph is recorded: top is the graph's, aside the thread's */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_chunks(void *first) {
  for (chunk *c = first; c;) {
    chunk *next = c->next;
    c->backend->memory_give(c->unit, c->bytes, c->size);
    free(c);
    c = next;
  }
}

static void make_key(void) { pthread_key_create(&key, free_chunks); }

static chunk *push_chunk(const dpt__backend *backend, int unit, size_t size) {
  chunk *c = malloc(sizeof *c);
  if (!c) return NULL;
  *c = (chunk){top, backend, unit, size, 0, NULL};
  if (backend->memory_take(unit, size, &c->bytes) || !c->bytes) {
    free(c);
    return NULL;
  }
  pthread_once(&once, make_key);
  top = c;
  pthread_setspecific(key, top);
  return c;
}

void *dpt__scratch(dpt__context *context, size_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  chunk *c = top;
  int unit = context->stream ? context->stream->unit : 0;
  while (diverted && c && c->size - c->used < bytes) c = c->next;
  if (!c || c->size - c->used < bytes)
    c = push_chunk(context->backend, unit, bytes > FIRST ? bytes : FIRST);
  if (!c) {
    dpt__fail("out of memory: %zu bytes wanted as temporary memory of a kernel", bytes);
    return NULL;
  }
  void *p = (char *)c->bytes + c->used;
  c->used += bytes;
  return p;
}

void dpt__scratch_divert(void) {
  aside = top;
  top = NULL;
  diverted = 1;
}

void *dpt__scratch_restore(void) {
  chunk *graphs = top;
  top = aside;
  diverted = 0;
  pthread_once(&once, make_key);
  pthread_setspecific(key, top);
  return graphs;
}

void dpt__scratch_free(void *memory) { free_chunks(memory); }

void dpt__scratch_reset(void) {
  if (!top) return;
  if (diverted) { /* recorded work has the addresses: nothing moves */
    for (chunk *c = top; c; c = c->next) c->used = 0;
    return;
  }
  if (!top->next) {
    top->used = 0;
    return;
  }
  chunk last = *top;
  size_t sum = 0;
  for (chunk *c = top; c; c = c->next) sum += c->size;
  free_chunks(top);
  top = NULL;
  push_chunk(last.backend, last.unit, sum);
  if (!top) pthread_setspecific(key, NULL);
}
