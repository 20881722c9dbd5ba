/* compress.c: reductions over ranks whose elements are sent in 16 bits each.
 *
 * Invariant: rank i receives the i-th part of all ranks, reduces it in float in rank order, and
 * sends the result, rounded once more, to all. So a rank sends 2 (n-1)/n times 2 bytes per element,
 * as in a ring; a sum is rounded once, however many ranks there are; and all ranks get the same
 * bits. A single rank rounds as well. A chunk in flight fits in the cache.
 */
#include "distributed/compress.h"

#include "base/isa.h"
#include "base/reduced.h"

#include <stdlib.h>
#include <string.h>

enum {
  CHUNK = 1 << 19, /* elements in flight at once */
  BLOCK = 1024     /* elements converted to float at once */
};

typedef struct compress {
  const dpt__ranks *group;
  int dtype, wire, how; /* types in memory and of the sent elements; DPT_RANKS_SUM ... */
} compress;

int dpt__is_compressed(const dpt__signature *s) {
  return s->wire || dpt__is_reduced((int)s->dtype);
}

/* ---- memory and floats ---- */

/* Returns n <= BLOCK elements of data from `first` on as floats, doubles such that they are rounded
 * once; wide: a buffer for them. */
static const float *compress_read(const compress *w, int64_t n, const void *data, int64_t first,
                                  float *wide) {
  if (w->dtype == DPT_F32) return (const float *)data + first;
  if (w->dtype == DPT_F64)
    for (int64_t i = 0; i < n; i++) wide[i] = dpt__float_to_odd(((const double *)data)[first + i]);
  else
    dpt__reduced_widen(w->dtype, n, wide, (const uint16_t *)data + first);
  return wide;
}

static void compress_write(const compress *w, int64_t n, void *data, int64_t first,
                           const float *from) {
  if (w->dtype == DPT_F32)
    memcpy((float *)data + first, from, (size_t)n * sizeof *from);
  else if (w->dtype == DPT_F64)
    for (int64_t i = 0; i < n; i++) ((double *)data)[first + i] = from[i];
  else
    dpt__reduced_narrow(w->dtype, n, (uint16_t *)data + first, from);
}

static int64_t compress_block(int64_t left) { return left < BLOCK ? left : BLOCK; }

static void compress_pack(const compress *w, int64_t n, uint16_t *to, const void *data,
                          int64_t first) {
  float wide[BLOCK];
  if (w->dtype == w->wire) memcpy(to, (const uint16_t *)data + first, (size_t)n * sizeof *to);
  for (int64_t i = 0; i < n && w->dtype != w->wire; i += BLOCK) {
    int64_t some = compress_block(n - i);
    dpt__reduced_narrow(w->wire, some, to + i, compress_read(w, some, data, first + i, wide));
  }
}

static void compress_unpack(const compress *w, int64_t n, void *data, int64_t first,
                            const uint16_t *from) {
  float wide[BLOCK];
  if (w->dtype == w->wire) memcpy((uint16_t *)data + first, from, (size_t)n * sizeof *from);
  for (int64_t i = 0; i < n && w->dtype != w->wire; i += BLOCK) {
    int64_t some = compress_block(n - i);
    dpt__reduced_widen(w->wire, some, wide, from + i);
    compress_write(w, some, data, first + i, wide);
  }
}

/* ---- reductions ---- */

/* Accumulates x into r; NaN propagates. */
DPT__CLONES
static void compress_accumulate(int64_t n, int how, float *restrict r, const float *restrict x) {
  if (how == DPT_RANKS_MIN)
    for (int64_t i = 0; i < n; i++) r[i] = x[i] < r[i] || x[i] != x[i] ? x[i] : r[i];
  else if (how == DPT_RANKS_MAX)
    for (int64_t i = 0; i < n; i++) r[i] = x[i] > r[i] || x[i] != x[i] ? x[i] : r[i];
  else
    for (int64_t i = 0; i < n; i++) r[i] += x[i];
}

/* Reduces the ranks' parts (ranks, part) to `to` (part). */
static void compress_reduce(const compress *w, int64_t part, uint16_t *to, const uint16_t *from) {
  int ranks = w->group->n;
  float result[BLOCK], other[BLOCK];
  for (int64_t i = 0; i < part; i += BLOCK) {
    int64_t n = compress_block(part - i);
    dpt__reduced_widen(w->wire, n, result, from + i);
    for (int r = 1; r < ranks; r++) {
      dpt__reduced_widen(w->wire, n, other, from + r * part + i);
      compress_accumulate(n, w->how, result, other);
    }
    for (int64_t j = 0; j < n && w->how == DPT_RANKS_MEAN; j++) result[j] /= (float)ranks;
    dpt__reduced_narrow(w->wire, n, to + i, result);
  }
}

/* Reduces `sent` (ranks, part) over all ranks into `got`; overwrites `sent`. */
static int compress_exchange(const compress *w, int64_t part, uint16_t *sent, uint16_t *got) {
  const dpt__engine *engine = dpt__job_own.engine;
  void *joined = w->group->joined;
  int64_t bytes = part * (int64_t)sizeof *sent;
  DPT__TRY(engine->all_to_all(joined, sent, got, bytes));
  compress_reduce(w, part, sent, got);
  return engine->all_gather(joined, sent, got, bytes);
}

int dpt__compressed_all_reduce(const dpt__ranks *g, const dpt__signature *s, void *data,
                               int64_t count) {
  compress w = {g, (int)s->dtype, s->wire ? s->wire : (int)s->dtype, s->how};
  int64_t room = (count < CHUNK ? count : CHUNK) + g->n;
  uint16_t *sent = calloc((size_t)room * 2, sizeof *sent), *got = g->n > 1 ? sent + room : sent;
  if (!sent) return dpt__no_memory("no host memory for a sum in 16 bits");
  int status = 0;
  for (int64_t first = 0; first < count && !status; first += CHUNK) {
    int64_t n = count - first < CHUNK ? count - first : CHUNK;
    compress_pack(&w, n, sent, data, first);
    if (g->n > 1) status = compress_exchange(&w, (n + g->n - 1) / g->n, sent, got);
    if (!status) compress_unpack(&w, n, data, first, got);
  }
  free(sent);
  return status;
}
