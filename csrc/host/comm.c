/* comm.c: the host kernel of sums over devices.
 *
 * Invariant: every element is summed in the order of its sources, in the wide accumulator of its
 * type, and rounded once; so the bits do not depend on how the work is split.
 */
#include "base/isa.h"
#include "comm/runs.h"
#include "host/kernels.h"

enum { BLOCK = 1024, PARALLEL = 32768 };

#define BODY "host/comm_rows.inc.c"
#include "host/all_types.inc.c"

typedef void sum_fn(void *to, const void *const *sources, int count, int64_t first, int64_t n,
                    void *memory);
static sum_fn *const sums[DPT_NDTYPE] = {DPT__BY_DTYPE(sum)};

static void comm_sum_run(const struct dpt__comm_sum_args *args, const dpt__word *run, int64_t first,
                         int64_t end) {
  const void *sources[DPT__SOURCES];
  for (int s = 0; s < args->sources; s++) sources[s] = run[2 + s].source;
  for (; first < end; first += BLOCK) {
    union {
      double real;
      uint64_t whole;
    } memory[BLOCK];
    sums[args->dtype](run[1].sum, sources, args->sources, first,
                      end - first < BLOCK ? end - first : BLOCK, memory);
  }
}

/* Splits a single run into blocks; of several runs, each is computed by one thread. */
int dpt__host_comm_sum(dpt__context *context, const void *p) {
  const struct dpt__comm_sum_args *args = p;
  int64_t runs = args->runs, n = args->word[0].count;
  if (runs == 1) {
#pragma omp parallel for num_threads(context->threads) if (n > PARALLEL) schedule(static)
    for (int64_t first = 0; first < n; first += BLOCK)
      comm_sum_run(args, args->word, first, n - first < BLOCK ? n : first + BLOCK);
    return 0;
  }
#pragma omp parallel for num_threads(context->threads) if (runs * n > PARALLEL) schedule(static)
  for (int64_t r = 0; r < runs; r++) {
    const dpt__word *run = args->word + r * (2 + args->sources);
    comm_sum_run(args, run, 0, run[0].count);
  }
  return 0;
}
