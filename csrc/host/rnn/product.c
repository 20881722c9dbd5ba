/* product.c: the products of this machine. */
#include "host/rnn/product.h"

#include "base/cpu.h"
#include "base/dtype.h"

const dpt__rnn_product *dpt__rnn_product_for(int type) {
  static const dpt__rnn_product *const sets[] = {
      [DPT__ISA_BASE] = dpt__rnn_product_base,
#ifdef __x86_64__
      [DPT__ISA_AVX2] = dpt__rnn_product_avx2,
      [DPT__ISA_AVX512] = dpt__rnn_product_avx512,
#endif
  };
  return &sets[dpt__isa()][type == DPT_F64];
}
