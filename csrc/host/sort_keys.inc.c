/* sort_keys.inc.c: the elements of a slice as unsigned numbers of the same order, for one type. */
static void FN(keys)(const void *data, int64_t n, int64_t stride, uint64_t flip, item *out) {
  const T *x = data;
  for (int64_t i = 0; i < n; i++) {
#if REAL
    double v = LOAD(x[i * stride]);
    uint64_t key;
    if (v == 0) v = 0; /* -0 */
    memcpy(&key, &v, sizeof key);
    key = v != v ? UINT64_MAX : key >> 63 ? ~key : key | SIGN;
#else
    uint64_t key = (uint64_t)LOAD(x[i * stride]) ^ SIGN;
#endif
    out[i].key = key ^ flip;
    out[i].at = i;
  }
}
