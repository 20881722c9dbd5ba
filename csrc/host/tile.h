/* tile.h: runs a dense row function over the operands of a walk.
 *
 * Invariant: row functions only see dense runs of elements. If an operand is not dense, and the
 * task has no function for strided elements, a tile of it is gathered into a buffer first (read
 * along its own smallest stride, so that transposed operands use whole cache lines), and the result
 * is scattered afterwards. Elements are converted if the row function uses another type than memory
 * holds.
 */
#ifndef DPT_HOST_TILE_H
#define DPT_HOST_TILE_H
#include "device/backend.h"
#include "host/rows.h"

typedef struct dpt__task {
  dpt__row_fn *row;
  double p, q;
  int32_t dtype[DPT__OPERANDS]; /* types that the row function reads and writes */
  int costly;                   /* several threads pay off sooner */
  dpt__row_fn *past;            /* row with non-temporal stores (host/rows.h), or NULL */
  dpt__strided_fn *strided;     /* row for strided elements, or NULL */
  dpt__row_fn *number;          /* row with p as its second operand, or NULL; of reals */
  int scales;                   /* 1: `number` gets the operand times this task's p */
} dpt__task;

void dpt__tiles(const dpt__context *context, const dpt__walk *walk, const dpt__task *task);

#endif
