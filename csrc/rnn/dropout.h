/* dropout.h: dropout between two layers of a recurrent network, for every backend.
 *
 * Invariant: the element at `position` of sequence s has word position % 4 of the block whose
 * counter is (position / 4, first_row + s, offset) under the draw's seed.
 */
#ifndef DPT_RNN_DROPOUT_H
#define DPT_RNN_DROPOUT_H
#include "base/philox.h"
#include "dpt.h"

/* Returns the limit below which a word keeps its element. */
DPT__EVERYWHERE static inline uint64_t dpt__rnn_keep(const dpt_rnn *r) {
  return (uint64_t)((1 - r->dropout) * 4294967296.0);
}
/* Returns the position of column 0 of step t (of T), in the output of a layer with `columns`. */
DPT__EVERYWHERE static inline int64_t dpt__rnn_position(int layer, int64_t T, int64_t t,
                                                        int64_t columns) {
  return (layer * T + t) * columns;
}
/* Computes the words of a block for a sequence of the batch. */
DPT__EVERYWHERE static inline void dpt__rnn_words(const dpt_rnn *r, int64_t sequence, int64_t block,
                                                  uint32_t words[4]) {
  uint64_t row = (uint64_t)(r->draw.first_row + sequence) << 32;
  dpt__philox_at(dpt__draw_seed(&r->draw), dpt__draw_offset(&r->draw), row | (uint32_t)block,
                 words);
}

#endif
