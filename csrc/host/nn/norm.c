/* norm.c: normalization of rows, each by its own mean and variance.
 *
 * Invariant: one thread computes a row; its sums are computed in double, in a fixed order.
 * Gradients of parameters are summed over chunks of rows, which depend on sizes alone, and then
 * over the chunks. Rows of reduced types are converted to floats and computed as such, rounded
 * once.
 */
#include "host/nn/real.h"
#include "host/rows.h"

enum {
  CHUNKS = 64,   /* at most, of the rows of a group */
  TOGETHER = 8,  /* rows whose products are summed by columns before they are added to a chunk's */
  NEAR = 1 << 13 /* elements of such rows that stay in the cache */
};

/* A row's plane k has the parameters K * group + k. widen, narrow: conversions of reduced types to
 * float and back, otherwise NULL. */
struct norm_shape {
  int64_t rows, groups, K, S, D;   /* D: elements of a row */
  int64_t together, chunk, chunks; /* rows of a group; their number */
  int64_t width;                   /* of an element, in bytes */
  int rms;
  dpt__row_fn *widen, *narrow;
};

static struct norm_shape norm_shape_of(int type, int rms, int64_t rows, int64_t groups, int64_t K,
                                       int64_t S) {
  struct norm_shape a = {rows, groups, K, S, K * S, .rms = rms};
  int64_t most = S == 1 ? NEAR / a.D : 1, n = rows / groups;
  a.together = most < 1 ? 1 : most < TOGETHER ? most : TOGETHER;
  a.chunk = (n + CHUNKS - 1) / CHUNKS;
  if (a.chunk < TOGETHER) a.chunk = TOGETHER;
  a.chunks = (n + a.chunk - 1) / a.chunk;
  a.width = (int64_t)dpt__dtype_size(type);
  if (!dpt__is_reduced(type)) return a;
  a.widen = dpt__rows_pick()->convert[DPT_F32][type];
  a.narrow = dpt__rows_pick()->convert[type][DPT_F32];
  return a;
}

/* Returns row r: in place, or converted in `room`. */
static DPT__INLINE const void *norm_read(const struct norm_shape *a, const void *x, int64_t r,
                                         void *room) {
  const char *from = (const char *)x + r * a->D * a->width;
  if (a->widen) a->widen(a->D, room, from, NULL, NULL, 0, 0);
  return a->widen ? room : from;
}
/* Returns memory for result row r, before norm_write stores it. */
static DPT__INLINE void *norm_place(const struct norm_shape *a, void *x, int64_t r, void *room) {
  return a->narrow ? room : (char *)x + r * a->D * a->width;
}
static DPT__INLINE void norm_write(const struct norm_shape *a, void *x, int64_t r,
                                   const void *room) {
  if (a->narrow) a->narrow(a->D, (char *)x + r * a->D * a->width, room, NULL, NULL, 0, 0);
}

#define DPT_ROWS "host/nn/norm.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(norm)
DPT_REAL_KERNEL(norm_backward)
