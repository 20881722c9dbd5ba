/* comm.c: the host kernel of sums over devices.
 *
 * What must stay true: every element is summed in the order of its sources, in the wide accumulator
 * of its type, and rounded once; so the bits do not depend on how the work is cut.
 */
#include "comm/comm.h"
#include "host/isa.h"
#include "host/kernels.h"

enum { BLOCK = 1024, PARALLEL = 32768 };

#define BODY "host/comm_rows.inc.c"
#include "host/all_types.inc.c"

typedef void sum_fn(void *to, const void *const *sources, int count, int64_t first, int64_t n,
                    void *room);
static sum_fn *const sums[] = {
#define X(id, type, acc, suffix, name) [id] = sum_##suffix,
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof sums / sizeof *sums == DPT_NDTYPE, "one for each element type");

int dpt__host_comm_sum(dpt__context *context, const void *p) {
  const struct dpt__comm_sum_args *args = p;
  sum_fn *sum = sums[args->dtype];
  int64_t n = args->count;
#pragma omp parallel for num_threads(context->threads) if (n > PARALLEL) schedule(static)
  for (int64_t first = 0; first < n; first += BLOCK) {
    union {
      double real;
      uint64_t whole;
    } room[BLOCK];
    sum(args->dst, args->source, args->sources, first, n - first < BLOCK ? n - first : BLOCK, room);
  }
  return 0;
}
