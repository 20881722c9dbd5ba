/* gemm_reduced.c: products of reduced types.
 *
 * Invariant: operands become floats while blocks of them are copied, rows of a as rows and columns
 * of b as panels (host/panels.h), so that nothing is converted twice. The order in which an element
 * of c is summed depends on sizes and strides, not on threads; the sum is rounded once.
 */
#include "base/element.h"
#include "base/isa.h"
#include "base/number.h"
#include "host/gemm.h"
#include "host/panels.h"
#include "host/rows.h"

/* Blocks, in elements: rows of a and their floats (L2); terms that are added in registers; columns
 * of b that are multiplied at once, and floats of b that are packed at once (2 MiB). */
enum { ROWS = 96, FLOATS = 1 << 16, DEPTH = 256, COLS = 512, PACKED = 1 << 19 };
enum { DEEP = PACKED / COLS, MOST_ROWS = 1024 }; /* more terms: of so many rows sums are kept */
enum { ALIGN_SPLIT = 16 };                       /* rows of a thread's part */
enum { FEW = 3, ADDED = 8, STRIP_SUMS = 4096 };  /* rows; rows of b that are added at once; sums */

/* A product whose operands have adjacent rows or columns. */
typedef struct reduced {
  const dpt__gemm_args *g;
  const dpt__panels *panels;
  dpt__row_fn *widen;
  int64_t depth;                  /* at most DEPTH */
  int64_t rows, cols;             /* of a block of a, and of b */
  int direct, deep;               /* sums are formed in c; there are more than DEEP terms */
  int64_t a_size, b_size, c_size; /* elements of a thread's blocks */
} reduced;

static const char *reduced_at(int dtype, const void *p, int64_t i) {
  return (const char *)p + i * (int64_t)dpt__dtype_size(dtype);
}

/* Converts `terms` columns, from column `first` on, of rows row .. row+rows of a: to blocks of
 * t->depth columns. */
static void reduced_rows(const reduced *t, float *to, int64_t row, int64_t rows, int64_t first,
                         int64_t terms) {
  const dpt__gemm_args *g = t->g;
  const char *a = reduced_at(g->dtype, g->a, row * g->a_row + first * g->a_col);
  for (int64_t i = 0; i < rows && g->a_col == 1; i++)
    for (int64_t l = 0, depth; l < terms; l += depth) { /* reads memory in order */
      depth = dpt__min(t->depth, terms - l);
      t->widen(depth, to + l * rows + i * depth, reduced_at(g->dtype, a, i * g->a_row + l), NULL,
               NULL, 0, 0);
    }
  for (int64_t l = 0, depth; l < terms && g->a_col != 1; l += depth) {
    depth = dpt__min(t->depth, terms - l);
    t->panels->turn(to + l * rows, depth, reduced_at(g->dtype, a, l * g->a_col), g->a_col, depth,
                    rows, 1);
  }
}

/* Sets sums = alpha * sums + beta * old, where old is not read if beta is 0. */
DPT__CLONES static void reduced_combine(float *sums, const float *old, int64_t n, float alpha,
                                        float beta) {
  for (int64_t i = 0; i < n; i++) sums[i] *= alpha;
  if (beta == 0) return;
  for (int64_t i = 0; i < n; i++) sums[i] += beta * old[i];
}

/* Writes sums (rows, cols) to c, whose rows are adjacent. */
static void reduced_store_rows(const dpt__gemm_args *g, float *sums, int64_t rows, int64_t cols,
                               char *c) {
  const dpt__rows *by = dpt__rows_pick();
  dpt__row_fn *widen = by->convert[DPT_F32][g->c_dtype], *narrow = by->convert[g->c_dtype][DPT_F32];
  const int64_t width = (int64_t)dpt__dtype_size(g->c_dtype);
  if (g->c_row == cols) cols *= rows, rows = 1;
  for (int64_t i = 0; i < rows; i++, c += g->c_row * width)
    for (int64_t j = 0, n; j < cols; j += n, sums += n) {
      float old[COLS];
      n = dpt__min(COLS, cols - j);
      if (g->beta != 0) widen(n, old, c + j * width, NULL, NULL, 0, 0);
      if (g->beta != 0 || g->alpha != 1)
        reduced_combine(sums, g->beta != 0 ? old : sums, n, (float)g->alpha, (float)g->beta);
      narrow(n, c + j * width, sums, NULL, NULL, 0, 0);
    }
}

