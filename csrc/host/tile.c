/* tile.c: splits a walk into tiles, gathers, computes, scatters (tile.h has the contract).
 *
 * Invariant: a tile is nj rows of ni elements. An operand whose rows are dense is used in place.
 * The bits of a tile depend neither on the thread that computes it nor on the number of calls.
 * Tiles of transposed operands are visited in groups of rows, to stay within the TLB. An operand
 * that is one element along each row becomes a number of the row function, or is expanded in a
 * buffer. Large dense results that no other operand shares are written with non-temporal stores, in
 * whole lines (except fills: if nothing is read, the cache helps).
 */
#include "host/tile.h"
#include "base/element.h"
#include "base/number.h"
#include "tensor/tensor.h"
#include <string.h>

enum {
  BUFFER = 4096,          /* elements of a buffer, and of a tile with a transposed operand */
  TILE = 1024,            /* elements of a tile with other strides */
  PIECE = 256,            /* of these at once: their cache lines fit in L1 */
  CHUNK = 16384,          /* elements of a tile where all operands are dense */
  LINE = 64,              /* bytes of a cache line */
  GROUP = 4,              /* rows of tiles visited together */
  SHORT = 48,             /* rows below this are gathered several at a time */
  LONG = 1024,            /* elements of a row from which non-temporal stores pay */
  PARALLEL = 32768,       /* elements from which several threads pay */
  PARALLEL_COSTLY = 8192, /* the same for costly functions */
  FAR = 16 << 20          /* bytes of a result from which it is in no cache */
};

typedef struct layout {
  const dpt__walk *walk;
  const dpt__task *task;
  const dpt__rows *rows;
  int64_t si, sj; /* sizes of the last two dimensions (length of a row, and number of rows) */
  int64_t bi, bj; /* of a tile */
  int64_t ni, nj; /* numbers of tiles along the two */
  int64_t tiles;  /* in total */
  int64_t group;  /* rows of tiles visited together */
  int di, dj;     /* the two dimensions; dj is -1 if there is only one */
  int past_cache;
  int64_t piece; /* elements of strided rows at once; 0: the tiles are of another kind */
  int apart;     /* strided rows use no buffer */
  int number;    /* the second operand is one number for each row */
} layout;

typedef uint32_t words __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t longs __attribute__((vector_size(16), aligned(8), may_alias));

#define ROW(type, from, pitch, y) (*(const type *)((from) + (y) * (pitch)))
#define PUT(type, to, pitch, x, ...)                                                               \
  (*(type *)((to) + (x) * (pitch)) = __builtin_shufflevector(__VA_ARGS__))

/* Transposes 4 x 4 elements of 4 bytes, or 2 x 2 of 8: to[x][y] = from[y][x]. */
static void block_32(uint32_t *to, int64_t to_pitch, const uint32_t *from, int64_t pitch) {
  const words a = ROW(words, from, pitch, 0), b = ROW(words, from, pitch, 1);
  const words c = ROW(words, from, pitch, 2), d = ROW(words, from, pitch, 3);
  words ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  words cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  PUT(words, to, to_pitch, 0, ab, cd, 0, 1, 4, 5);
  PUT(words, to, to_pitch, 1, ab, cd, 2, 3, 6, 7);
  ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  PUT(words, to, to_pitch, 2, ab, cd, 0, 1, 4, 5);
  PUT(words, to, to_pitch, 3, ab, cd, 2, 3, 6, 7);
}

static void block_64(uint64_t *to, int64_t to_pitch, const uint64_t *from, int64_t pitch) {
  const longs a = ROW(longs, from, pitch, 0), b = ROW(longs, from, pitch, 1);
  PUT(longs, to, to_pitch, 0, a, b, 0, 2);
  PUT(longs, to, to_pitch, 1, a, b, 1, 3);
}

#define ONE(to, to_pitch, from, pitch) (*(to) = *(from))
#define FN(name) name##_1
#define T uint8_t
#define SIDE 1
#define BLOCK ONE
#include "host/tile_move.inc.c"
#define FN(name) name##_2
#define T uint16_t
#define SIDE 1
#define BLOCK ONE
#include "host/tile_move.inc.c"
#define FN(name) name##_4
#define T uint32_t
#define SIDE 4
#define BLOCK block_32
#include "host/tile_move.inc.c"
#define FN(name) name##_8
#define T uint64_t
#define SIDE 2
#define BLOCK block_64
#include "host/tile_move.inc.c"

#define GATHER(width, ...) gather_##width(__VA_ARGS__)
static void tile_gather(size_t size, void *to, int64_t pitch, const void *from, int64_t nj,
                        int64_t ni, int64_t sj, int64_t si) {
  DPT__BY_WIDTH(size, GATHER, to, pitch, from, nj, ni, sj, si);
}

