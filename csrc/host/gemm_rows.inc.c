/* gemm_rows.inc.c: computes columns c0 .. c0+cols of row i of a product, for one integer type. */
static void FN(gemm_row)(const dpt__gemm_args *g, int64_t i, int64_t c0, int64_t cols) {
  WRAP sum[COLS] = {0};
  const T *a = (const T *)g->a + i * g->a_row, *b = (const T *)g->b + c0 * g->b_col;
  for (int64_t l = 0; l < g->k; l++) {
    WRAP x = (WRAP)LOAD(a[l * g->a_col]);
    const T *row = b + l * g->b_row;
    for (int64_t j = 0; j < cols; j++) sum[j] += x * (WRAP)LOAD(row[j * g->b_col]);
  }
  T *c = (T *)g->c + i * g->c_row + c0 * g->c_col;
  WRAP alpha = (WRAP)(int64_t)g->alpha, beta = (WRAP)(int64_t)g->beta;
  for (int64_t j = 0; j < cols; j++) {
    WRAP old = beta != 0 ? beta * (WRAP)LOAD(c[j * g->c_col]) : 0;
    c[j * g->c_col] = STORE(old + alpha * sum[j]);
  }
}
