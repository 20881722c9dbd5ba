/* sort_keys.inc.c: converts elements of a slice to unsigned numbers of the same order, for one
 * type.
 *
 * Invariant: `at` is the position of the first of them in its slice.
 */
DPT__CLONES
static void FN(keys)(const void *data, int64_t n, int64_t stride, int64_t at, uint64_t flip,
                     item *out) {
  const T *x = data;
  for (int64_t i = 0; i < n; i++) {
    WIDE v = WIDEN(x[i * stride]);
#if REAL
    /* the key is as wide as v, so that the sort needs no passes over higher bytes */
    __typeof__(_Generic(v, double : (uint64_t)0, default : (uint32_t)0)) key, sign = 1;
    sign <<= 8 * sizeof key - 1;
    memcpy(&key, &v, sizeof key);
    key = v == 0 ? 0 : key; /* -0 */
    key = key & sign ? ~key : key | sign;
    key = v != v ? 0 - (sign >> (8 * sizeof key - 1)) : key;
#else
    uint64_t key = (uint64_t)LOAD(v) ^ SIGN;
#endif
    out[i].key = key ^ flip;
    out[i].at = at + i;
  }
}
