/* pair.c: dot product, distance and equality of two operands, in host memory.
 *
 * Invariant: as in reduce.c, blocks have one size and are joined in order.
 */
#include "base/isa.h"
#include "host/reduce.h"
#include "ops/reduce.h"

#define INLINE DPT__INLINE

enum { SPREAD = 16, BLOCK = DPT__REDUCE_BLOCK };

#define BODY "host/pair_rows.inc.c"
#include "host/all_types.inc.c"

typedef void pair_fn(int pairing, int kind, const void *x, int64_t xs, const void *y, int64_t ys,
                     int64_t n, double p, part *sum);
static pair_fn *const pairs[DPT_NDTYPE] = {DPT__BY_DTYPE(pair)};

int dpt__host_pair(dpt__context *context, const void *args) {
  const dpt__pair_args *g = args;
  int op = dpt__pair_reduction(g->op), kind = dpt__accumulation(op, g->p);
  int dtype = g->walk.dtype[0], real = dpt__is_real(dtype);
  int64_t count = dpt__walk_count(&g->walk), blocks = (count + BLOCK - 1) / BLOCK;
  int64_t xs = g->walk.stride[0][g->walk.ndim - 1], ys = g->walk.stride[1][g->walk.ndim - 1];
  part one = {.whole = 0}, *parts = &one;
  if (blocks > 1) parts = dpt__scratch(context, (size_t)blocks * sizeof *parts);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (blocks > 2)
  for (int64_t t = 0; t < blocks; t++) {
    dpt__cursor c;
    int64_t left = count - t * BLOCK;
    parts[t] = (part){.whole = 0}; /* 0.0 too */
    dpt__walk_at(&g->walk, &c, t * BLOCK, left < BLOCK ? left : BLOCK);
    while (dpt__walk_row(&g->walk, &c))
      pairs[dtype](g->op, kind, c.data[0], xs, c.data[1], ys, c.n, g->p, &parts[t]);
  }
  for (int64_t t = 1; t < blocks; t++)
    if (real)
      parts->real += parts[t].real;
    else
      parts->whole = (int64_t)((uint64_t)parts->whole + (uint64_t)parts[t].whole);
  *g->out = real ? dpt__finish_real(op, g->p, parts->real, 0, (double)count)
                 : (double)dpt__finish_whole(op, parts->whole, count);
  return 0;
}
