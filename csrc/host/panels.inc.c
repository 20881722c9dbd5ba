/* panels.inc.c: products of one element type for one instruction set.
 *
 * Invariant: an element is summed over k in the order 0, 1, 2 ... by the same instructions, in
 * whatever tile it lies; two vectors are the columns of a panel.
 */
enum { FN(LANES) = BYTES / sizeof(T), FN(COLS) = 2 * FN(LANES), FN(AHEAD) = 32 };
typedef T FN(V) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

/* to = scale * from turned over, LANES rows of LANES each. A round moves every element's address,
 * the bits of its row before those of its lane, round by one bit. */
static inline __attribute__((always_inline)) void FN(square)(T *to, int64_t to_row, const T *from,
                                                             int64_t from_row, T scale) {
  FN(V) v[FN(LANES)], w[FN(LANES)];
#pragma GCC unroll 16
  for (int i = 0; i < FN(LANES); i++) v[i] = scale * *(const FN(V) *)(from + i * from_row);
#pragma GCC unroll 4
  for (int round = 1; round < FN(LANES); round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < FN(LANES) / 2; i++) {
      w[2 * i] = FN(MIX)(v[i], v[i + FN(LANES) / 2], 0);
      w[2 * i + 1] = FN(MIX)(v[i], v[i + FN(LANES) / 2], FN(LANES) / 2);
    }
    memcpy(v, w, sizeof v);
  }
#pragma GCC unroll 16
  for (int i = 0; i < FN(LANES); i++) *(FN(V) *)(to + i * to_row) = v[i];
}

static void FN(turn)(void *to_, int64_t to_row, const void *from_, int64_t from_row, int64_t rows,
                     int64_t columns, double scale) {
  T *to = to_;
  const T *from = from_;
  int64_t down = rows - rows % FN(LANES), along = columns - columns % FN(LANES);
  for (int64_t l = 0; l < down; l += FN(LANES))
    for (int64_t i = 0; i < along; i += FN(LANES))
      FN(square)(to + i * to_row + l, to_row, from + l * from_row + i, from_row, (T)scale);
  for (int64_t l = 0; l < rows; l++)
    for (int64_t i = l < down ? along : 0; i < columns; i++)
      to[i * to_row + l] = (T)scale * from[l * from_row + i];
}

static void FN(pack)(void *to, const void *b, int64_t k, int64_t n, int64_t b_row, int64_t b_col) {
  T *panel = to;
  const T *from = b;
  for (int64_t col = 0; col < n; col += FN(COLS), panel += k * FN(COLS), from += FN(COLS) * b_col) {
    int64_t cols = n - col < FN(COLS) ? n - col : FN(COLS);
    if (cols < FN(COLS)) memset(panel, 0, (size_t)(k * FN(COLS)) * sizeof(T));
    if (b_col != 1) FN(turn)(panel, FN(COLS), from, b_col, cols, k, 1);
    for (int64_t l = 0; l < k && b_col == 1; l++)
      if (cols == FN(COLS))
        memcpy(panel + l * FN(COLS), from + l * b_row, FN(COLS) * sizeof(T));
      else
        memcpy(panel + l * FN(COLS), from + l * b_row, (size_t)cols * sizeof(T));
  }
}

/* c (rows, cols) = or += rows of a times a panel; rows is a constant in every call. */
static inline __attribute__((always_inline)) void FN(tile)(int rows, T *c, int64_t c_row,
                                                           const T *a, int64_t a_row,
                                                           const T *panel, int64_t k, int64_t cols,
                                                           int add) {
  FN(V) sum[ROWS][2];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    sum[i][0] = sum[i][1] = (FN(V)){0};
    __builtin_prefetch(c + i * c_row);
    __builtin_prefetch(c + i * c_row + FN(LANES));
  }
#pragma GCC unroll 2
  for (int64_t l = 0; l < k; l++) {
    const FN(V) *b = (const FN(V) *)(panel + l * FN(COLS));
    FN(V) b0 = b[0], b1 = b[1];
    __builtin_prefetch(b + FN(AHEAD));
    __builtin_prefetch(b + FN(AHEAD) + 1);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      T x = a[i * a_row + l];
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
    }
  }
  for (int i = 0; i < rows && cols < FN(COLS); i++)
    for (int64_t j = 0; j < cols; j++)
      c[i * c_row + j] = (add ? c[i * c_row + j] : 0) + ((const T *)sum[i])[j];
  if (cols < FN(COLS)) return;
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    FN(V) *v = (FN(V) *)(c + i * c_row);
    if (add) sum[i][0] += v[0], sum[i][1] += v[1];
    v[0] = sum[i][0], v[1] = sum[i][1];
  }
}

static void FN(run)(void *c, int64_t c_row, const void *a, int64_t a_row, const void *packed,
                    int64_t rows, int64_t k, int64_t n, int add) {
  for (int64_t col = 0; col < n; col += FN(COLS)) {
    const T *panel = (const T *)packed + col * k, *from = a;
    int64_t cols = n - col < FN(COLS) ? n - col : FN(COLS), i = 0;
    T *to = (T *)c + col;
    for (; i + ROWS <= rows && !(ROWS == 6 && rows - i == 8); i += ROWS) /* 4 + 4, not 6 + 2 */
      FN(tile)(ROWS, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    for (; ROWS > 4 && i + 4 <= rows; i += 4)
      FN(tile)(4, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    for (; i + 2 <= rows; i += 2)
      FN(tile)(2, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
    if (i < rows) FN(tile)(1, to + i * c_row, c_row, from + i * a_row, a_row, panel, k, cols, add);
  }
}
