/* attention.c: scaled dot-product attention in blocks (Rabe and Staats, 2021; Dao et al., 2022).
 *
 * Invariant: temporary memory grows with the number of keys, not with that of scores. Blocks begin
 * at multiples of their size, and a row is summed block by block, so its bits depend neither on
 * other rows nor on the number of threads. Rows of reduced types are converted to floats, computed
 * as such and rounded once. A row's maximum, sum and gradients ignore keys that take no part.
 */
#include "base/number.h"
#include "base/philox.h"
#include "host/nn/real.h"
#include "host/nn/stored.h"
#include "host/panels.h"

enum {
  QUERIES = 64, /* of a block */
  FEW = 4,      /* blocks of queries that share packed keys and values in forward */
  KEYS = 256,   /* of a block in forward */
  CHUNK = 64,   /* values that are packed together in forward */
  BACK = 128,   /* keys of a block in backward */
  LANES = 16    /* partial sums and maxima of a row */
};

/* A kernel's constants. */
typedef struct attention {
  const struct dpt__attention_args *a;
  const dpt__panels *panels, *given; /* of the type that is computed in, and of the operands' */
  dpt__row_fn *exp;
  dpt__stored stored;
  uint64_t keep; /* words below it keep a weight */
} attention;

static attention attention_of(const struct dpt__attention_args *a) {
  int type = dpt__compute_dtype(a->type);
  return (attention){.a = a,
                     .panels = dpt__panels_for(type),
                     .given = dpt__panels_for(a->type),
                     .exp = dpt__rows_pick()->map[DPT__MAP_exp][type],
                     .stored = dpt__stored_of(a->type),
                     .keep = (uint64_t)((1 - a->options.dropout) * 4294967296.0)};
}

/* Returns the number of keys, from key `first` on and at most n, that query l sees. */
static int64_t attention_seen(const struct dpt__attention_args *a, int64_t l, int64_t first,
                              int64_t n) {
  int64_t seen = a->options.causal ? l + a->options.offset + 1 - first : n;
  return seen < 0 ? 0 : dpt__min(seen, n);
}

/* Returns the offset of the mask of head h of example n, query l and key s. */
static int64_t attention_mask_at(const struct dpt__attention_args *a, int64_t n, int64_t h,
                                 int64_t l, int64_t s) {
  const struct dpt__heads *at = &a->mask_at;
  return n * at->batch + h * at->head + l * at->row + s * a->mask_column;
}

static int64_t attention_at(const struct dpt__heads *at, int64_t n, int64_t h, int64_t row) {
  return n * at->batch + h * at->head + row * at->row;
}

/* Adds `count` elements to a thread's memory and returns the offset of the first one. */
static int64_t attention_room(int64_t *total, int64_t count) {
  int64_t at = *total;
  *total += (count + LANES - 1) / LANES * LANES;
  return at;
}

#define DPT_ROWS "host/nn/attention.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(attention)