#define MOVE(width, ...) move_##width(__VA_ARGS__)
static void tile_move(size_t size, void *to, int64_t to_stride, const void *from, int64_t stride,
                      int64_t n) {
  DPT__BY_WIDTH(size, MOVE, to, to_stride, from, stride, n);
}

#define SCATTER(width, ...) scatter_##width(__VA_ARGS__)
static void tile_scatter(size_t size, void *to, const void *from, int64_t pitch, int64_t nj,
                         int64_t ni, int64_t sj, int64_t si) {
  DPT__BY_WIDTH(size, SCATTER, to, from, pitch, nj, ni, sj, si);
}

typedef struct buffer {
  _Alignas(LINE) char bytes[BUFFER * 8];
} buffer;

/* One tile: addresses and strides of its operands. */
typedef struct tile {
  int64_t ni, nj;
  char *data[DPT__OPERANDS];       /* in memory */
  int64_t stride_i[DPT__OPERANDS]; /* in memory, in elements */
  int64_t stride_j[DPT__OPERANDS];
} tile;

static void find_tile(const layout *plan, int64_t number, tile *t) {
  const dpt__walk *walk = plan->walk;
  int64_t plane = plan->ni * plan->nj, outer = number / plane, at = number % plane;
  int64_t group = at / (plan->group * plan->ni), first = group * plan->group;
  int64_t rows = plan->nj - first < plan->group ? plan->nj - first : plan->group;
  at %= plan->group * plan->ni;
  int64_t at_i = at / rows * plan->bi, at_j = (first + at % rows) * plan->bj;
  t->ni = plan->si - at_i < plan->bi ? plan->si - at_i : plan->bi;
  t->nj = plan->sj - at_j < plan->bj ? plan->sj - at_j : plan->bj;
  int64_t position[DPT__OPERANDS];
  for (int k = 0; k < walk->noperand; k++) {
    t->stride_i[k] = walk->stride[k][plan->di];
    t->stride_j[k] = plan->dj >= 0 ? walk->stride[k][plan->dj] : 0;
    position[k] = at_i * t->stride_i[k] + at_j * t->stride_j[k];
  }
  for (int d = plan->dj - 1; d >= 0; d--) {
    int64_t i = outer % walk->size[d];
    outer /= walk->size[d];
    for (int k = 0; k < walk->noperand; k++) position[k] += i * walk->stride[k][d];
  }
  for (int k = 0; k < walk->noperand; k++)
    t->data[k] = walk->data[k] + position[k] * (int64_t)dpt__dtype_size(walk->dtype[k]);
}

/* Runs a row function on n elements and advances data past them. */
static void tile_run(const layout *plan, dpt__row_fn *row, int64_t n, void *to, char **data) {
  row(n, to ? to : data[0], data[1], data[2], data[3], plan->task->p, plan->task->q);
  for (int k = 0; k < plan->walk->noperand; k++)
    data[k] += n * (int64_t)dpt__dtype_size(plan->walk->dtype[k]);
}

static int tile_copies(const layout *plan) {
  const dpt__walk *walk = plan->walk;
  return walk->noperand == 2 && walk->dtype[0] == walk->dtype[1] &&
         plan->task->row == plan->rows->convert[walk->dtype[0]][walk->dtype[0]];
}

/* Computes a tile of dense operands with a large result: whole lines with non-temporal stores,
 * through a buffer if the row function has none. The ends of the row, which share a line with other
 * data, are written normally. */
static void tile_row_past_cache(const layout *plan, const tile *t) {
  dpt__row_fn *row = plan->task->row;
  char *data[DPT__OPERANDS] = {NULL};
  buffer work;
  for (int k = 0; k < plan->walk->noperand; k++) data[k] = t->data[k];
  int64_t size = (int64_t)dpt__dtype_size(plan->walk->dtype[0]), line = LINE / size;
  int64_t before = -(intptr_t)data[0] & (LINE - 1);
  int64_t first = before % size ? t->ni : dpt__min(before / size, t->ni);
  int64_t whole = (t->ni - first) / line * line, rest = t->ni - first - whole;
  if (first) tile_run(plan, row, first, NULL, data);
  if (tile_copies(plan)) {
    plan->rows->copy_past(data[0], data[1], (size_t)(whole * size));
    data[0] += whole * size;
    data[1] += whole * size;
  } else if (plan->task->past) {
    tile_run(plan, plan->task->past, whole, NULL, data);
  } else {
    for (int64_t n; whole; whole -= n) {
      n = dpt__min(whole, TILE);
      tile_run(plan, row, n, work.bytes, data);
      plan->rows->copy_past(data[0] - n * size, work.bytes, (size_t)(n * size));
    }
  }
  if (rest) tile_run(plan, row, rest, NULL, data);
#ifdef __x86_64__
  __builtin_ia32_sfence(); /* on the thread that wrote: nothing else orders such stores */
#endif
}

