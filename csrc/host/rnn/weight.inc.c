/* weight.inc.c: the rows of weight.c. */

/* A tile of turn. */
static inline __attribute__((always_inline)) void FN(tile)(T *restrict to, const T *restrict from,
                                                           int64_t from_row, int64_t k,
                                                           int64_t columns, int64_t rows, T scale) {
  T tile[LINE][LINE];
  for (int64_t l = 0; l < rows; l++)
    for (int64_t i = 0; i < columns; i++) tile[i][l] = scale * from[l * from_row + i];
  for (int64_t i = 0; i < columns; i++)
    for (int64_t l = 0; l < rows; l++) to[i * k + l] = tile[i][l];
}

/* to (n, k) = scale * from (k, n) turned over, whose rows are from_row elements apart: the columns
 * first .. end-1. Whole lines are read and written, and neighbours of a row after another. */
static void FN(turn)(T *to, const T *from, int64_t from_row, int64_t k, int64_t first, int64_t end,
                     T scale) {
  for (int64_t l = 0; l < k; l += LINE)
    for (int64_t i = first; i < end; i += LINE) {
      int64_t columns = LINE < end - i ? LINE : end - i, rows = LINE < k - l ? LINE : k - l;
      if (columns == LINE && rows == LINE)
        FN(tile)(to + i * k + l, from + l * from_row + i, from_row, k, LINE, LINE, scale);
      else
        FN(tile)(to + i * k + l, from + l * from_row + i, from_row, k, columns, rows, scale);
    }
}

static void FN(add)(T *to, const T *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}
