/* tile.c: cuts a walk into tiles, gathers, computes, scatters (tile.h has the contract).
 *
 * What must stay true: a tile is nj rows of ni elements; a dense operand of a tile is used in
 * place. Tiles are numbered in walk order and threads take consecutive ones; which thread computes
 * a tile changes no bit of it. Large results that no other operand shares are written past the
 * cache.
 */
#include "host/tile.h"
#include <emmintrin.h>
#include <string.h>

enum {
  TILE = 1024,            /* elements of a buffer */
  CHUNK = 4096,           /* elements of a tile where all operands are dense */
  SIDE = 32,              /* of a tile with transposed operands */
  SHORT = 64,             /* rows below this are gathered several at a time */
  PARALLEL = 32768,       /* elements from which several threads pay */
  PARALLEL_COSTLY = 8192, /* the same for costly functions */
  PAST_CACHE = 16 << 20   /* bytes of a result from which it is written past the cache */
};

typedef struct layout {
  const dpt__walk *walk;
  const dpt__task *task;
  const dpt__rows *rows;
  int64_t si, sj; /* sizes of the last two dimensions (rows, and how many of them) */
  int64_t bi, bj; /* of a tile */
  int64_t ni, nj; /* tiles along the two */
  int64_t tiles;  /* in all */
  int di, dj;     /* the two dimensions; dj -1: there is only one */
  int past_cache;
} layout;

#define FN(name) name##_8
#define T uint8_t
#include "host/tile_move.inc.c"
#undef FN
#undef T
#define FN(name) name##_16
#define T uint16_t
#include "host/tile_move.inc.c"
#undef FN
#undef T
#define FN(name) name##_32
#define T uint32_t
#include "host/tile_move.inc.c"
#undef FN
#undef T
#define FN(name) name##_64
#define T uint64_t
#include "host/tile_move.inc.c"
#undef FN
#undef T

static void gather(size_t size, void *to, const void *from, int64_t nj, int64_t ni, int64_t sj,
                   int64_t si) {
  switch (size) {
  case 1:
    gather_8(to, from, nj, ni, sj, si);
    break;
  case 2:
    gather_16(to, from, nj, ni, sj, si);
    break;
  case 4:
    gather_32(to, from, nj, ni, sj, si);
    break;
  default:
    gather_64(to, from, nj, ni, sj, si);
    break;
  }
}

static void scatter(size_t size, void *to, const void *from, int64_t nj, int64_t ni, int64_t sj,
                    int64_t si) {
  switch (size) {
  case 1:
    scatter_8(to, from, nj, ni, sj, si);
    break;
  case 2:
    scatter_16(to, from, nj, ni, sj, si);
    break;
  case 4:
    scatter_32(to, from, nj, ni, sj, si);
    break;
  default:
    scatter_64(to, from, nj, ni, sj, si);
    break;
  }
}

/* Copies past the cache; the ends that are no whole 16 bytes go the usual way. */
static void stream_out(char *to, const char *from, size_t bytes) {
  size_t head = (size_t)(-(intptr_t)to & 15);
  if (head > bytes) head = bytes;
  memcpy(to, from, head);
  size_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    __m128i a = _mm_loadu_si128((const __m128i *)(from + i));
    __m128i b = _mm_loadu_si128((const __m128i *)(from + i + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + i + 32));
    __m128i d = _mm_loadu_si128((const __m128i *)(from + i + 48));
    _mm_stream_si128((__m128i *)(to + i), a);
    _mm_stream_si128((__m128i *)(to + i + 16), b);
    _mm_stream_si128((__m128i *)(to + i + 32), c);
    _mm_stream_si128((__m128i *)(to + i + 48), d);
  }
  memcpy(to + i, from + i, bytes - i);
}

typedef union buffer {
  double align;
  char bytes[TILE * 8];
} buffer;