/* Writes sums (rows, cols) to c. old: memory of as many elements, unless rows of c are adjacent. */
static void reduced_store(const dpt__context *context, const dpt__gemm_args *g, float *sums,
                          float *old, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  char *c = (char *)reduced_at(g->c_dtype, g->c, row * g->c_row + col * g->c_col);
  if (g->c_col == 1) return reduced_store_rows(g, sums, rows, cols, c);
  dpt__context alone = *context;
  alone.threads = 1;
  dpt__matrix own = {g->c_dtype, c, g->c_row, g->c_col}, wide = {DPT_F32, sums, cols, 1};
  dpt__matrix before = {DPT_F32, old, cols, 1};
  if (g->beta != 0) dpt__host_copy(&alone, rows, cols, before, own);
  if (g->beta != 0 || g->alpha != 1)
    reduced_combine(sums, old, rows * cols, (float)g->alpha, (float)g->beta);
  dpt__host_copy(&alone, rows, cols, own, wide);
}

/* Adds `terms` terms, at most DEEP, from term `first` on, of rows row .. row+rows and columns
 * col .. col+cols to c, or to sums, which are stored unless the product is deep. */
static void reduced_terms(const dpt__context *context, const reduced *t, float *memory, int64_t row,
                          int64_t rows, int64_t col, int64_t cols, int64_t first, int64_t terms) {
  const dpt__gemm_args *g = t->g;
  const int64_t wide = dpt__panels_size(t->panels, 1, cols);
  const int stores = !t->direct && !t->deep, adds = first > 0 || (t->direct && g->beta != 0);
  float *a = memory, *b = a + t->a_size, *sums = b + t->b_size, *old = sums + t->c_size;
  for (int64_t l = 0, depth; l < terms; l += depth) {
    depth = dpt__min(t->depth, terms - l);
    t->panels->pack(b + l * wide,
                    reduced_at(g->dtype, g->b, (first + l) * g->b_row + col * g->b_col), depth,
                    cols, g->b_row, g->b_col);
  }
  for (int64_t i = 0, n; i < rows; i += n) {
    n = dpt__min(t->rows, rows - i);
    reduced_rows(t, a, row + i, n, first, terms);
    for (int64_t j = 0, w; j < cols; j += w) {
      w = dpt__min(COLS, cols - j);
      float *c = t->direct ? (float *)g->c + (row + i) * g->c_row + col + j
                           : sums + (stores ? 0 : i * cols + j);
      const int64_t c_row = t->direct ? g->c_row : stores ? w : cols;
      for (int64_t l = 0, depth; l < terms; l += depth) {
        depth = dpt__min(t->depth, terms - l);
        t->panels->run(c, c_row, a + l * n, depth, b + l * wide + j * depth, n, depth, w,
                       l > 0 || adds);
      }
      if (stores) reduced_store(context, g, sums, old, row + i, n, col + j, w);
    }
  }
}

/* Computes rows row .. row+rows and columns col .. col+cols. */
static void reduced_part(const dpt__context *context, const reduced *t, float *memory, int64_t row,
                         int64_t rows, int64_t col, int64_t cols) {
  float *sums = memory + t->a_size + t->b_size;
  const int keeps = t->deep && !t->direct;
  const int64_t most = keeps ? MOST_ROWS : rows;
  for (int64_t j = 0, w; j < cols; j += w) {
    w = dpt__min(t->cols, cols - j);
    for (int64_t i = 0, n; i < rows; i += n) {
      n = dpt__min(most, rows - i);
      for (int64_t l = 0; l < t->g->k; l += DEEP)
        reduced_terms(context, t, memory, row + i, n, col + j, w, l, dpt__min(DEEP, t->g->k - l));
      if (keeps) reduced_store(context, t->g, sums, sums + t->c_size, row + i, n, col + j, w);
    }
  }
}

