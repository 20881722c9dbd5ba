/* plan.h: the layout of sequences in the kernels of recurrent networks.
 *
 * Invariant: inside the kernels, sequences are sorted by decreasing length and packed: step t has
 * `active[t]` adjacent rows from row first[t] on, and sorted sequence i has row first[t] + i. So a
 * step is one product on adjacent rows, and no padding is computed. If all sequences have all
 * steps, this is the users' own order (step by step), and x and y are used in place: `plain`.
 */
#ifndef DPT_HOST_RNN_PLAN_H
#define DPT_HOST_RNN_PLAN_H
#include "host/kernels.h"
#include "rnn/rnn.h"

/* The part of the gates on the input that one product computes: n elements, from `first` on in a
 * column of their matrix, from `column` on in a row of gates. */
typedef struct dpt__rnn_slice {
  int64_t first, column, n;
} dpt__rnn_slice;

typedef struct dpt__rnn_plan {
  const struct dpt__rnn_args *a;     /* without lengths; operands are floats or doubles */
  const struct dpt__rnn_args *given; /* the kernel's */
  dpt__context *context;
  size_t width; /* bytes of an element */
  int plain;
  int64_t steps, B, N, H, O, columns; /* N rows in all; columns: directions * O */
  int64_t gates, row;                 /* gates on the input; elements of a row of gates */
  int64_t shift;                      /* where the gates on h begin in a row */
  dpt__rnn_slice slice[2];            /* the second one is a GRU's n, otherwise without elements */
  int32_t *order;                     /* (B): the users' number of a sorted sequence */
  int64_t *first;                     /* (steps) */
  int32_t *active;                    /* (steps), with a 0 before and after them */
  dpt__rnn_block at;                  /* positions within a block */
  char *blocks, *inputs;              /* rnn.h: dpt__rnn_block; for inference all share one */
  int64_t block_step;
  struct dpt__rnn_args floats; /* a */
} dpt__rnn_plan;

/* Makes a plan, and converts operands of a reduced type. If the context measures, only the sizes
 * are set. */
void dpt__rnn_plan_make(dpt__rnn_plan *p, dpt__context *context, const struct dpt__rnn_args *given);
/* Converts the results back. */
void dpt__rnn_plan_finish(const dpt__rnn_plan *p);

static inline void *dpt__rnn_at(const dpt__rnn_plan *p, const void *base, int64_t i) {
  return (char *)base + (size_t)i * p->width;
}
/* Returns a part of a pseudo-layer's block, or NULL if it has none. */
static inline void *dpt__rnn_kept(const dpt__rnn_plan *p, int pseudo_layer, int64_t part) {
  return part < 0 ? NULL : dpt__rnn_at(p, p->blocks, pseudo_layer * p->block_step + part);
}
/* Returns the input of a layer after the first: (N, columns). */
static inline void *dpt__rnn_input_of(const dpt__rnn_plan *p, int layer) {
  return dpt__rnn_at(p, p->inputs, (layer - 1) * p->N * p->columns);
}
static inline void *dpt__rnn_weight(const dpt__rnn_plan *p, void *weight, int64_t part) {
  return part < 0 ? NULL : dpt__rnn_at(p, weight, part);
}

/* Copies rows in the users' order to packed ones, or back; unpack clears rows after a sequence's
 * end. */
void dpt__rnn_pack(const dpt__rnn_plan *p, void *packed, const void *users, int64_t columns);
void dpt__rnn_unpack(const dpt__rnn_plan *p, void *users, const void *packed, int64_t columns);
/* Multiplies a layer's output to the next layer (or its gradient) by dropout's mask. */
void dpt__rnn_dropout(const dpt__rnn_plan *p, int layer, void *packed);
/* Splits the sequences into `parts` runs of about equally many rows; run i is [cuts[i],
 * cuts[i+1]). */
void dpt__rnn_cut(const dpt__rnn_plan *p, int parts, int64_t *cuts);

#endif
