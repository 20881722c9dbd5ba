/* reduce_rows.inc.c: one run of elements, or some columns side by side, for one element type.
 *
 * Invariant: SPREAD accumulators are summed in one fixed way, whatever the instruction set. A part
 * receives the block's contribution: the value, and at (max, min) or m2 (var, std). A mean is the
 * first element plus the mean of all differences from it, so that equal elements have no variance.
 * `kind` is a constant in every call of an INLINE function, so that each call compiles to a
 * separate loop.
 */
#if REAL
#define V(part) ((part)->real)
#define IS_NAN(x) ((x) != (x))
#define NOT_A_NUMBER NAN
#define TERM(kind, x, p) dpt__term_real(kind, x, p)
#define SUMS DPT__REAL_SUMS
#define KIND(kind) ((enum dpt__accumulation)kind) /* all are cases */
#else
#define V(part) ((part)->whole)
#define IS_NAN(x) 0
#define NOT_A_NUMBER 0
#define TERM(kind, x, p) dpt__term_whole(kind, (WRAP)(x))
#define SUMS DPT__WHOLE_SUMS
#define KIND(kind) (kind)
#endif

/* Returns the sum of terms of the elements' differences from `from`. */
static INLINE ACC FN(add_run)(int kind, const T *x, int64_t n, int64_t stride, ACC from, double p) {
  WRAP s[SPREAD] = {0};
  int64_t i = 0;
  if (n <= FEW) {
    for (; i < n; i++) s[0] += TERM(kind, LOAD(x[i * stride]) - from, p);
    return (ACC)s[0];
  }
  for (; i + SPREAD <= n; i += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) s[j] += TERM(kind, LOAD(x[(i + j) * stride]) - from, p);
  for (int64_t j = 0; i + j < n; j++) s[j] += TERM(kind, LOAD(x[(i + j) * stride]) - from, p);
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return (ACC)s[0];
}

static INLINE WIDE FN(better)(int kind, WIDE x, WIDE y) {
  return kind == DPT__MAX ? (x > y ? x : y) : (x < y ? x : y);
}

/* Returns the greatest or least value, or NaN if there is one. */
static INLINE ACC FN(best_run)(int kind, const T *x, int64_t n, int64_t stride) {
  WIDE s[BEST];
  int32_t nan[BEST] = {0};
  int64_t i = 0;
  for (int j = 0; j < BEST; j++) s[j] = WIDEN(x[0]);
  for (; i + BEST <= n; i += BEST)
    for (int64_t j = 0; j < BEST; j++) {
      WIDE v = WIDEN(x[(i + j) * stride]);
      nan[j] |= IS_NAN(v);
      s[j] = FN(better)(kind, v, s[j]);
    }
  for (; i < n; i++) {
    WIDE v = WIDEN(x[i * stride]);
    nan[0] |= IS_NAN(v);
    s[0] = FN(better)(kind, v, s[0]);
  }
  for (int j = 1; j < BEST; j++) {
    nan[0] |= nan[j];
    s[0] = FN(better)(kind, s[j], s[0]);
  }
  return nan[0] ? NOT_A_NUMBER : (ACC)s[0];
}

#ifdef REDUCED
/* Does the same by integers in the order of the values. If the result is 0, best_run finds its
 * sign. */
