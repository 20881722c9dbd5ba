/* tile_move.inc.c: moves a tile of elements of type T between memory and dense rows.
 *
 * Invariant: included with T, FN(name), SIDE and BLOCK defined (these are undefined at the end),
 * where BLOCK(to, to_pitch, from, pitch) transposes SIDE x SIDE elements. The dense side has rows
 * `pitch` elements apart; memory has strides sj and si. The inner loop runs along the smaller of
 * memory's two strides.
 */

/* Transposes: to[x][y] = from[y][x]. */
static void FN(transpose)(T *to, int64_t to_pitch, const T *from, int64_t pitch, int64_t nx,
                          int64_t ny) {
  int64_t whole_x = nx - nx % SIDE, whole_y = ny - ny % SIDE;
  for (int64_t x = 0; x < whole_x; x += SIDE)
    for (int64_t y = 0; y < whole_y; y += SIDE)
      BLOCK(to + x * to_pitch + y, to_pitch, from + y * pitch + x, pitch);
  for (int64_t x = 0; x < nx; x++)
    for (int64_t y = x < whole_x ? whole_y : 0; y < ny; y++)
      to[x * to_pitch + y] = from[y * pitch + x];
}

static void FN(gather)(T *to, int64_t pitch, const T *from, int64_t nj, int64_t ni, int64_t sj,
                       int64_t si) {
  if (si == 1) {
    for (int64_t j = 0; j < nj; j++) memcpy(to + j * pitch, from + j * sj, (size_t)ni * sizeof(T));
  } else if (si == 0) {
    for (int64_t j = 0; j < nj; j++) {
      const T one = from[j * sj];
      for (int64_t i = 0; i < ni; i++) to[j * pitch + i] = one;
    }
  } else if (sj == 1 && nj > 1) {
    FN(transpose)(to, pitch, from, si, nj, ni);
  } else if (si == 2) {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * pitch + i] = from[j * sj + 2 * i];
  } else {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * pitch + i] = from[j * sj + i * si];
  }
}

static void FN(scatter)(T *to, const T *from, int64_t pitch, int64_t nj, int64_t ni, int64_t sj,
                        int64_t si) {
  if (si == 1) {
    for (int64_t j = 0; j < nj; j++) memcpy(to + j * sj, from + j * pitch, (size_t)ni * sizeof(T));
  } else if (sj == 1 && nj > 1) {
    FN(transpose)(to, si, from, pitch, ni, nj);
  } else {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * sj + i * si] = from[j * pitch + i];
  }
}

/* Moves one row; neither side is dense. */
static void FN(move)(T *to, int64_t to_stride, const T *from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i * to_stride] = from[i * stride];
}

#undef FN
#undef T
#undef SIDE
#undef BLOCK
