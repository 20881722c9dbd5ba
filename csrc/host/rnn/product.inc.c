/* product.inc.c: products of one element type for one instruction set.
 *
 * Invariant: an element is summed over k in the order 0, 1, 2 ... by the same instructions, in
 * whatever tile it lies; two vectors are the columns of a panel.
 */
enum { FN(LANES) = BYTES / sizeof(T), FN(COLS) = 2 * FN(LANES), FN(LINE) = 64 / sizeof(T) };
typedef T FN(V) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

static void FN(pack)(void *to, const void *b, int64_t k, int64_t n, int64_t b_row, int64_t b_col) {
  T *panel = to;
  const T *from = b;
  for (int64_t col = 0; col < n; col += FN(COLS), panel += k * FN(COLS)) {
    int64_t cols = n - col < FN(COLS) ? n - col : FN(COLS);
    for (int64_t l = 0; l < k && cols == FN(COLS) && b_col == 1; l++)
      memcpy(panel + l * FN(COLS), from + l * b_row + col, FN(COLS) * sizeof(T));
    if (cols == FN(COLS) && b_col == 1) continue;
    for (int64_t at = 0; at < k; at += FN(LINE)) {
      int64_t end = k - at < FN(LINE) ? k : at + FN(LINE);
      for (int64_t j = 0; j < FN(COLS); j++)
        for (int64_t l = at; l < end; l++)
          panel[l * FN(COLS) + j] = j < cols ? from[l * b_row + (col + j) * b_col] : 0;
    }
  }
}

/* c (rows, cols) = or += rows of a times a panel; rows is a constant in every call. */
static inline __attribute__((always_inline)) void FN(tile)(int rows, T *c, int64_t c_row,
                                                           const T *a, int64_t a_row,
                                                           const T *panel, int64_t k, int64_t cols,
                                                           int add) {
  FN(V) sum[ROWS][2];
  for (int i = 0; i < rows; i++) sum[i][0] = sum[i][1] = (FN(V)){0};
  for (int64_t l = 0; l < k; l++) {
    const FN(V) *b = (const FN(V) *)(panel + l * FN(COLS));
    FN(V) b0 = b[0], b1 = b[1];
    for (int i = 0; i < rows; i++) {
      T x = a[i * a_row + l];
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
    }
  }
  for (int i = 0; i < rows; i++) {
    T rest[FN(COLS)] = {0}, *to = cols == FN(COLS) ? c + i * c_row : rest;
    FN(V) *v = (FN(V) *)to;
    if (to == rest)
      for (int64_t j = 0; j < cols; j++) rest[j] = c[i * c_row + j];
    if (add) sum[i][0] += v[0], sum[i][1] += v[1];
    v[0] = sum[i][0], v[1] = sum[i][1];
    if (to == rest)
      for (int64_t j = 0; j < cols; j++) c[i * c_row + j] = rest[j];
  }
}

static void FN(run)(void *c, int64_t c_row, const void *a, int64_t a_row, const void *packed,
                    int64_t rows, int64_t k, int64_t n, int add) {
  for (int64_t col = 0; col < n; col += FN(COLS)) {
    const T *panel = (const T *)packed + col * k, *from = a;
    int64_t cols = n - col < FN(COLS) ? n - col : FN(COLS), i = 0;
    T *to = (T *)c + col;
    for (; i + ROWS <= rows; i += ROWS)
      FN(tile)(ROWS, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    for (; ROWS > 4 && i + 4 <= rows; i += 4)
      FN(tile)(4, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    for (; i + 2 <= rows; i += 2)
      FN(tile)(2, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    if (i < rows) FN(tile)(1, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
  }
}