static INLINE ACC FN(best_key)(int kind, const T *x, int64_t n, int64_t stride) {
#define KEY(bits) ((int16_t)((bits) ^ ((int16_t)(bits) >> 15 & 0x7fff)))
  int16_t low = KEY(x[0].bits), high = low, infinite = (int16_t)STORE((ACC)INFINITY).bits;
  for (int64_t i = 0; i < n; i++) {
    int16_t key = KEY(x[i * stride].bits);
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  if (low < ~infinite || high > infinite) return NOT_A_NUMBER;
  int16_t best = kind == DPT__MAX ? high : low;
  T value = {(uint16_t)KEY(best)};
  return best == KEY(0x8000) || best == 0 ? FN(best_run)(kind, x, n, stride) : LOAD(value);
#undef KEY
}
#define BEST_RUN FN(best_key)
#else
#define BEST_RUN FN(best_run)
#endif

static INLINE void FN(run_by)(int kind, const T *x, int64_t n, int64_t stride, double p,
                              part *out) {
  switch (KIND(kind)) {
#define X(sum)                                                                                     \
  case sum:                                                                                        \
    V(out) = FN(add_run)(sum, x, n, stride, 0, p);                                                 \
    break;
    SUMS(X)
#undef X
  case DPT__PRODUCT: {
    WRAP s[SPREAD];
    int64_t i = 0, whole = n <= FEW ? 0 : n - n % SPREAD;
    for (int j = 0; j < SPREAD; j++) s[j] = 1;
    for (; i < whole; i += SPREAD)
      for (int64_t j = 0; j < SPREAD; j++) s[j] *= (WRAP)LOAD(x[(i + j) * stride]);
    for (; i < n; i++) s[0] *= (WRAP)LOAD(x[i * stride]);
    for (int j = 1; j < SPREAD && whole; j++) s[0] *= s[j];
    V(out) = (ACC)s[0];
    break;
  }
#if REAL
  case DPT__VARIANCE: {
    ACC first = LOAD(x[0]);
    V(out) = first + FN(add_run)(DPT__SUM, x, n, stride, first, p) / (ACC)n;
    out->m2 = FN(add_run)(DPT__SQUARE, x, n, stride, V(out), p);
    break;
  }
#endif
  case DPT__MAX:
    V(out) = BEST_RUN(DPT__MAX, x, n, stride);
    break;
  case DPT__MIN:
    V(out) = BEST_RUN(DPT__MIN, x, n, stride);
    break;
  }
}

/* Reduces a run of n >= 1 elements. */
DPT__CLONES static void FN(run)(int kind, const void *data, int64_t n, int64_t stride, double p,
                                part *out) {
  if (stride == 1)
    FN(run_by)(kind, data, n, 1, p, out);
  else
    FN(run_by)(kind, data, n, stride, p, out);
}

/* Returns the position in a run where its best value is first. */
static int64_t FN(find)(const void *data, int64_t n, int64_t stride, const part *best) {
  const T *x = data;
  WIDE wanted = (WIDE)V(best);
  int nan = IS_NAN(wanted);
  for (int64_t i = 0; i < n; i++) {
    WIDE v = WIDEN(x[i * stride]);
    if (v == wanted || (nan && IS_NAN(v))) return i;
  }
  return 0;
}

/* Sums the terms of columns in s: of their differences from from[j], or from 0 if `from` is
 * NULL. */
static INLINE void FN(add_cols)(int kind, const T *x, int64_t rows, int64_t row_stride,
                                int64_t cols, int64_t stride, const ACC *from, double p, WRAP *s) {
#define MORE(at, j) TERM(kind, LOAD(at) - (from ? from[j] : 0), p)
  int64_t i = 0;
  for (int64_t j = 0; j < cols; j++) s[j] = 0;
  for (; i + TOGETHER <= rows; i += TOGETHER) /* in the order of rows, with the sum in a register */
    for (int64_t j = 0; j < cols; j++) {
      const T *at = x + i * row_stride + j * stride;
      WRAP sum = s[j];
      for (int64_t k = 0; k < TOGETHER; k++) sum += MORE(at[k * row_stride], j);
      s[j] = sum;
    }
  for (; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) s[j] += MORE(x[i * row_stride + j * stride], j);
#undef MORE
}

static INLINE void FN(best_cols)(int kind, const T *x, int64_t rows, int64_t row_stride,
                                 int64_t cols, int64_t stride, part *out) {
  WIDE s[TILE];
  int32_t at[TILE] = {0}; /* a block has less than 2^31 rows */
  for (int64_t j = 0; j < cols; j++) s[j] = WIDEN(x[j * stride]);
  for (int64_t i = 1; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      WIDE v = WIDEN(x[i * row_stride + j * stride]);
      int better = (kind == DPT__MAX ? !(v <= s[j]) : !(v >= s[j])) & !IS_NAN(s[j]);
      s[j] = better ? v : s[j];
      at[j] = better ? (int32_t)i : at[j];
    }
  for (int64_t j = 0; j < cols; j++) {
    V(out + j) = (ACC)s[j];
    out[j].at = at[j];
  }
}

static INLINE void FN(cols_by)(int kind, const T *x, int64_t rows, int64_t row_stride, int64_t cols,
                               int64_t stride, double p, part *out) {
  WRAP s[TILE];
  switch (KIND(kind)) {
#define X(sum)                                                                                     \
  case sum:                                                                                        \
    FN(add_cols)(sum, x, rows, row_stride, cols, stride, NULL, p, s);                              \
    for (int64_t j = 0; j < cols; j++) V(out + j) = (ACC)s[j];                                     \
    break;
    SUMS(X)
#undef X
  case DPT__PRODUCT:
    for (int64_t j = 0; j < cols; j++) s[j] = 1;
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++) s[j] *= (WRAP)LOAD(x[i * row_stride + j * stride]);
    for (int64_t j = 0; j < cols; j++) V(out + j) = (ACC)s[j];
    break;
#if REAL
  case DPT__VARIANCE: {
    ACC mean[TILE];
    for (int64_t j = 0; j < cols; j++) mean[j] = LOAD(x[j * stride]);
    FN(add_cols)(DPT__SUM, x, rows, row_stride, cols, stride, mean, p, s);
    for (int64_t j = 0; j < cols; j++) V(out + j) = mean[j] += (ACC)s[j] / (ACC)rows;
    FN(add_cols)(DPT__SQUARE, x, rows, row_stride, cols, stride, mean, p, s);
    for (int64_t j = 0; j < cols; j++) out[j].m2 = (double)s[j];
    break;
  }
#endif
  case DPT__MAX:
    FN(best_cols)(DPT__MAX, x, rows, row_stride, cols, stride, out);
    break;
  case DPT__MIN:
    FN(best_cols)(DPT__MIN, x, rows, row_stride, cols, stride, out);
    break;
  }
}

