/* conv_dnnl.h: the cache of oneDNN's convolution primitives.
 *
 * Invariant: the process has one list, guarded by one lock. A plan does not change after its
 * creation and stays while it has users. When there are DPT__PLANS plans, the least recently used
 * one without users is freed. oneDNN's primitives may run on several threads at once, because every
 * run brings its own memory.
 */
#ifndef DPT_HOST_NN_CONV_DNNL_H
#define DPT_HOST_NN_CONV_DNNL_H
#include "host/nn/conv.h"

#include <dnnl.h>

enum { DPT__PLANS = 512 };

/* The properties that a primitive depends on; compared by bytes, so padding is zero. */
typedef struct dpt__conv_key {
  int64_t pass, ndim, threads, bias, N, I, O, groups;
  struct dpt__slide slide;
} dpt__conv_key;

/* One tensor of a convolution: Torch7's layout, and the primitive's. */
typedef struct dpt__conv_side {
  dnnl_memory_desc_t plain, inner;
  dnnl_primitive_t reorder; /* plain to inner, or back for the result; NULL: not needed */
  size_t bytes;             /* bytes of inner; 0 without reorder */
  int arg;                  /* DNNL_ARG_... */
} dpt__conv_side;

typedef struct dpt__conv_plan {
  struct dpt__conv_plan *next;
  uint64_t hash, used; /* used: time of the last use */
  int users;
  dpt__conv_key key;
  dnnl_primitive_t primitive;
  dpt__conv_side in, weight, out;
  dnnl_memory_desc_t bias, scratch;
  size_t scratch_bytes;
} dpt__conv_plan;

/* Finds or creates a plan for the key; the caller releases it. Returns nonzero with an error
 * message if oneDNN fails. */
int dpt__conv_plan_take(dpt__conv_plan **plan, const dpt__conv_key *key);
void dpt__conv_plan_give(dpt__conv_plan *plan);
dnnl_engine_t dpt__dnnl_engine(void); /* valid once a plan was taken */

#endif
