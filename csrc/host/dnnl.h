/* dnnl.h: oneDNN's engine, and the cache of its primitives.
 *
 * Invariant: the process has one list of plans, guarded by one lock. A plan does not change after
 * its creation and stays while it has users. When there are DPT__PLANS plans, the least recently
 * used one without users is freed. oneDNN's primitives may run on several threads at once, because
 * every run brings its own memory.
 */
#ifndef DPT_HOST_DNNL_H
#define DPT_HOST_DNNL_H
#include "device/backend.h"

#include <dnnl.h>

enum { DPT__PLANS = 512 };

typedef struct dpt__dnnl_kind dpt__dnnl_kind;

/* The first member of every plan. */
typedef struct dpt__dnnl_plan {
  struct dpt__dnnl_plan *next;
  const dpt__dnnl_kind *kind;
  uint64_t hash, used; /* used: time of the last use */
  int users;
} dpt__dnnl_plan;

/* A kind of plans: structs of `size` bytes, whose key, the properties that the primitive depends
 * on, has key_size bytes from byte key_at on. Keys are compared by bytes, so padding is zero. */
struct dpt__dnnl_kind {
  size_t size, key_at, key_size;
  /* Completes a plan, whose other bytes are zero. Returns nonzero with an error message if oneDNN
   * fails. */
  int (*make)(dpt__dnnl_plan *);
  /* Destroys the primitives of a plan, or of a part of one. */
  void (*drop)(dpt__dnnl_plan *);
};

/* Finds or creates a plan for the key, which is aligned to 8 bytes; the caller releases it. Returns
 * nonzero with an error message if oneDNN fails. */
int dpt__dnnl_take(const dpt__dnnl_kind *kind, const void *key, dpt__dnnl_plan **plan);
void dpt__dnnl_give(dpt__dnnl_plan *plan);

/* Returns the engine; valid once a plan was taken. */
dnnl_engine_t dpt__dnnl_engine(void);

/* Returns 0 for a success, and otherwise 1 with an error message. */
int dpt__dnnl_failed(dnnl_status_t status, const char *what);

/* Runs a primitive on n <= DPT__DNNL_OPERANDS tensors. */
enum { DPT__DNNL_OPERANDS = 6 };
int dpt__dnnl_run(dnnl_primitive_t primitive, dnnl_stream_t stream, int n,
                  const dnnl_memory_desc_t *const *md, void *const *data, const int *arg);

#endif
