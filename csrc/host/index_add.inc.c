/* index_add.inc.c: adds a strided row to another, or adds elements at indices, for one element
 * type. */
static void FN(add_row)(char *to_, int64_t to_stride, const char *from_, int64_t from_stride,
                        int64_t n) {
  T *to = (T *)to_;
  const T *from = (const T *)from_;
  for (int64_t i = 0; i < n; i++)
    to[i * to_stride] = STORE((WRAP)LOAD(to[i * to_stride]) + (WRAP)LOAD(from[i * from_stride]));
}

static void FN(add_run)(const run *r) {
  run s = *r; /* a copy, whose fields stay in registers */
  T *big = (T *)s.big;
  const T *small = (const T *)s.small;
  for (int64_t i = 0; i < s.n; i++) {
    T *to = big + i * s.big_step + (s.idx[i * s.idx_stride] - 1) * s.big_stride;
    *to = STORE((WRAP)LOAD(*to) + (WRAP)LOAD(small[i * s.small_stride]));
  }
}
