/* apart.h: results that share memory with an operand are computed aside and copied.
 *
 *   dpt__apart x;
 *   dpt_tensor *to = dpt__apart_start(&x, r, a, b);
 *   return dpt__apart_end(&x, fill(to, a, b));
 */
#ifndef DPT_OPS_APART_H
#define DPT_OPS_APART_H
#include "tensor/tensor.h"

typedef struct dpt__apart {
  dpt_tensor *r, aside;
} dpt__apart;

/* r, or a fresh tensor where r has the storage of a or b (which may be NULL). */
static inline dpt_tensor *dpt__apart_start(dpt__apart *x, dpt_tensor *r, const dpt_tensor *a,
                                           const dpt_tensor *b) {
  *x = (dpt__apart){r, {.kind_ = r->kind_}};
  int shared = r->store_ && (r->store_ == a->store_ || (b && r->store_ == b->store_));
  return shared ? &x->aside : r;
}

/* Resizes r to what was computed aside and copies; gives the status on. */
static inline int dpt__apart_end(dpt__apart *x, int failed) {
  dpt_tensor *aside = &x->aside;
  if (!failed && aside->store_) failed = dpt_resize_as(x->r, aside) || dpt_copy(x->r, aside);
  dpt_tensor_free(aside);
  return failed;
}

#endif
