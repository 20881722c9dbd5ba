/* norm.c: normalization of rows, each by its own mean and variance.
 *
 * Invariant: one thread computes a row; its sums are computed in double, in a fixed order.
 * Gradients of parameters are summed over chunks of rows, which depend on sizes alone, and then
 * over the chunks. Rows of reduced types are converted to floats and computed as such, rounded
 * once.
 */
#include "host/nn/real.h"
#include "host/nn/stored.h"

enum {
  CHUNKS = 64,   /* at most, of the rows of a group */
  TOGETHER = 8,  /* rows whose products are summed by columns before they are added to a chunk's */
  NEAR = 1 << 13 /* elements of such rows that stay in the cache */
};

/* A row's plane k has the parameters K * group + k. */
struct norm_shape {
  int64_t rows, groups, K, S, D;   /* D: elements of a row */
  int64_t together, chunk, chunks; /* rows of a group; their number */
  int rms;
  dpt__stored stored;
};

static struct norm_shape norm_shape_of(int type, int rms, int64_t rows, int64_t groups, int64_t K,
                                       int64_t S) {
  struct norm_shape a = {rows, groups, K, S, K * S, .rms = rms, .stored = dpt__stored_of(type)};
  int64_t most = S == 1 ? NEAR / a.D : 1, n = rows / groups;
  a.together = most < 1 ? 1 : most < TOGETHER ? most : TOGETHER;
  a.chunk = (n + CHUNKS - 1) / CHUNKS;
  if (a.chunk < TOGETHER) a.chunk = TOGETHER;
  a.chunks = (n + a.chunk - 1) / a.chunk;
  return a;
}

#define DPT_ROWS "host/nn/norm.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(norm)
DPT_REAL_KERNEL(norm_backward)
