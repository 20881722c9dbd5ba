/* reduce_rows.inc.c: one run of elements, or some columns side by side, for one element type.
 *
 * What must stay true: SPREAD accumulators are summed in one fixed way, whatever the instruction
 * set; a part gets what the block contributes: value, and at (max, min) or m2 (var, std). `kind`
 * is a constant in every call of an INLINE function, so that each call compiles to its own loop.
 */
#if REAL
#define V(part) ((part)->real)
#define IS_NAN(x) ((x) != (x))
#define ABS(x) fabs(x)
#define NOT_A_NUMBER NAN
#else
#define V(part) ((part)->whole)
#define IS_NAN(x) 0
#define ABS(x) ((x) < 0 ? -(WRAP)(x) : (WRAP)(x))
#define NOT_A_NUMBER 0
#endif

static INLINE WRAP FN(term)(int kind, ACC x, double p) {
  switch (kind) {
  case DPT__SUM:
    return (WRAP)x;
  case DPT__COUNT:
    return x != 0;
  case DPT__MAGNITUDE:
    return ABS(x);
  case DPT__SQUARE:
    return (WRAP)x * (WRAP)x;
  default:
    return (WRAP)pow((double)ABS(x), p);
  }
}

static INLINE ACC FN(add_run)(int kind, const T *x, int64_t n, int64_t step, double p) {
  WRAP s[SPREAD] = {0};
  int64_t i = 0;
  for (; i + SPREAD <= n; i += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) s[j] += FN(term)(kind, LOAD(x[(i + j) * step]), p);
  for (int64_t j = 0; i + j < n; j++) s[j] += FN(term)(kind, LOAD(x[(i + j) * step]), p);
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return (ACC)s[0];
}

static INLINE ACC FN(square_run)(const T *x, int64_t n, int64_t step, ACC mean) {
  WRAP s[SPREAD] = {0};
  int64_t i = 0;
  for (; i + SPREAD <= n; i += SPREAD)
    for (int64_t j = 0; j < SPREAD; j++) {
      WRAP d = (WRAP)(LOAD(x[(i + j) * step]) - mean);
      s[j] += d * d;
    }
  for (int64_t j = 0; i + j < n; j++) {
    WRAP d = (WRAP)(LOAD(x[(i + j) * step]) - mean);
    s[j] += d * d;
  }
  for (int h = SPREAD / 2; h; h /= 2)
    for (int j = 0; j < h; j++) s[j] += s[j + h];
  return (ACC)s[0];
}

/* What max and min compare: the elements themselves, halves as float. */
#if HALF
#define B float
#define VALUE(e) dpt__half_to_float(e)
#else
#define B T
#define VALUE(e) (e)
#endif

static INLINE B FN(better)(int kind, B x, B y) {
  return kind == DPT__MOST ? (x > y ? x : y) : (x < y ? x : y);
}

/* The greatest or least value, or NaN where there is one. */
static INLINE ACC FN(best_run)(int kind, const T *x, int64_t n, int64_t step) {
  B s[BEST];
  int32_t nan[BEST] = {0};
  int64_t i = 0;
  for (int j = 0; j < BEST; j++) s[j] = VALUE(x[0]);
  for (; i + BEST <= n; i += BEST)
    for (int64_t j = 0; j < BEST; j++) {
      B v = VALUE(x[(i + j) * step]);
      nan[j] |= IS_NAN(v);
      s[j] = FN(better)(kind, v, s[j]);
    }
  for (; i < n; i++) {
    B v = VALUE(x[i * step]);
    nan[0] |= IS_NAN(v);
    s[0] = FN(better)(kind, v, s[0]);
  }
  for (int j = 1; j < BEST; j++) {
    nan[0] |= nan[j];
    s[0] = FN(better)(kind, s[j], s[0]);
  }
  return nan[0] ? NOT_A_NUMBER : (ACC)s[0];
}

static INLINE void FN(run_by)(int kind, const T *x, int64_t n, int64_t step, double p, part *out) {
  switch (kind) {
  case DPT__SUM:
    V(out) = FN(add_run)(DPT__SUM, x, n, step, p);
    break;
  case DPT__COUNT:
    V(out) = FN(add_run)(DPT__COUNT, x, n, step, p);
    break;
  case DPT__MAGNITUDE:
    V(out) = FN(add_run)(DPT__MAGNITUDE, x, n, step, p);
    break;
  case DPT__SQUARE:
    V(out) = FN(add_run)(DPT__SQUARE, x, n, step, p);
    break;
  case DPT__POWER:
    V(out) = FN(add_run)(DPT__POWER, x, n, step, p);
    break;
  case DPT__PRODUCT: {
    WRAP s = 1;
    for (int64_t i = 0; i < n; i++) s *= (WRAP)LOAD(x[i * step]);
    V(out) = (ACC)s;
    break;
  }
  case DPT__SPREADOUT: {
    ACC mean = FN(add_run)(DPT__SUM, x, n, step, p) / (ACC)n;
    V(out) = mean;
    out->m2 = (double)FN(square_run)(x, n, step, mean);
    break;
  }
  case DPT__MOST:
    V(out) = FN(best_run)(DPT__MOST, x, n, step);
    break;
  default:
    V(out) = FN(best_run)(DPT__LEAST, x, n, step);
    break;
  }
}