/* Reduces `cols` <= TILE columns of rows >= 1 elements. */
DPT__CLONES static void FN(columns)(int kind, const void *data, int64_t rows, int64_t row_stride,
                                    int64_t cols, int64_t stride, double p, part *out) {
  if (stride == 1)
    FN(cols_by)(kind, data, rows, row_stride, cols, 1, p, out);
  else
    FN(cols_by)(kind, data, rows, row_stride, cols, stride, p, out);
}

/* Adds a later block of `more` elements to one of n. */
static void FN(join)(int kind, part *to, int64_t n, const part *from, int64_t more) {
  ACC a = V(to), b = V(from);
  switch (kind) {
  case DPT__PRODUCT:
    V(to) = (ACC)((WRAP)a * (WRAP)b);
    break;
#if REAL
  case DPT__VARIANCE:
    dpt__join_variance(&to->real, &to->m2, (double)n, b, from->m2, (double)more);
    break;
#endif
  case DPT__MAX:
  case DPT__MIN:
    if (!IS_NAN(a) && (kind == DPT__MAX ? !(b <= a) : !(b >= a))) {
      V(to) = b;
      to->at = from->at + n;
    }
    break;
  default:
    V(to) = (ACC)((WRAP)a + (WRAP)b);
  }
}

/* Stores the value as an element. */
static void FN(store)(void *to, const part *value) { *(T *)to = STORE(V(value)); }

#undef BEST_RUN
#undef V
#undef IS_NAN
#undef TERM
#undef SUMS
#undef KIND
#undef NOT_A_NUMBER
