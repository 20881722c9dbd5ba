/* weight.inc.c: the rows of weight.c. */

/* to (n, k) = scale * from (k, n) turned over, whose rows are from_row elements apart: the columns
 * first .. end-1. */
static void FN(turn)(T *restrict to, const T *restrict from, int64_t from_row, int64_t k,
                     int64_t first, int64_t end, T scale) {
  for (int64_t l = 0; l < k; l++)
    for (int64_t i = first; i < end; i++) to[i * k + l] = scale * from[l * from_row + i];
}

static void FN(add)(T *to, const T *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}
