/* scratch.c: a kernel's temporary memory: a stack of chunks for each thread.
 *
 * What must stay true: memory that was given stays where it is until the kernel returns; then all
 * chunks but one large enough for the sum are freed, so that the next such kernel takes no memory.
 * The thread's end frees the rest. A kernel runs on a stream's thread or on its caller's, so the
 * thread's own memory is the context's own.
 */
#include "device/scratch.h"

#include "device/backend.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct chunk {
  struct chunk *next;
  size_t size, used;
  _Alignas(64) char bytes[];
} chunk;

enum { FIRST = 1 << 16 };

static _Thread_local chunk *top;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_chunks(void *first) {
  for (chunk *c = first; c;) {
    chunk *next = c->next;
    free(c);
    c = next;
  }
}

static void make_key(void) { pthread_key_create(&key, free_chunks); }

static chunk *push_chunk(size_t size) {
  chunk *c = aligned_alloc(64, sizeof *c + (size + 63) / 64 * 64);
  if (!c) return NULL;
  pthread_once(&once, make_key);
  c->next = top;
  c->size = size;
  c->used = 0;
  top = c;
  pthread_setspecific(key, top);
  return c;
}

void *dpt__scratch(dpt__context *context, size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  chunk *c = top;
  if (!c || c->size - c->used < bytes) c = push_chunk(bytes > FIRST ? bytes : FIRST);
  if (!c) {
    dpt__fail("no host memory: %zu bytes wanted as temporary memory of a kernel", bytes);
    return NULL;
  }
  void *p = c->bytes + c->used;
  c->used += bytes;
  return p;
}

void dpt__scratch_reset(void) {
  if (!top) return;
  if (!top->next) {
    top->used = 0;
    return;
  }
  size_t sum = 0;
  for (chunk *c = top; c; c = c->next) sum += c->size;
  free_chunks(top);
  top = NULL;
  push_chunk(sum);
  if (!top) pthread_setspecific(key, NULL);
}