static void one_tile(const layout *plan, int64_t number) {
  const dpt__walk *walk = plan->walk;
  const dpt__task *task = plan->task;
  buffer work[DPT__OPERANDS], raw;
  char *data[DPT__OPERANDS] = {NULL}, *memory[DPT__OPERANDS];
  int64_t at_i = number % plan->ni * plan->bi, rest = number / plan->ni;
  int64_t at_j = rest % plan->nj * plan->bj, outer = rest / plan->nj;
  int64_t ni = plan->si - at_i < plan->bi ? plan->si - at_i : plan->bi;
  int64_t nj = plan->sj - at_j < plan->bj ? plan->sj - at_j : plan->bj;
  int64_t place[DPT__OPERANDS], step_i[DPT__OPERANDS], step_j[DPT__OPERANDS];
  int last = walk->noperand - 1;
  for (int k = 0; k <= last; k++) {
    step_i[k] = walk->step[k][plan->di];
    step_j[k] = plan->dj >= 0 ? walk->step[k][plan->dj] : 0;
    place[k] = at_i * step_i[k] + at_j * step_j[k];
  }
  for (int d = plan->dj - 1; d >= 0; d--) {
    int64_t at = outer % walk->size[d];
    outer /= walk->size[d];
    for (int k = 0; k <= last; k++) place[k] += at * walk->step[k][d];
  }
  for (int k = last; k >= 0; k--) {
    int dtype = walk->dtype[k], want = task->dtype[k];
    size_t size = dpt__dtype_size(dtype);
    int dense = step_i[k] == 1 && (nj == 1 || step_j[k] == ni);
    data[k] = memory[k] = walk->data[k] + place[k] * (int64_t)size;
    if (dense && dtype == want && !(k == 0 && plan->past_cache)) continue;
    data[k] = work[k].bytes;
    if (k == 0) continue;
    const char *from = memory[k];
    if (!dense) {
      char *to = dtype == want ? work[k].bytes : raw.bytes;
      gather(size, to, memory[k], nj, ni, step_j[k], step_i[k]);
      from = to;
    }
    if (dtype != want)
      plan->rows->convert[want][dtype](ni * nj, work[k].bytes, from, NULL, NULL, 0, 0);
  }
  task->row(ni * nj, data[0], data[1], data[2], data[3], task->p, task->q);
  if (data[0] == memory[0]) return;
  size_t size = dpt__dtype_size(walk->dtype[0]);
  const char *from = data[0];
  if (walk->dtype[0] != task->dtype[0]) {
    plan->rows->convert[walk->dtype[0]][task->dtype[0]](ni * nj, raw.bytes, from, NULL, NULL, 0, 0);
    from = raw.bytes;
  }
  if (plan->past_cache)
    for (int64_t j = 0; j < nj; j++)
      stream_out(memory[0] + (size_t)(j * step_j[0]) * size, from + (size_t)(j * ni) * size,
                 (size_t)ni * size);
  else
    scatter(size, memory[0], from, nj, ni, step_j[0], step_i[0]);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How the tiles lie: whole rows where every operand is dense along them, squares where one is
 * transposed, several short rows at a time otherwise. */
static void lay(layout *plan, const dpt__walk *walk, const dpt__task *task) {
  int dense = 1, transposed = 0, native = 1;
  plan->di = walk->ndim - 1;
  plan->dj = walk->ndim - 2;
  plan->si = walk->size[plan->di];
  plan->sj = plan->dj >= 0 ? walk->size[plan->dj] : 1;
  for (int k = 0; k < walk->noperand; k++) {
    int64_t step_i = walk->step[k][plan->di];
    int64_t step_j = plan->dj >= 0 ? walk->step[k][plan->dj] : 0;
    dense = dense && step_i == 1;
    transposed = transposed || (plan->dj >= 0 && step_j == 1 && step_i > 1);
    native = native && walk->dtype[k] == task->dtype[k];
  }
  int64_t tile = native && !plan->past_cache ? CHUNK : TILE;
  if (dense && (plan->dj < 0 || plan->si >= SHORT)) {
    plan->bi = least(plan->si, tile);
    plan->bj = 1;
  } else if (transposed) {
    plan->bi = least(plan->si, SIDE);
    plan->bj = least(plan->sj, TILE / plan->bi);
    if (plan->bj < SIDE) plan->bi = least(plan->si, TILE / plan->bj);
  } else {
    plan->bi = least(plan->si, TILE);
    plan->bj = least(plan->sj, TILE / plan->bi);
  }
  plan->ni = (plan->si + plan->bi - 1) / plan->bi;
  plan->nj = (plan->sj + plan->bj - 1) / plan->bj;
  plan->tiles = plan->ni * plan->nj;
  for (int d = 0; d < plan->dj; d++) plan->tiles *= walk->size[d];
}

/* A large result whose rows are dense and that no operand shares. */
static int past_cache(const dpt__walk *walk, int64_t count) {
  if (count * (int64_t)dpt__dtype_size(walk->dtype[0]) < PAST_CACHE) return 0;
  if (walk->step[0][walk->ndim - 1] != 1 || walk->size[walk->ndim - 1] < SHORT) return 0;
  for (int k = 1; k < walk->noperand; k++)
    if (walk->data[k] == walk->data[0]) return 0;
  return 1;
}

void dpt__tiles(const dpt__context *context, const dpt__walk *walk, const dpt__task *task) {
  int64_t count = dpt__walk_count(walk);
  int limit = task->costly ? PARALLEL_COSTLY : PARALLEL;
  if (walk->ndim == 1 && count < limit) {
    int plain = 1;
    for (int k = 0; k < walk->noperand; k++)
      plain = plain && walk->step[k][0] == 1 && walk->dtype[k] == task->dtype[k];
    if (plain) {
      task->row(count, walk->data[0], walk->data[1], walk->data[2], walk->data[3], task->p,
                task->q);
      return;
    }
  }
  layout plan = {.walk = walk, .task = task, .rows = dpt__rows_pick()};
  if (count == 0) return;
  plan.past_cache = past_cache(walk, count);
  lay(&plan, walk, task);
  int threads = count < limit || walk->serial ? 1 : context->threads;
  if (threads <= 1) {
    for (int64_t i = 0; i < plan.tiles; i++) one_tile(&plan, i);
  } else {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < plan.tiles; i++) one_tile(&plan, i);
  }
  if (plan.past_cache) _mm_sfence();
}