/* Copies a to r, of one type, without a buffer if one has dense rows; otherwise returns 0. */
static int tile_copy_directly(const layout *plan, const tile *t) {
  const dpt__walk *walk = plan->walk;
  size_t size = dpt__dtype_size(walk->dtype[0]);
  if (!tile_copies(plan)) return 0;
  if (t->stride_i[0] == 1)
    tile_gather(size, t->data[0], t->stride_j[0], t->data[1], t->nj, t->ni, t->stride_j[1],
                t->stride_i[1]);
  else if (t->stride_i[1] == 1)
    tile_scatter(size, t->data[0], t->data[1], t->stride_j[1], t->nj, t->ni, t->stride_j[0],
                 t->stride_i[0]);
  else
    return 0;
  return 1;
}

static void tile_compute(const layout *plan, const tile *at) {
  const dpt__walk *walk = plan->walk;
  const dpt__task *task = plan->task;
  buffer work[DPT__OPERANDS], raw;
  char *data[DPT__OPERANDS] = {NULL};
  int64_t pitch[DPT__OPERANDS] = {0}; /* bytes between the rows that the row function sees */
  tile t = *at;
  int64_t count = t.ni * t.nj;
  int together = 1; /* all rows can be computed in one call */
  for (int k = walk->noperand - 1; k >= 0; k--) {
    int dtype = walk->dtype[k], want = task->dtype[k];
    int64_t size = (int64_t)dpt__dtype_size(dtype), wanted = (int64_t)dpt__dtype_size(want);
    int packed = t.stride_i[k] == 1 && (t.nj == 1 || t.stride_j[k] == t.ni);
    data[k] = t.data[k];
    pitch[k] = t.stride_j[k] * size;
    if (dtype == want && (packed || (t.stride_i[k] == 1 && t.ni >= SHORT))) {
      together = together && packed;
      continue;
    }
    data[k] = work[k].bytes;
    pitch[k] = t.ni * wanted;
    if (k == 0) continue;
    const char *from = t.data[k];
    if (!packed) {
      char *to = dtype == want ? work[k].bytes : raw.bytes;
      tile_gather((size_t)size, to, t.ni, from, t.nj, t.ni, t.stride_j[k], t.stride_i[k]);
      from = to;
    }
    if (dtype != want) plan->rows->convert[want][dtype](count, data[k], from, NULL, NULL, 0, 0);
  }
  if (together)
    task->row(count, data[0], data[1], data[2], data[3], task->p, task->q);
  else
    for (int64_t j = 0; j < t.nj; j++)
      task->row(t.ni, data[0] + j * pitch[0], data[1] + j * pitch[1], data[2] + j * pitch[2],
                data[3] + j * pitch[3], task->p, task->q);
  if (data[0] == t.data[0]) return;
  int dtype = walk->dtype[0], made = task->dtype[0];
  if (dtype != made) {
    plan->rows->convert[dtype][made](count, raw.bytes, data[0], NULL, NULL, 0, 0);
    data[0] = raw.bytes;
  }
  tile_scatter(dpt__dtype_size(dtype), t.data[0], data[0], t.ni, t.nj, t.ni, t.stride_j[0],
               t.stride_i[0]);
}

/* Computes rows whose second operand is one number. */
static void tile_by_number(const layout *plan, const tile *t) {
  const dpt__task *task = plan->task;
  int dtype = task->dtype[0];
  int64_t size = (int64_t)dpt__dtype_size(dtype);
  for (int64_t j = 0; j < t->nj; j++) {
    double number = dpt__get_element(dtype, t->data[2] + j * t->stride_j[2] * size);
    if (task->scales) number = dtype == DPT_F64 ? task->p * number : (float)task->p * (float)number;
    task->number(t->ni, t->data[0] + j * t->stride_j[0] * size,
                 t->data[1] + j * t->stride_j[1] * size, NULL, NULL, number, 0);
  }
}

/* Computes a row of strided elements without a buffer. */
static void tile_apart(const layout *plan, const tile *t) {
  const dpt__task *task = plan->task;
  if (task->strided)
    task->strided(t->ni, t->data[0], t->data[1], t->data[2], t->data[3], t->stride_i, task->p,
                  task->q);
  else
    tile_move(dpt__dtype_size(plan->walk->dtype[0]), t->data[0], t->stride_i[0], t->data[1],
              t->stride_i[1], t->ni);
}

