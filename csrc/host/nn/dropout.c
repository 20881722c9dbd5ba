/* dropout.c: dropout's mask by Philox 4x32-10.
 *
 * What must stay true: element `place` of row `row` takes word place % 4 of the block whose counter
 * is (place / 4, row, module, step) under the key seed; so a mask depends neither on how the batch
 * is split nor on threads. Every backend must draw the same words.
 */
#include "base/philox.h"
#include "host/nn/real.h"

static void draw(const struct dpt__dropout_mask_args *a, uint64_t keep, int64_t row) {
  uint32_t words[4];
  for (int64_t i = 0; i < a->row; i++) {
    if (i % 4 == 0) {
      uint64_t global = (uint64_t)(a->first_row + row);
      uint32_t counter[4] = {(uint32_t)(i / 4), (uint32_t)global, a->module, a->step};
      dpt__philox(a->seed, counter, words);
    }
    double value = words[i % 4] < keep ? a->value : 0;
    if (a->type == DPT_F32)
      ((float *)a->mask)[row * a->row + i] = (float)value;
    else
      ((double *)a->mask)[row * a->row + i] = value;
  }
}

int dpt__host_dropout_mask(dpt__context *context, const void *p) {
  const struct dpt__dropout_mask_args *a = p;
  uint64_t keep = (uint64_t)((1 - a->p) * 4294967296.0);
#pragma omp parallel for num_threads(dpt__threads(context, a->rows * a->row * 4)) schedule(static)
  for (int64_t row = 0; row < a->rows; row++) draw(a, keep, row);
  return 0;
}
