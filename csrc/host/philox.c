/* philox.c: random numbers for tensors of host devices (ops/random.h has the formulas).
 *
 * What must stay true: element i depends on its place in row-major order alone, not on the threads.
 */
#include "base/element.h"
#include "host/kernels.h"
#include "ops/random.h"

enum { BLOCK = 4096 };

int dpt__host_philox(dpt__context *context, const void *args) {
  const dpt__philox_args *g = args;
  const dpt__walk *walk = &g->walk;
  int dtype = walk->dtype[0], single = dtype != DPT_F64, given = walk->noperand > 1;
  int64_t count = dpt__walk_count(walk), blocks = (count + BLOCK - 1) / BLOCK;
  int64_t step = walk->step[0][walk->ndim - 1] * (int64_t)dpt__dtype_size(dtype);
  int64_t p_step = given ? walk->step[1][walk->ndim - 1] : 0;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (blocks > 1)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t i = b * BLOCK, left = count - i;
    dpt__cursor c;
    dpt__walk_at(walk, &c, i, left < BLOCK ? left : BLOCK);
    while (dpt__walk_row(walk, &c))
      for (int64_t j = 0; j < c.n; j++, i++) {
        double a = !given                      ? g->a
                   : walk->dtype[1] == DPT_F32 ? (double)((float *)c.data[1])[j * p_step]
                                               : ((double *)c.data[1])[j * p_step];
        dpt__put_element(dtype, c.data[0] + j * step, dpt__philox_number(g, single, i, a));
      }
  }
  return 0;
}