/* A run of n >= 1 elements. */
DPT__CLONES static void FN(run)(int kind, const void *data, int64_t n, int64_t step, double p,
                                part *out) {
  if (step == 1)
    FN(run_by)(kind, data, n, 1, p, out);
  else
    FN(run_by)(kind, data, n, step, p, out);
}

/* The place in a run where its best value stands first. */
static int64_t FN(find)(const void *data, int64_t n, int64_t step, const part *best) {
  const T *x = data;
  B wanted = (B)V(best);
  int nan = IS_NAN(wanted);
  for (int64_t i = 0; i < n; i++) {
    B v = VALUE(x[i * step]);
    if (v == wanted || (nan && IS_NAN(v))) return i;
  }
  return 0;
}

static INLINE void FN(add_cols)(int kind, const T *x, int64_t rows, int64_t row_step, int64_t cols,
                                int64_t step, double p, part *out) {
  WRAP s[TILE] = {0};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) s[j] += FN(term)(kind, LOAD(x[i * row_step + j * step]), p);
  for (int64_t j = 0; j < cols; j++) V(out + j) = (ACC)s[j];
}

static INLINE void FN(best_cols)(int kind, const T *x, int64_t rows, int64_t row_step, int64_t cols,
                                 int64_t step, part *out) {
  B s[TILE];
  int32_t at[TILE] = {0}; /* a block has less than 2^31 rows */
  for (int64_t j = 0; j < cols; j++) s[j] = VALUE(x[j * step]);
  for (int64_t i = 1; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      B v = VALUE(x[i * row_step + j * step]);
      int better = (kind == DPT__MOST ? !(v <= s[j]) : !(v >= s[j])) & !IS_NAN(s[j]);
      s[j] = better ? v : s[j];
      at[j] = better ? (int32_t)i : at[j];
    }
  for (int64_t j = 0; j < cols; j++) {
    V(out + j) = (ACC)s[j];
    out[j].at = at[j];
  }
}

static INLINE void FN(cols_by)(int kind, const T *x, int64_t rows, int64_t row_step, int64_t cols,
                               int64_t step, double p, part *out) {
  switch (kind) {
  case DPT__SUM:
    FN(add_cols)(DPT__SUM, x, rows, row_step, cols, step, p, out);
    break;
  case DPT__COUNT:
    FN(add_cols)(DPT__COUNT, x, rows, row_step, cols, step, p, out);
    break;
  case DPT__MAGNITUDE:
    FN(add_cols)(DPT__MAGNITUDE, x, rows, row_step, cols, step, p, out);
    break;
  case DPT__SQUARE:
    FN(add_cols)(DPT__SQUARE, x, rows, row_step, cols, step, p, out);
    break;
  case DPT__POWER:
    FN(add_cols)(DPT__POWER, x, rows, row_step, cols, step, p, out);
    break;
  case DPT__PRODUCT: {
    WRAP s[TILE];
    for (int64_t j = 0; j < cols; j++) s[j] = 1;
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++) s[j] *= (WRAP)LOAD(x[i * row_step + j * step]);
    for (int64_t j = 0; j < cols; j++) V(out + j) = (ACC)s[j];
    break;
  }
  case DPT__SPREADOUT: {
    WRAP m2[TILE] = {0};
    FN(add_cols)(DPT__SUM, x, rows, row_step, cols, step, p, out);
    for (int64_t j = 0; j < cols; j++) V(out + j) /= (ACC)rows;
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++) {
        WRAP d = (WRAP)(LOAD(x[i * row_step + j * step]) - V(out + j));
        m2[j] += d * d;
      }
    for (int64_t j = 0; j < cols; j++) out[j].m2 = (double)m2[j];
    break;
  }
  case DPT__MOST:
    FN(best_cols)(DPT__MOST, x, rows, row_step, cols, step, out);
    break;
  default:
    FN(best_cols)(DPT__LEAST, x, rows, row_step, cols, step, out);
    break;
  }
}

/* `cols` columns of rows >= 1 elements, cols <= TILE. */
DPT__CLONES static void FN(columns)(int kind, const void *data, int64_t rows, int64_t row_step,
                                    int64_t cols, int64_t step, double p, part *out) {
  if (step == 1)
    FN(cols_by)(kind, data, rows, row_step, cols, 1, p, out);
  else
    FN(cols_by)(kind, data, rows, row_step, cols, step, p, out);
}

/* Adds a later block of `more` elements to one of n. */
static void FN(join)(int kind, part *to, int64_t n, const part *from, int64_t more) {
  ACC a = V(to), b = V(from);
  switch (kind) {
  case DPT__PRODUCT:
    V(to) = (ACC)((WRAP)a * (WRAP)b);
    break;
  case DPT__SPREADOUT: {
    double d = (double)b - (double)a, total = (double)n + (double)more;
    V(to) = (ACC)((double)a + d * ((double)more / total));
    to->m2 += from->m2 + d * d * ((double)n * (double)more / total);
    break;
  }
  case DPT__MOST:
  case DPT__LEAST:
    if (!IS_NAN(a) && (kind == DPT__MOST ? !(b <= a) : !(b >= a))) {
      V(to) = b;
      to->at = from->at + n;
    }
    break;
  default:
    V(to) = (ACC)((WRAP)a + (WRAP)b);
  }
}

/* The value as an element. */
static void FN(store)(void *to, const part *value) { *(T *)to = STORE(V(value)); }

#undef B
#undef VALUE
#undef V
#undef IS_NAN
#undef ABS
#undef NOT_A_NUMBER
