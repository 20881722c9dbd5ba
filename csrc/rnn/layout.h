/* layout.h: dpt's own layout of a recurrent network's weights and of its reserve.
 *
 * Invariant: the weights' layout depends on the network alone, the reserve's also on the number of
 * rows.
 */
#ifndef DPT_RNN_LAYOUT_H
#define DPT_RNN_LAYOUT_H
#include "dpt.h"

/* Return sizes that depend on the network alone. */
static inline int32_t dpt__rnn_width(const dpt_rnn *r) {
  return r->projection ? r->projection : r->hidden;
}
static inline int dpt__rnn_gates(const dpt_rnn *r) {
  return r->cell == DPT_RNN_LSTM ? 4 : r->cell == DPT_RNN_GRU ? 3 : 1;
}
static inline int64_t dpt__rnn_input(const dpt_rnn *r, int layer) {
  return layer ? (int64_t)r->directions * dpt__rnn_width(r) : r->input;
}

/* The parts of a pseudo-layer in dpt's layout, as offsets in elements; -1: there is no such part.
 * With G gates, input is (G*H, I), recurrent (G*H, O), projection (O, H), input_bias and
 * recurrent_bias (G*H), with gates in the order of their ids. end: of the whole weight, which has
 * the matrices of all pseudo-layers first, then all biases, as in cuDNN 5 to 7. */
typedef struct dpt__rnn_layer {
  int64_t input, recurrent, projection, input_bias, recurrent_bias, end;
} dpt__rnn_layer;
dpt__rnn_layer dpt__rnn_layer_at(const dpt_rnn *rnn, int pseudo_layer);

/* The memory that kernels keep for backward, floats or doubles, as offsets in elements, for N rows
 * (steps of sequences) in all: first a block of `end` elements for each pseudo-layer, then, for
 * each layer but the first, its input (N, directions*O). A row of gates has A elements: 4*H for an
 * LSTM; 4*H for a GRU, as [n of the input | r | z | n of h], so that the three of h are contiguous;
 * otherwise H. */
typedef struct dpt__rnn_block {
  int64_t gates;  /* (N, A): activated; later the gradients w.r.t. the sums */
  int64_t before; /* (N, O): h before each step */
  int64_t cell;   /* (N, H): c after each step of an LSTM */
  int64_t whole;  /* (N, H): h before its projection */
  int64_t given;  /* (N, O): gradient w.r.t. the projection's output */
  int64_t end;
} dpt__rnn_block;
dpt__rnn_block dpt__rnn_block_of(const dpt_rnn *rnn, int64_t N);
int64_t dpt__rnn_reserve(const dpt_rnn *rnn, int64_t N);

/* Returns the elements of a row of gates. */
static inline int64_t dpt__rnn_row(const dpt_rnn *r) {
  return (int64_t)r->hidden * (dpt__rnn_gates(r) == 1 ? 1 : 4);
}

#endif
