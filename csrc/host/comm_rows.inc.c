/* comm_rows.inc.c: sums of several rows of one type (all_types.inc.c defines T and so on). */

/* Sums n elements of the sources to dst; memory: n accumulators. */
static DPT__CLONES void FN(sum)(void *to, const void *const *sources, int count, int64_t first,
                                int64_t n, void *memory) {
  T *dst = (T *)to + first;
#if REAL && !defined REDUCED
  if (count == 2) { /* the type's own addition rounds as the wide one would */
    const T *a = (const T *)sources[0] + first, *b = (const T *)sources[1] + first;
    for (int64_t i = 0; i < n; i++) dst[i] = a[i] + b[i];
    return;
  }
#endif
  WRAP *sum = memory;
  for (int64_t i = 0; i < n; i++) sum[i] = (WRAP)LOAD(((const T *)sources[0] + first)[i]);
  for (int s = 1; s < count; s++) {
    const T *source = (const T *)sources[s] + first;
    for (int64_t i = 0; i < n; i++) sum[i] += (WRAP)LOAD(source[i]);
  }
  for (int64_t i = 0; i < n; i++) dst[i] = STORE(sum[i]);
}
