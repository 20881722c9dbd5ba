/* index_add.inc.c: adds a strided row to another, for one element type. */
static void FN(add_row)(char *to_, int64_t to_stride, const char *from_, int64_t from_stride,
                        int64_t n) {
  T *to = (T *)to_;
  const T *from = (const T *)from_;
  for (int64_t i = 0; i < n; i++)
    to[i * to_stride] = STORE((WRAP)LOAD(to[i * to_stride]) + (WRAP)LOAD(from[i * from_stride]));
}