/* Returns true if the sums of c, or of its transpose, can be formed in c. */
static int reduced_is_direct(const dpt__gemm_args *g) {
  return g->c_dtype == DPT_F32 && g->alpha == 1 && (g->beta == 0 || g->beta == 1) &&
         (g->c_col == 1 || g->c_row == 1);
}

/* Computes the product, a part of the rows or columns on each thread; k > 0. */
static int reduced_product(dpt__context *context, const dpt__gemm_args *g) {
  reduced t = {.g = g, .panels = dpt__panels_for(g->dtype), .deep = g->k > DEEP};
  t.widen = dpt__rows_pick()->convert[DPT_F32][g->dtype];
  t.direct = reduced_is_direct(g);
  double work = (double)g->m * (double)g->n * (double)g->k;
  int threads = work < 5e5 * context->threads ? 1 + (int)(work / 5e5) : context->threads;
  int by_rows = g->m >= g->n;
  int64_t part = dpt__ceil_div(by_rows ? g->m : g->n, threads), terms = dpt__min(g->k, DEEP);
  part = dpt__ceil_div(part, ALIGN_SPLIT) * ALIGN_SPLIT;
  const int64_t rows = by_rows ? part : g->m, cols = by_rows ? g->n : part;
  t.depth = dpt__ceil_div(terms, dpt__ceil_div(terms, DEPTH));
  t.rows = dpt__min(dpt__min(ROWS, FLOATS / terms), rows);
  t.cols = dpt__ceil_div(cols, dpt__ceil_div(terms * cols, PACKED));
  t.cols = dpt__min(dpt__ceil_div(t.cols, t.panels->panel) * t.panels->panel, cols);
  t.a_size = t.rows * terms;
  t.b_size = dpt__panels_size(t.panels, terms, t.cols);
  t.c_size = t.direct ? 0
             : t.deep ? dpt__min(MOST_ROWS, rows) * t.cols
                      : t.rows * dpt__min(COLS, t.cols);
  size_t own = (size_t)(t.a_size + t.b_size + t.c_size * (g->beta != 0 && g->c_col != 1 ? 2 : 1)) *
               sizeof(float);
  own = (own / DPT__SCRATCH_ALIGN + 1) * DPT__SCRATCH_ALIGN;
  char *memory = dpt__scratch(context, own * (size_t)threads);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int i = 0; i < threads; i++) {
    const int64_t row = by_rows ? i * rows : 0, col = by_rows ? 0 : i * cols;
    const int64_t down = dpt__min(rows, g->m - row), along = dpt__min(cols, g->n - col);
    if (down > 0 && along > 0)
      reduced_part(context, &t, (float *)(memory + own * (size_t)i), row, down, col, along);
  }
  return 0;
}

/* Computes c = beta * c + alpha * a * b, where a has at most FEW rows of floats and b, of a reduced
 * type, is read once and not packed. */
