/* gemm_fixed.c: the product with a fixed order of sums, for deterministic mode and for small linear
 * layers on devices.
 *
 * Invariant: every element of c is the sum over k in the order 0, 1, 2 ..., multiplied and added
 * without fusing, whatever its position in c, the size of c and the number of threads. (OpenBLAS
 * does not promise that even for a block of fixed size: its kernels round differently by position
 * within the block.) gcc may not contract here: the clones are for AVX2 without FMA.
 */
#include "base/isa.h"
#include "host/gemm.h"

enum { ROWS = 4, CHUNK = 64 };

#define DPT_ROWS "host/gemm_fixed.inc.c"
#include "host/each_real.h"

int dpt__host_gemm_fixed(dpt__context *context, const dpt__gemm_args *g) {
  double work = (double)g->m * (double)g->n * (double)g->k;
  int threads = work < 1e5 ? 1 : context->threads;
  size_t bytes = (size_t)threads * (size_t)g->k * 64;
  _Alignas(64) char few[1 << 14]; /* enough for the panels of a small layer */
  void *panels = bytes <= sizeof few ? few : dpt__scratch(context, bytes);
  if (context->measures) return 0;
  static void (*const product[])(const dpt__gemm_args *, int, void *) = {DPT__BY_REAL(product)};
  product[g->dtype](g, threads, panels);
  return 0;
}
