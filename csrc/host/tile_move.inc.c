/* tile_move.inc.c: moves a tile of elements of type T between memory and a dense buffer.
 *
 * What must stay true: included with T and FN(name) defined. The buffer has rows of ni elements;
 * memory has steps sj and si. The inner loop runs along the smaller of memory's two steps.
 */
static void FN(gather)(T *to, const T *from, int64_t nj, int64_t ni, int64_t sj, int64_t si) {
  if (si == 1) {
    for (int64_t j = 0; j < nj; j++) memcpy(to + j * ni, from + j * sj, (size_t)ni * sizeof(T));
  } else if (sj == 1 && nj > 1) {
    for (int64_t i = 0; i < ni; i++)
      for (int64_t j = 0; j < nj; j++) to[j * ni + i] = from[i * si + j];
  } else if (si == 2) {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * ni + i] = from[j * sj + 2 * i];
  } else {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * ni + i] = from[j * sj + i * si];
  }
}

static void FN(scatter)(T *to, const T *from, int64_t nj, int64_t ni, int64_t sj, int64_t si) {
  if (si == 1) {
    for (int64_t j = 0; j < nj; j++) memcpy(to + j * sj, from + j * ni, (size_t)ni * sizeof(T));
  } else if (sj == 1 && nj > 1) {
    for (int64_t i = 0; i < ni; i++)
      for (int64_t j = 0; j < nj; j++) to[i * si + j] = from[j * ni + i];
  } else {
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++) to[j * sj + i * si] = from[j * ni + i];
  }
}