static void reduced_few(const dpt__context *context, const dpt__gemm_args *g, const float *a) {
  const dpt__rows *rows = dpt__rows_pick();
  const int64_t k = g->k;
  int threads = k * g->n > 65536 ? context->threads : 1;
  int64_t strip = dpt__ceil_div(g->n, threads * DPT__ROW_SUMS) * DPT__ROW_SUMS;
  strip = dpt__min(strip, STRIP_SUMS);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t first = 0; first < g->n; first += strip) {
    const char *b = reduced_at(g->dtype, g->b, first * g->b_col);
    float sums[FEW][STRIP_SUMS];
    const int64_t n = dpt__min(strip, g->n - first), padded = dpt__min(n + DPT__ROW_SUMS, strip);
    for (int64_t r = 0; r < g->m; r++) memset(sums[r], 0, (size_t)padded * sizeof *sums[r]);
    for (int64_t j = 0; j < n && g->b_row == 1; j++)
      for (int64_t r = 0; r < g->m; r++)
        sums[r][j] = rows->dot[g->dtype](reduced_at(g->dtype, b, j * g->b_col), a + r * k, k);
    for (int64_t i = 0; i < k && g->b_row != 1; i += ADDED)
      for (int64_t r = 0; r < g->m; r++)
        rows->add_rows[g->dtype](sums[r], reduced_at(g->dtype, b, i * g->b_row),
                                 dpt__min(ADDED, k - i), g->b_row, a + r * k + i, n);
    for (int64_t r = 0; r < g->m; r++)
      for (int64_t j = 0; j < n; j++) {
        char *c = (char *)reduced_at(g->c_dtype, g->c, r * g->c_row + (first + j) * g->c_col);
        float sum = (float)g->alpha * sums[r][j];
        if (g->beta != 0) sum += (float)g->beta * (float)dpt__get_element(g->c_dtype, c);
        dpt__put_element(g->c_dtype, c, (double)sum);
      }
  }
}

/* Computes c = beta * c. */
static int reduced_scale(const dpt__context *context, const dpt__gemm_args *g) {
  for (int64_t i = 0; i < g->m && !context->measures; i++)
    for (int64_t j = 0; j < g->n; j++) {
      char *c = (char *)reduced_at(g->c_dtype, g->c, i * g->c_row + j * g->c_col);
      double old = g->beta == 0 ? 0 : dpt__get_element(g->c_dtype, c);
      dpt__put_element(g->c_dtype, c, (double)((float)g->beta * (float)old));
    }
  return 0;
}

/* Makes an operand's rows or columns adjacent: a copy if neither are. */
static void reduced_operand(dpt__context *context, int dtype, int64_t rows, int64_t cols,
                            const void **data, int64_t *row, int64_t *col) {
  if (cols == 1) *col = 1;
  if (rows == 1 && *col != 1) *row = 1;
  if (*row == 1 || *col == 1) return;
  void *dense = dpt__scratch(context, (size_t)(rows * cols) * dpt__dtype_size(dtype));
  dpt__matrix to = {dtype, dense, cols, 1}, from = {dtype, (void *)*data, *row, *col};
  if (!context->measures) dpt__host_copy(context, rows, cols, to, from);
  *data = dense, *row = cols, *col = 1;
}

/* Copies the operands to floats, for a product with a fixed order of sums. */
static int reduced_fixed_strip(dpt__context *context, const dpt__gemm_args *g) {
  dpt__gemm_args f = *g;
  float *a = dpt__scratch(context, (size_t)(g->m * g->k) * sizeof *a);
  float *b = dpt__scratch(context, (size_t)(g->k * g->n) * sizeof *b);
  float *c = dpt__scratch(context, (size_t)(g->m * g->n) * sizeof *c);
  f.dtype = f.c_dtype = DPT_F32;
  f.a = a, f.b = b, f.c = c;
  f.a_row = g->k, f.b_row = f.c_row = g->n, f.a_col = f.b_col = f.c_col = 1;
  const dpt__matrix from[] = {{g->dtype, (void *)g->a, g->a_row, g->a_col},
                              {g->dtype, (void *)g->b, g->b_row, g->b_col},
                              {g->c_dtype, g->c, g->c_row, g->c_col}};
  const dpt__matrix to[] = {{DPT_F32, a, g->k, 1}, {DPT_F32, b, g->n, 1}, {DPT_F32, c, g->n, 1}};
  if (!context->measures) {
    dpt__host_copy(context, g->m, g->k, to[0], from[0]);
    dpt__host_copy(context, g->k, g->n, to[1], from[1]);
    if (g->beta != 0) dpt__host_copy(context, g->m, g->n, to[2], from[2]);
  }
  DPT__TRY(dpt__host_gemm_fixed(context, &f));
  if (!context->measures) dpt__host_copy(context, g->m, g->n, from[2], to[2]);
  return 0;
}