static void one_tile(const layout *plan, int64_t number) {
  tile t = {0};
  find_tile(plan, number, &t);
  if (plan->past_cache) {
    tile_row_past_cache(plan, &t);
    return;
  }
  if (plan->apart) {
    tile_apart(plan, &t);
    return;
  }
  if (plan->number) {
    tile_by_number(plan, &t);
    return;
  }
  if (tile_copy_directly(plan, &t)) return;
  int64_t piece = plan->piece && t.nj == 1 ? plan->piece : t.ni;
  for (int64_t left = t.ni; left; left -= t.ni) {
    t.ni = dpt__min(left, piece);
    tile_compute(plan, &t);
    for (int k = 0; k < plan->walk->noperand; k++)
      t.data[k] += t.ni * t.stride_i[k] * (int64_t)dpt__dtype_size(plan->walk->dtype[k]);
  }
}

/* Chooses the shape of tiles: whole rows if every operand is dense along them; if one is
 * transposed, as high as a cache line of it; otherwise several short rows at a time. If elements of
 * the result alias, rows are processed one by one, in order. */
static void tile_choose_shape(layout *plan, const dpt__walk *walk, const dpt__task *task) {
  int dense = 1, native = 1, spread = 0;
  int64_t high = 0;
  plan->di = walk->ndim - 1;
  plan->dj = walk->ndim - 2;
  plan->si = walk->size[plan->di];
  plan->sj = plan->dj >= 0 ? walk->size[plan->dj] : 1;
  for (int k = 0; k < walk->noperand; k++) {
    int64_t stride_i = walk->stride[k][plan->di];
    int64_t stride_j = plan->dj >= 0 ? walk->stride[k][plan->dj] : 0;
    int64_t line = LINE / (int64_t)dpt__dtype_size(walk->dtype[k]);
    dense = dense && (stride_i == 1 || (stride_i == 0 && k > 0));
    spread = spread || (stride_i == 0 && k > 0);
    if (plan->dj >= 0 && stride_j == 1 && stride_i > 1 && line > high && !walk->serial) high = line;
    native = native && walk->dtype[k] == task->dtype[k];
  }
  plan->group = 1;
  if (dense && (plan->dj < 0 || plan->si >= SHORT)) {
    int64_t size = (int64_t)dpt__dtype_size(walk->dtype[0]);
    plan->number = native && task->number && walk->stride[1][plan->di] == 1 && spread;
    int64_t most = native && (!spread || plan->number) ? CHUNK : TILE;
    plan->bi = dpt__min(plan->si, most);
    plan->past_cache = native && !spread && walk->noperand > 1 && plan->si >= LONG &&
                       dpt__walk_count(walk) * size >= FAR;
    for (int k = 1; k < walk->noperand; k++)
      if (walk->data[k] == walk->data[0]) plan->past_cache = 0;
    plan->bj = plan->past_cache || walk->serial ? 1 : dpt__min(plan->sj, most / plan->bi);
  } else if (high) {
    plan->bj = dpt__min(plan->sj, high);
    plan->bi = dpt__min(plan->si, BUFFER / plan->bj);
    plan->group = GROUP;
  } else {
    plan->apart = native && plan->si >= SHORT && (task->strided || tile_copies(plan));
    plan->bi = dpt__min(plan->si, TILE);
    plan->bj = plan->apart || walk->serial ? 1 : dpt__min(plan->sj, TILE / plan->bi);
    plan->piece = PIECE;
  }
  plan->ni = (plan->si + plan->bi - 1) / plan->bi;
  plan->nj = (plan->sj + plan->bj - 1) / plan->bj;
  plan->tiles = plan->ni * plan->nj;
  for (int d = 0; d < plan->dj; d++) plan->tiles *= walk->size[d];
}

void dpt__tiles(const dpt__context *context, const dpt__walk *walk, const dpt__task *task) {
  int64_t count = dpt__walk_count(walk);
  int limit = task->costly ? PARALLEL_COSTLY : PARALLEL;
  if (walk->ndim == 1 && count < limit) {
    int plain = 1;
    for (int k = 0; k < walk->noperand; k++)
      plain = plain && walk->stride[k][0] == 1 && walk->dtype[k] == task->dtype[k];
    if (plain) {
      task->row(count, walk->data[0], walk->data[1], walk->data[2], walk->data[3], task->p,
                task->q);
      return;
    }
  }
  layout plan = {.walk = walk, .task = task, .rows = dpt__rows_pick()};
  if (count == 0) return;
  tile_choose_shape(&plan, walk, task);
  int threads = count < limit || walk->serial ? 1 : context->threads;
  if (threads <= 1) {
    for (int64_t i = 0; i < plan.tiles; i++) one_tile(&plan, i);
  } else {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < plan.tiles; i++) one_tile(&plan, i);
  }
}
