/* tile.h: runs a dense row function over the operands of a walk.
 *
 * Invariant: row functions only ever see dense runs of elements. Where an operand is not dense, and
 * no function of the task takes it as it is, a tile of it is gathered into a buffer first (read
 * along its own smallest stride, so that transposed operands use whole cache lines), and the result
 * scattered afterwards. Elements are converted on the way where the row function wants another type
 * than memory holds.
 */
#ifndef DPT_HOST_TILE_H
#define DPT_HOST_TILE_H
#include "device/backend.h"
#include "host/rows.h"

typedef struct dpt__task {
  dpt__row_fn *row;
  double p, q;
  int32_t dtype[DPT__OPERANDS]; /* what the row function reads and writes */
  int costly;                   /* worth several threads sooner */
  dpt__row_fn *past;            /* row, written past the cache (host/rows.h), or NULL */
  dpt__strided_fn *strided;     /* row for elements that stand apart, or NULL */
  dpt__row_fn *number;          /* row with p for its second operand, or NULL: of reals */
  int scales;                   /* p is a factor of that */
} dpt__task;

void dpt__tiles(const dpt__context *context, const dpt__walk *walk, const dpt__task *task);

#endif