/* Computes strips of the longer side of c, whose floats fit in a cache. */
static int reduced_fixed(dpt__context *context, const dpt__gemm_args *args) {
  dpt__gemm_args g = args->m > args->n ? dpt__gemm_exchanged(args) : *args, strip = g;
  const int64_t align = ALIGN_SPLIT * context->threads;
  const int64_t cols = dpt__ceil_div(PACKED / (g.m + g.k) + 1, align) * align;
  const size_t used = context->used;
  for (int64_t first = 0; first < g.n; first += context->measures ? g.n : cols) {
    strip.n = dpt__min(cols, g.n - first);
    strip.b = reduced_at(g.dtype, g.b, first * g.b_col);
    strip.c = (char *)reduced_at(g.c_dtype, g.c, first * g.c_col);
    context->used = used;
    DPT__TRY(reduced_fixed_strip(context, &strip));
  }
  return 0;
}

/* Returns true if packing b, here or in oneDNN, would take longer than reading it for each of the
 * few rows of a. */
static int reduced_has_few_rows(const dpt__gemm_args *g) {
  enum { LONG = 128 };
  return dpt__rows_pick()->dot[g->dtype] &&
         (g->m == 1 || (g->m <= FEW && g->b_col == 1 && g->n >= LONG));
}

/* Returns the estimated time of a product for each term of the sums, in multiplications of two
 * vectors: of fewer than IDLE rows units idle, and transposing takes longer than converting. */
static int64_t reduced_cost(const dpt__gemm_args *g, int64_t panel) {
  enum { IDLE = 4, CONVERTS = 2, TURNS = 6, STORES = 4, SCATTERS = 20 };
  int64_t panels = dpt__ceil_div(g->n, panel), rows = g->m > IDLE ? g->m : IDLE;
  return panels * (rows + (g->b_col == 1 ? CONVERTS : TURNS)) +
         g->m * (g->a_col == 1 ? CONVERTS : TURNS) / panel +
         panels * g->m * (g->c_col == 1 ? STORES : SCATTERS) / g->k;
}

int dpt__host_gemm_reduced(dpt__context *context, const dpt__gemm_args *args) {
  if (args->k == 0 || args->alpha == 0) return reduced_scale(context, args);
  if (args->fixed) return reduced_fixed(context, args);
  dpt__gemm_args g = args->m > args->n ? dpt__gemm_exchanged(args) : *args;
  if (!reduced_has_few_rows(&g) && dpt__host_gemm_takes_bf16(&g))
    return dpt__host_gemm_bf16(context, &g);
  reduced_operand(context, g.dtype, g.m, g.k, &g.a, &g.a_row, &g.a_col);
  reduced_operand(context, g.dtype, g.k, g.n, &g.b, &g.b_row, &g.b_col);
  if (!reduced_has_few_rows(&g)) {
    dpt__gemm_args turned = dpt__gemm_exchanged(&g);
    int64_t panel = dpt__panels_for(g.dtype)->panel;
    int turns = reduced_is_direct(&g) ? g.c_col != 1
                                      : reduced_cost(&turned, panel) < reduced_cost(&g, panel);
    return reduced_product(context, turns ? &turned : &g);
  }
  float *few = dpt__scratch(context, (size_t)(g.m * g.k) * sizeof *few);
  if (context->measures) return 0;
  dpt__host_copy(context, g.m, g.k, (dpt__matrix){DPT_F32, few, g.k, 1},
                 (dpt__matrix){g.dtype, (void *)g.a, g.a_row, g.a_col});
  reduced_few(context, &g, few);
  return 0;
}
