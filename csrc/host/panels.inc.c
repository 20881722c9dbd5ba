/* panels.inc.c: products of one element type for one instruction set.
 *
 * Invariant: an element is summed over k in the order 0, 1, 2 ... by the same instructions,
 * whichever tile it is in. The columns of a panel are two vectors.
 */
enum { FN(LANES) = BYTES / sizeof(T), FN(COLS) = 2 * FN(LANES) };
typedef T FN(V) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

#define S T
#define TO(name) FN(name)
#define LOAD(from) (*(const FN(V) *)(from))
#define WIDE(x) (x)
#include "host/panels_pack.inc.c"

/* Computes c (rows, COLS) = or += rows of a times a panel; rows is a constant in every call. */
static inline __attribute__((always_inline)) void FN(tile)(int rows, T *c, int64_t c_row,
                                                           const T *a, int64_t a_row,
                                                           const T *panel, int64_t k, int add) {
  FN(V) sum[ROWS][2];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    sum[i][0] = sum[i][1] = (FN(V)){0};
    __builtin_prefetch(c + i * c_row, 1);
    __builtin_prefetch(c + i * c_row + FN(LANES), 1);
  }
#pragma GCC unroll 4
  for (int64_t l = 0; l < k; l++) {
    const FN(V) *b = (const FN(V) *)(panel + l * FN(COLS));
    FN(V) b0 = b[0], b1 = b[1];
    if (AHEAD) __builtin_prefetch(b + AHEAD), __builtin_prefetch(b + AHEAD + 1);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      T x = a[i * a_row + l];
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
      __asm__ volatile("" ::: "memory"); /* one x at a time: more would spill the accumulators */
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    FN(V) *v = (FN(V) *)(c + i * c_row);
    if (add) sum[i][0] += v[0], sum[i][1] += v[1];
    v[0] = sum[i][0], v[1] = sum[i][1];
  }
}

/* Computes any number of rows, in tiles that differ by at most one row: a tile of few rows leaves
 * units idle. */
static void FN(panel)(T *c, int64_t c_row, const T *a, int64_t a_row, const T *panel, int64_t rows,
                      int64_t k, int add) {
  for (int64_t tiles = (rows + ROWS - 1) / ROWS, i = 0, n; tiles; tiles--, i += n) {
    n = (rows - i + tiles - 1) / tiles;
    switch (n) {
#define X(n)                                                                                       \
  case n:                                                                                          \
    FN(tile)(n, c + i * c_row, c_row, a + i * a_row, a_row, panel, k, add);                        \
    break;
      TILES(X)
#undef X
    }
  }
}

static void FN(run)(void *c_, int64_t c_row, const void *a_, int64_t a_row, const void *packed,
                    int64_t rows, int64_t k, int64_t n, int add) {
  const T *a = a_;
  int64_t col = 0;
  for (; col + FN(COLS) <= n; col += FN(COLS))
    FN(panel)((T *)c_ + col, c_row, a, a_row, (const T *)packed + col * k, rows, k, add);
  for (int64_t i = 0; i < rows && col < n; i += ROWS) { /* columns of a partial panel */
    T edge[ROWS][FN(COLS)], *c = (T *)c_ + i * c_row + col;
    const int64_t few = ROWS < rows - i ? ROWS : rows - i;
    FN(panel)(edge[0], FN(COLS), a + i * a_row, a_row, (const T *)packed + col * k, few, k, 0);
    for (int64_t r = 0; r < few; r++)
      for (int64_t j = 0; j < n - col; j++)
        c[r * c_row + j] = (add ? c[r * c_row + j] : 0) + edge[r][j];
  }
}
