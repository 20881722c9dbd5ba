/* panels_pack.inc.c: transposes and packs matrices of element type S as T.
 *
 * Invariant: included with T, FN, S, TO(name), the names of the functions, LOAD(from), a vector of
 * T from LANES elements of S, and WIDE(x), an S as T; the last four are undefined at the end.
 */
/* Sets `to` to scale * the transpose of `from`, LANES rows of LANES each. Each round rotates every
 * element's address (the bits of its row, then those of its lane) by one bit. */
static inline __attribute__((always_inline)) void TO(square)(T *to, int64_t to_row, const S *from,
                                                             int64_t from_row, T scale) {
  FN(V) v[FN(LANES)], w[FN(LANES)];
#pragma GCC unroll 16
  for (int i = 0; i < FN(LANES); i++) v[i] = scale * LOAD(from + i * from_row);
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

static void TO(turn)(void *to_, int64_t to_row, const void *from_, int64_t from_row, int64_t rows,
                     int64_t columns, double scale) {
  T *to = to_;
  const S *from = from_;
  int64_t down = rows - rows % FN(LANES), along = columns - columns % FN(LANES);
  for (int64_t l = 0; l < down; l += FN(LANES))
    for (int64_t i = 0; i < along; i += FN(LANES))
      TO(square)(to + i * to_row + l, to_row, from + l * from_row + i, from_row, (T)scale);
  for (int64_t l = 0; l < rows; l++)
    for (int64_t i = l < down ? along : 0; i < columns; i++)
      to[i * to_row + l] = (T)scale * WIDE(from[l * from_row + i]);
}

static void TO(pack)(void *to, const void *b, int64_t k, int64_t n, int64_t b_row, int64_t b_col) {
  T *panel = to;
  const S *from = b;
  for (int64_t col = 0; col < n; col += FN(COLS), panel += k * FN(COLS), from += FN(COLS) * b_col) {
    int64_t cols = n - col < FN(COLS) ? n - col : FN(COLS);
    if (cols < FN(COLS)) memset(panel, 0, (size_t)(k * FN(COLS)) * sizeof(T));
    if (b_col != 1) TO(turn)(panel, FN(COLS), from, b_col, cols, k, 1);
    for (int64_t l = 0; l < k && b_col == 1; l++) {
      const S *row = from + l * b_row;
      FN(V) *to_row = (FN(V) *)(panel + l * FN(COLS));
      if (cols == FN(COLS))
        to_row[0] = LOAD(row), to_row[1] = LOAD(row + FN(LANES));
      else
        for (int64_t j = 0; j < cols; j++) panel[l * FN(COLS) + j] = WIDE(row[j]);
    }
  }
}
#undef S
#undef TO
#undef LOAD
#undef WIDE
