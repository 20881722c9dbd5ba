/* scratch.c: a kernel's temporary memory (scratch.h has the rules). */
#include "device/scratch.h"

/* ---- memory of the calling thread ---- */

static _Thread_local char *own;
static _Thread_local size_t own_bytes;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void scratch_free_own(void *bytes) { dpt__host.memory_free(0, bytes, 0); }
static void scratch_make_key(void) { pthread_key_create(&key, scratch_free_own); }

static int scratch_take_own(dpt__context *context) {
  enum { LEAST = 1 << 16 };
  if (own_bytes < context->capacity) {
    size_t bytes = context->capacity < LEAST ? LEAST : context->capacity;
    void *more = NULL;
    scratch_free_own(own);
    own = NULL;
    own_bytes = 0;
    pthread_once(&once, scratch_make_key);
    pthread_setspecific(key, NULL);
    if (dpt__host.memory_alloc(0, bytes, &more) || !more)
      return dpt__no_memory("out of memory: %zu bytes requested as temporary memory of a kernel",
                            bytes);
    own = more;
    own_bytes = bytes;
    pthread_setspecific(key, own);
  }
  context->scratch = own;
  return 0;
}

/* ---- memory of a stream ---- */

static int scratch_take_block(dpt__context *context) {
  dpt__stream *stream = context->stream;
  dpt__capture *capture = atomic_load_explicit(&stream->capture, memory_order_relaxed);
  if (capture != dpt__own_capture) capture = NULL; /* the push will reject it */
  dpt__block *block = capture ? capture->scratch : NULL;
  if (!block || block->requested < context->capacity) {
    DPT__TRY(dpt__block_alloc_on(stream, context->capacity, &block));
    if (capture && dpt__block_pin(block, capture)) {
      dpt__block_free(block);
      return 1;
    }
    if (capture) capture->scratch = block;
    context->block = block;
  }
  context->scratch = block->data;
  return 0;
}

int dpt__scratch_measure(dpt__context *context, enum dpt__kernel kernel, const void *args) {
  const dpt__backend *backend = context->backend;
  size_t before = SIZE_MAX;
  if (backend->prepare) DPT__TRY(backend->prepare(kernel, context->name, args));
  for (int measures = 1; measures <= DPT__MEASURES_LEAST; measures++, before = context->capacity) {
    dpt__context asks = *context;
    asks.measures = measures;
    asks.capacity = 0;
    asks.scratch = (char *)((uintptr_t)0xdead << 48); /* not a valid address in any address space */
    if (backend->kernels[kernel](&asks, args) || asks.capacity >= before) break;
    context->capacity = asks.capacity;
    if (!asks.capacity ||
        !(context->stream ? scratch_take_block(context) : scratch_take_own(context)))
      return 0;
  }
  return dpt__fail_in("%s", context->name);
}
