/* batchnorm.c: batch normalization, block by block of planes.
 *
 * Invariant: one thread computes a plane; its sums are computed in double, in a fixed order,
 * whichever block it is in. Squares are of differences from a mean (no cancellation): the mean of
 * the whole, or that of a piece of a plane, and then the pieces are joined. A forward pass reads
 * the input twice; a backward pass reads the input and the gradient twice each. Elements of reduced
 * types are converted to floats in L1, and the results are those of floats, rounded once.
 */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/stored.h"
#include "ops/reduce.h"

enum { BLOCK = 256, PIECE = 4096, ROW = 1024 };

struct shape {
  int64_t N, C, S;
  dpt__stored stored;
};

static struct shape batchnorm_shape(int type, int64_t N, int64_t C, int64_t S) {
  return (struct shape){S ? N : 0, C, S, dpt__stored_of(type)};
}

/* Returns n columns from `first` on of `rows` rows from row i on, and the distance of the rows: in
 * place, or converted in `room`. The caller's loops over both let gcc add several rows at once. */
static DPT__INLINE const void *batchnorm_rows(const struct shape *a, const void *x, int64_t first,
                                              int64_t n, int64_t i, int64_t rows, void *room,
                                              int64_t *apart) {
  *apart = a->stored.widen ? n : a->C;
  if (!a->stored.widen) return dpt__stored_read(&a->stored, x, i * a->C + first, 0, room);
  for (int64_t r = 0; r < rows; r++)
    dpt__stored_read(&a->stored, x, (i + r) * a->C + first, n, (float *)room + r * n);
  return room;
}

/* Returns the number of rows of n columns, of `left`, that batchnorm_rows reads at once. */
static DPT__INLINE int64_t batchnorm_count(const struct shape *a, int64_t n, int64_t most,
                                           int64_t left) {
  return a->stored.widen ? dpt__min(most / n, left) : left;
}

/* Returns the number of planes that a thread processes at once. */
static int64_t batchnorm_block(const struct shape *a, int threads) {
  int64_t share = (a->C + threads - 1) / threads;
  return dpt__min(BLOCK, a->S == 1 ? (share + 63) / 64 * 64 : share);
}

/* Elements that are read at once: planes c .. c+planes-1 of a block in image i, or positions k ..
 * k+size-1 of plane c. size: elements of a plane; o: the first element's number. */
struct part {
  int64_t i, c, k, planes, size, o;
};

/* Advances to the next part, of at most `most` elements, of n planes; zeros are before the first
 * part. Returns false after the last one. If S is 1, a part has all n planes (BLOCK <= ROW). */
static int batchnorm_next(const struct shape *a, int64_t first, int64_t n, int64_t most,
                          struct part *p) {
  if (p->k + p->size < a->S) {
    p->k += p->size;
  } else {
    p->k = 0, p->c += p->planes;
    if (p->c == n) p->c = 0, p->i++;
  }
  if (p->i == a->N) return 0;
  p->planes = a->S > most ? 1 : dpt__min(most / a->S, n - p->c);
  p->size = dpt__min(most, a->S - p->k);
  p->o = (p->i * a->C + first + p->c) * a->S + p->k;
  return 1;
}

#define DPT_ROWS "host/nn/batchnorm.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(batchnorm)
DPT_REAL_KERNEL(batchnorm_backward)
