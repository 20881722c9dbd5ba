/* scratch.c: a kernel's temporary memory (scratch.h has the rules).
 *
 * On the caller's thread it is a stack of chunks of plain memory; after the kernel all chunks but
 * one large enough for the sum are freed, so that the next such kernel takes no memory. The
 * thread's end frees the rest. On a stream's thread each piece is a block of the allocator.
 */
#include "device/scratch.h"

#include "device/allocator.h"

#include <stdlib.h>

/* ---- the caller's thread ---- */

typedef struct chunk {
  struct chunk *next;
  size_t size, used;
  void *bytes;
} chunk;

enum { FIRST = 1 << 16 };

static _Thread_local chunk *top;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_chunks(void *first) {
  for (chunk *c = first; c;) {
    chunk *next = c->next;
    dpt__host.memory_free(0, c->bytes, c->size);
    free(c);
    c = next;
  }
}

static void make_key(void) { pthread_key_create(&key, free_chunks); }

static chunk *push_chunk(size_t size) {
  chunk *c = malloc(sizeof *c);
  if (!c) return NULL;
  *c = (chunk){top, size, 0, NULL};
  if (dpt__host.memory_alloc(0, size, &c->bytes) || !c->bytes) {
    free(c);
    return NULL;
  }
  pthread_once(&once, make_key);
  top = c;
  pthread_setspecific(key, top);
  return c;
}

static void *take_plain(size_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  chunk *c = top;
  if (!c || c->size - c->used < bytes) c = push_chunk(bytes > FIRST ? bytes : FIRST);
  if (!c) {
    dpt__fail("out of memory: %zu bytes wanted as temporary memory of a kernel", bytes);
    return NULL;
  }
  void *p = (char *)c->bytes + c->used;
  c->used += bytes;
  return p;
}

static void reset_plain(void) {
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

/* ---- a stream's thread ---- */

/* What the running item has; while a graph is recorded, what all of its items had: those that are
 * not used by the running one may be used again. */
typedef struct piece {
  struct piece *next;
  dpt__block *block;
  int used;
} piece;

static _Thread_local piece *pieces;
static _Thread_local uint64_t item; /* whose they are */
static _Thread_local int diverted;  /* a graph is recorded */

static void *take_block(dpt__context *context, size_t bytes) {
  for (piece *p = pieces; p; p = p->next)
    if (!p->used && p->block->bytes >= bytes) {
      p->used = 1;
      return p->block->data;
    }
  piece *p = malloc(sizeof *p);
  dpt__block *block =
      p ? dpt__block_alloc_temporary(context->stream, context->number, bytes ? bytes : 1) : NULL;
  if (!block) {
    if (!p) dpt__fail("no host memory to note a kernel's temporary memory");
    free(p);
    return NULL;
  }
  *p = (piece){pieces, block, 1};
  pieces = p;
  item = context->number;
  return block->data;
}

static void give_blocks(piece *p, uint64_t number) {
  while (p) {
    piece *next = p->next;
    dpt__block_free_temporary(p->block, number);
    free(p);
    p = next;
  }
}

void dpt__scratch_divert(void) { diverted = 1; }

void *dpt__scratch_restore(void) {
  void *graphs = pieces;
  pieces = NULL;
  diverted = 0;
  return graphs;
}

void dpt__scratch_free(void *memory) { give_blocks(memory, 0); }

/* ---- either ---- */

/* After the kernel: what it took may be used again. */
static void clear(void) {
  dpt__local.after_kernel = NULL;
  reset_plain();
  if (diverted) { /* recorded work has the addresses: they stay the graph's */
    for (piece *p = pieces; p; p = p->next) p->used = 0;
    return;
  }
  give_blocks(pieces, item);
  pieces = NULL;
}

void *dpt__scratch(dpt__context *context, size_t bytes) {
  dpt__local.after_kernel = clear;
  return context->stream ? take_block(context, bytes) : take_plain(bytes);
}
