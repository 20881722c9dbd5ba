/* pass.h: the pass of one pseudo-layer through the steps, forward or backward.
 *
 * Invariant: a thread goes through all steps of a run of sequences alone, and reads and writes no
 * data of other threads. Element types are those of the plan.
 */
#ifndef DPT_HOST_RNN_PASS_H
#define DPT_HOST_RNN_PASS_H
#include "host/nn/real.h"
#include "host/panels.h"
#include "host/rnn/plan.h"
#include "host/rows.h"

/* A matrix (k, n) to multiply rows by: element b[l * row + j * col]. packed: the matrix in panels;
 * NULL if there are too few steps for packing to pay off. */
typedef struct dpt__rnn_matrix {
  int64_t k, n, row, col;
  const void *b; /* NULL: there is no such matrix */
  void *packed;
} dpt__rnn_matrix;

typedef struct dpt__rnn_pass {
  const dpt__rnn_plan *plan;
  const dpt__panels *product;
  int cell, layer, direction;
  dpt__rnn_layer layout; /* offsets of the weights' parts */
  int64_t step;          /* 1 or -1: from a step to the next one in this direction */
  void *gates, *before, *cells, *whole, *given; /* dpt__rnn_block */
  void *h0, *c0, *hn, *cn; /* this pseudo-layer's states, in the users' order, or NULL; backward:
                            * hn and cn are the incoming gradients, h0 and c0 the outgoing ones */
  void *cells_before;      /* backward: c0 of forward */
  void *out;               /* this direction's columns of the layer's output, or of its gradient */
  const void *bias;        /* a row of gates */
  dpt__rnn_matrix input[2], recurrent, projection; /* input: one for each slice of the plan */
  void *dh, *dc, *dm, *tanhs; /* backward: (B, O), 3 x (B, H): running gradients, tanh of c */
  dpt__row_fn *sigmoid, *tanh;
} dpt__rnn_pass;

/* Returns the fields that forward and backward passes share; the caller sets the rest. States are
 * of all pseudo-layers, or NULL. */
dpt__rnn_pass dpt__rnn_pass_of(const dpt__rnn_plan *p, int layer, int direction, void *h0, void *c0,
                               void *hn, void *cn);
/* Runs rows first .. end-1 of the sorted sequences through all steps. */
typedef int dpt__rnn_run(const dpt__rnn_pass *s, int64_t first, int64_t end);
/* Runs all sequences through all steps, on the threads of the context. */
int dpt__rnn_run_all(const dpt__rnn_pass *s, dpt__rnn_run *run);
/* Prepares a part of the weights for products; part -1: there is none. */
void dpt__rnn_matrix_make(const dpt__rnn_pass *s, dpt__rnn_matrix *m, int64_t part, int64_t k,
                          int64_t n, int64_t row, int64_t col);
/* Prepares the input's matrices: x times them gives gates or, if turned, gates times them x. */
void dpt__rnn_inputs_make(dpt__rnn_pass *s, int turned);
/* Runs product->pack on the threads of the context, which changes no bit. */
void dpt__rnn_lay_out(const dpt__rnn_plan *p, const dpt__panels *product, void *to, const void *b,
                      int64_t k, int64_t n, int64_t row, int64_t col);
/* Computes c (rows, n) = or += (add) a (rows, k) times m, on the calling thread. */
int dpt__rnn_multiply(const dpt__rnn_pass *s, const dpt__rnn_matrix *m, void *c, int64_t c_row,
                      const void *a, int64_t a_row, int64_t rows, int add);
/* Computes c = or += a times m for all N rows, on the threads of the context. */
int dpt__rnn_multiply_all(const dpt__rnn_pass *s, const dpt__rnn_matrix *m, void *c, int64_t c_row,
                          const void *a, int64_t a_row, int add);

/* Counts of a run's sequences: those present at step t (n) and, of these, those present at the step
 * before (`came`) and at the step after (`stay`). */
typedef struct dpt__rnn_span {
  int64_t n, came, stay;
} dpt__rnn_span;
static inline int64_t dpt__rnn_within(int64_t active, int64_t first, int64_t end) {
  return (active < end ? active : end) - (active < first ? active : first);
}
static inline dpt__rnn_span dpt__rnn_span_at(const dpt__rnn_pass *s, int64_t t, int64_t first,
                                             int64_t end) {
  const int32_t *active = s->plan->active;
  int64_t n = dpt__rnn_within(active[t], first, end);
  int64_t came = dpt__rnn_within(active[t - s->step], first, end);
  int64_t stay = dpt__rnn_within(active[t + s->step], first, end);
  return (dpt__rnn_span){n, came < n ? came : n, stay < n ? stay : n};
}

#endif
