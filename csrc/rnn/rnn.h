/* rnn.h: what recurrent networks tell their kernels, and the layout of weights where it is ours.
 *
 * Invariant: the generic functions have checked everything, values of lengths included. A backend
 * whose library has a layout of its own says so in its table (`rnn`); where that is NULL the layout
 * is the one that this file describes, and a reserve that dpt__rnn_rows describes.
 */
#ifndef DPT_RNN_RNN_H
#define DPT_RNN_RNN_H
#include "device/backend.h"

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
  int32_t lengths[]; /* B of them, where ragged */
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

/* Sizes that follow from a network. */
static inline int32_t dpt__rnn_width(const dpt_rnn *r) {
  return r->projection ? r->projection : r->hidden;
}
static inline int dpt__rnn_gates(const dpt_rnn *r) {
  return r->cell == DPT_RNN_LSTM ? 4 : r->cell == DPT_RNN_GRU ? 3 : 1;
}
static inline int64_t dpt__rnn_input(const dpt_rnn *r, int layer) {
  return layer ? (int64_t)r->directions * dpt__rnn_width(r) : r->input;
}

/* The parts of a pseudo-layer in our layout, in elements; -1: there is no such part. With G gates,
 * input (G*H, I), recurrent (G*H, O), projection (O, H), input_bias and recurrent_bias (G*H). Gates
 * are in the order of their ids, but for a GRU's on the input, which are n, r, z: so r and z stand
 * beside each other between the n of the input and the n of h. */
typedef struct dpt__rnn_layer {
  int64_t input, recurrent, projection, input_bias, recurrent_bias, end;
} dpt__rnn_layer;
dpt__rnn_layer dpt__rnn_layer_at(const dpt_rnn *rnn, int pseudo_layer);

/* What the kernels keep for backward, in elements, for N rows (steps of sequences) in all: first a
 * block of `end` elements for each pseudo-layer, then (N, directions*O) for each layer but the
 * first: what it read. A row of gates has A places: 4*H for LSTM and GRU, whose fourth is the n of
 * h, else H. */
typedef struct dpt__rnn_block {
  int64_t gates;  /* (N, A): activated; later the gradients by the sums */
  int64_t before; /* (N, O): h before each step */
  int64_t cell;   /* (N, H): c after each step of an LSTM */
  int64_t whole;  /* (N, H): h before its projection */
  int64_t given;  /* (N, O): gradient by what the projection gives */
  int64_t end;
} dpt__rnn_block;
dpt__rnn_block dpt__rnn_block_of(const dpt_rnn *rnn, int64_t N);
int64_t dpt__rnn_reserve(const dpt_rnn *rnn, int64_t N);

/* Places of a row of gates. */
static inline int64_t dpt__rnn_row(const dpt_rnn *r) {
  return (int64_t)r->hidden * (dpt__rnn_gates(r) == 1 ? 1 : 4);
}

#endif
