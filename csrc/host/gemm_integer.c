/* gemm_integer.c: products of integers, one row at a time.
 *
 * Invariant: integers wrap as if every step did (sums are modulo 2^64); alpha and beta are
 * truncated to the type first; each element's terms are added in the order of k.
 */
#include "host/gemm.h"

enum { COLS = 512 };

#define ONLY_INTEGERS
#define BODY "host/gemm_rows.inc.c"
#include "host/all_types.inc.c"

typedef void row_fn(const dpt__gemm_args *g, int64_t i, int64_t c0, int64_t cols);
static row_fn *const rows[DPT_NDTYPE] = {DPT__BY_INTEGER(gemm_row)};

int dpt__host_gemm_integer(dpt__context *context, const dpt__gemm_args *g) {
  int64_t strips = (g->n + COLS - 1) / COLS, tasks = g->batch * g->m * strips;
  double work = (double)g->batch * (double)g->m * (double)g->n * (double)g->k;
#pragma omp parallel for num_threads(context->threads) schedule(static) if (work > 32768)
  for (int64_t t = 0; t < tasks; t++) {
    int64_t strip = t % strips, i = t / strips % g->m, batch = t / strips / g->m;
    int64_t c0 = strip * COLS, cols = g->n - c0 < COLS ? g->n - c0 : COLS;
    dpt__gemm_args one = dpt__gemm_at(g, batch);
    rows[g->dtype](&one, i, c0, cols);
  }
  return 0;
}
