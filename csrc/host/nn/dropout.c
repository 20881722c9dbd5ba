/* dropout.c: dropout's mask by Philox 4x32-10.
 *
 * Invariant: the element with index `at` in the draw uses word (at % 4) of Philox block (at / 4),
 * so a mask depends neither on how the batch is split nor on the number of threads. Every backend
 * must draw the same words.
 */
#include "base/philox.h"
#include "host/nn/real.h"

enum { BLOCK = 4096 };

/* Draws elements `from` .. `to`-1, of `width` bytes. */
static DPT__INLINE int dropout_draw(int width, const struct dpt__dropout_mask_args *a,
                                    uint64_t keep, int64_t from, int64_t to) {
  char kept[8], none[8], *mask = a->mask;
  dpt__put_element(a->type, kept, a->value);
  dpt__put_element(a->type, none, 0);
  uint64_t seed = dpt__draw_seed(&a->draw), offset = dpt__draw_offset(&a->draw);
  uint32_t words[4];
  for (int64_t i = from; i < to; i++) {
    uint64_t at = (uint64_t)(a->first + i);
    if (i == from || at % 4 == 0) dpt__philox_at(seed, offset, at / 4, words);
    memcpy(mask + i * width, words[at % 4] < keep ? kept : none, (size_t)width);
  }
  return 0;
}

int dpt__host_dropout_mask(dpt__context *context, const void *p) {
  const struct dpt__dropout_mask_args *a = p;
  uint64_t keep = (uint64_t)((1 - a->p) * 4294967296.0);
#pragma omp parallel for num_threads(dpt__threads(context, a->n * 4)) schedule(static)
  for (int64_t from = 0; from < a->n; from += BLOCK)
    (void)DPT__BY_WIDTH(dpt__dtype_size(a->type), dropout_draw, a, keep, from,
                        a->n - from < BLOCK ? a->n : from + BLOCK);
  return 0;
}
