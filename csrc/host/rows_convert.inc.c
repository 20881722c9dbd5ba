/* rows_convert.inc.c: rows that convert to type TO from every type, and their table.
 *
 * Invariant: included with TO, SUFFIX (both are undefined at the end), STORE(x) and ROW(name)
 * defined. Integers never pass through floating point. Reals are truncated to integers as C does on
 * x86: by way of a 32-bit integer (64 bits for i64), whose smallest value represents numbers out of
 * range. A number is rounded to a reduced type once, to nearest even.
 */
#define CONVERT(from, suffix, load)                                                                \
  ROW(from_##suffix) {                                                                             \
    const from *x = a;                                                                             \
    TO *to = r;                                                                                    \
    int64_t done = REDUCED(to, x)(to, x, n);                                                       \
    SIMD for (int64_t i = done; i < n; i++) to[i] = STORE(load(x[i]));                             \
  }
#define X(id, from, suffix, ...) CONVERT(from, suffix, )
DPT_INTEGER_DTYPES(X)
DPT_REAL_DTYPES(X)
#undef X
#define X(id, from, suffix, ...) CONVERT(from, suffix, dpt__##suffix##_to_float)
DPT_REDUCED_DTYPES(X)
#undef X
#undef CONVERT

static dpt__row_fn *const FN(convert)[DPT_NDTYPE] = {
#define X(id, type, suffix, ...) [id] = FN(row_from_##suffix),
    DPT_DTYPES(X)
#undef X
};
#undef TO
#undef SUFFIX
