/* weight.inc.c: the rows of weight.c. */
static void FN(add)(T *to, const T *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}
