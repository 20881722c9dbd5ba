/* gemm_fixed.inc.c: rows of gemm_fixed.c. */
enum { FN(LANES) = 32 / sizeof(T), FN(COLS) = 2 * FN(LANES) };
typedef T FN(V) __attribute__((vector_size(32)));
typedef T FN(U) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));

/* Computes sum (ROWS, COLS) = rows of a times a panel of b (k, COLS); r is a constant in every
 * call. */
static inline __attribute__((always_inline)) void
FN(tile)(int r, const T *a, int64_t a_row, int64_t a_col, const T *panel, int64_t k, T *sum) {
  FN(V) acc[ROWS][2];
  for (int i = 0; i < r; i++) acc[i][0] = acc[i][1] = (FN(V)){0};
  for (int64_t l = 0; l < k; l++) {
    const FN(U) *b = (const FN(U) *)(panel + l * FN(COLS));
    FN(V) b0 = b[0], b1 = b[1];
    for (int i = 0; i < r; i++) {
      T x = a[i * a_row + l * a_col];
      acc[i][0] += x * b0;
      acc[i][1] += x * b1;
    }
  }
  for (int i = 0; i < r; i++) {
    ((FN(U) *)(sum + i * FN(COLS)))[0] = acc[i][0];
    ((FN(U) *)(sum + i * FN(COLS)))[1] = acc[i][1];
  }
}

/* Computes rows first .. end-1 of the columns col .. col+n-1, whose panel is packed. */
DPT__CLONES
static void FN(block)(const dpt__gemm_args *g, const T *panel, int64_t first, int64_t end,
                      int64_t col, int64_t n) {
  T sum[ROWS * FN(COLS)];
  for (int64_t i = first; i < end; i += ROWS) {
    int64_t rows = ROWS < end - i ? ROWS : end - i;
    const T *a = (const T *)g->a + i * g->a_row;
    switch (rows) {
    case 4:
      FN(tile)(4, a, g->a_row, g->a_col, panel, g->k, sum);
      break;
    case 3:
      FN(tile)(3, a, g->a_row, g->a_col, panel, g->k, sum);
      break;
    case 2:
      FN(tile)(2, a, g->a_row, g->a_col, panel, g->k, sum);
      break;
    default:
      FN(tile)(1, a, g->a_row, g->a_col, panel, g->k, sum);
    }
    for (int64_t r = 0; r < rows; r++)
      for (int64_t j = 0; j < n; j++) {
        T *c = (T *)g->c + (i + r) * g->c_row + (col + j) * g->c_col;
        T product = (T)g->alpha * sum[r * FN(COLS) + j];
        *c = g->beta == 0 ? product : (T)g->beta * *c + product;
      }
  }
}

/* Computes the product. memory: k * COLS elements for each thread. */
static void FN(product)(const dpt__gemm_args *g, int threads, void *memory) {
  T *panels = memory;
  int64_t cols = (g->n + FN(COLS) - 1) / FN(COLS), chunks = (g->m + CHUNK - 1) / CHUNK;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t task = 0; task < cols * chunks; task++) {
    int64_t col = task / chunks * FN(COLS), first = task % chunks * CHUNK;
    int64_t n = FN(COLS) < g->n - col ? FN(COLS) : g->n - col;
    int64_t end = first + CHUNK < g->m ? first + CHUNK : g->m;
    T *panel = panels + dpt__thread_number() * g->k * FN(COLS);
    for (int64_t l = 0; l < g->k; l++)
      for (int64_t j = 0; j < FN(COLS); j++)
        panel[l * FN(COLS) + j] =
            j < n ? ((const T *)g->b)[l * g->b_row + (col + j) * g->b_col] : 0;
    FN(block)(g, panel, first, end, col, n);
  }
}
