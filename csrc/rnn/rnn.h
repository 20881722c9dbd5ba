/* rnn.h: the arguments of recurrent networks' kernels.
 *
 * Invariant: the generic functions have checked everything, values of lengths included. A backend
 * whose library has a layout of its own says so in its table (`rnn`); if that is NULL the layout of
 * weights and of the reserve is the one of layout.h.
 */
#ifndef DPT_RNN_RNN_H
#define DPT_RNN_RNN_H
#include "device/backend.h"
#include "rnn/layout.h"

/* Arguments of the three kernels; each reads and writes what dpt.h says of its function. */
struct dpt__rnn_args {
  dpt_rnn rnn;
  int32_t type, deterministic, tf32;
  int32_t ragged; /* lengths are there */
  int32_t T, B;   /* steps, sequences */
  double scale;   /* of backward_weight */
  /* Missing ones are NULL; without a reserve forward is for inference. */
  void *x, *h0, *c0, *weight, *gy, *ghn, *gcn;
  void *y, *hn, *cn, *gx, *gh0, *gc0, *gw, *reserve;
  int64_t reserve_bytes;
  int32_t lengths[]; /* B of them, if ragged */
};

/* What a backend answers whose library has a layout of its own: of device `index`, its own number,
 * and for an element type that kernels compute in. The answers are those of dpt_rnn_size and
 * dpt_rnn_find, and the bytes that forward leaves; args have no operands yet. */
typedef struct dpt__rnn_library {
  int (*size)(int index, const dpt_rnn *rnn, int type, int64_t *elements);
  int (*find)(int index, const dpt_rnn *rnn, int type, int pseudo_layer, int id,
              dpt_rnn_part *part);
  int (*reserve)(int index, const struct dpt__rnn_args *args, int64_t *bytes);
} dpt__rnn_library;

#endif
