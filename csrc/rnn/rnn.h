/* rnn.h: the arguments of recurrent networks' kernels.
 *
 * Invariant: the generic functions have checked everything, including the values of lengths. A
 * backend whose library has its own layout sets `rnn` in its table; if that is NULL, weights and
 * the reserve have the layout of layout.h.
 */
#ifndef DPT_RNN_RNN_H
#define DPT_RNN_RNN_H
#include "device/backend.h"
#include "rnn/layout.h"

/* Arguments of the three kernels; dpt.h says what each function reads and writes. */
struct dpt__rnn_args {
  dpt_rnn rnn;
  int32_t type, param_type; /* param_type: of gw */
  int32_t deterministic, tf32;
  int32_t ragged; /* lengths are given */
  int32_t T, B;   /* steps, sequences */
  double scale;   /* of backward_weight */
  /* Missing operands are NULL; forward without a reserve is inference only. */
  void *x, *h0, *c0, *weight, *gy, *ghn, *gcn;
  void *y, *hn, *cn, *gx, *gh0, *gc0, *gw, *reserve;
  int64_t reserve_bytes;
  int32_t lengths[]; /* B of them, if ragged */
};

/* Functions of a backend whose library has its own layout: for device `index`, the backend's own
 * number, and an element type that kernels compute in. They return the results of dpt_rnn_size and
 * dpt_rnn_find, and the bytes that forward keeps; args have no operands yet. */
typedef struct dpt__rnn_library {
  int (*size)(int index, const dpt_rnn *rnn, int type, int64_t *elements);
  int (*find)(int index, const dpt_rnn *rnn, int type, int pseudo_layer, int id,
              dpt_rnn_part *part);
  int (*reserve)(int index, const struct dpt__rnn_args *args, int64_t *bytes);
} dpt__rnn_library;

#endif
