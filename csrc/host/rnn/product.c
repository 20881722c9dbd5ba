/* product.c: the products of this machine. */
#include "host/rnn/product.h"
#include "host/rows.h"

const dpt__rnn_product *dpt__rnn_product_for(int type) {
  const dpt__rows *rows = dpt__rows_pick();
  const dpt__rnn_product *table = rows == &dpt__rows_avx512 ? dpt__rnn_product_avx512
                                  : rows == &dpt__rows_avx2 ? dpt__rnn_product_avx2
                                                            : dpt__rnn_product_sse2;
  return &table[type == DPT_F64];
}
