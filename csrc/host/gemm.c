/* gemm.c: chooses the algorithm of a matrix product (dpt__host_gemm), and computes products with
 * OpenBLAS or oneDNN, each block on one thread (see gemm.h). */
#include "host/gemm.h"
#include "base/element.h"
#include "base/number.h"
#include "host/panels.h"
#include "host/rows.h"
#include "ops/blas_library.h"

#include <stdatomic.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <dnnl.h>
#include <omp.h>
#endif

enum { ALIGN_SPLIT = 16, FLAT = 16, STRIP = 512, NARROW = 64, SMALL = 1000000 };
enum { ALIAS = 2048, STRIP_TURNED = 64 }; /* bytes; rows that a thread transposes at once */
enum { MOST_TURNED = 4 << 20 };           /* elements: 16 MiB of temporary memory */

typedef dpt__blas_form form;

static inline size_t gemm_width(int dtype) {
  return dtype == DPT_F32 ? sizeof(float) : sizeof(double);
}
static inline const void *gemm_at(int dtype, const void *p, int64_t i) {
  return (const char *)p + (size_t)i * gemm_width(dtype);
}
static inline void *gemm_to(int dtype, void *p, int64_t i) {
  return (char *)p + (size_t)i * gemm_width(dtype);
}

/* A product whose c is row-major and whose operands have BLAS forms. */
typedef struct product {
  int dtype;
  int64_t m, n, k;
  double alpha, beta;
  const void *a, *b;
  void *c;
  form fa, fb;
  int64_t ldc;
} product;

#ifdef _OPENMP
/* Returns true if oneDNN computes products: on AVX-512, unless the user has named a BLAS. */
static int gemm_has_dnnl(void) {
  static atomic_int known; /* result plus 1; 0: not looked up */
  if (!atomic_load_explicit(&known, memory_order_relaxed))
    atomic_store_explicit(&known, 1 + (dpt__isa() == DPT__ISA_AVX512 && !getenv("DPT_BLAS")),
                          memory_order_relaxed);
  return atomic_load_explicit(&known, memory_order_relaxed) - 1;
}

/* Returns true if oneDNN has computed the product. On floats it is faster than OpenBLAS, by a tenth
 * to many times, except for small and narrow products (scripts/bench gemm). */
static int gemm_dnnl(const product *p) {
  double work = (double)p->m * (double)p->n * (double)p->k;
  if (p->dtype != DPT_F32 || p->n <= NARROW || work <= SMALL || !gemm_has_dnnl()) return 0;
  int before = omp_get_max_threads();
  omp_set_num_threads(1);
  dnnl_status_t status =
      dnnl_sgemm(p->fa.trans ? 'T' : 'N', p->fb.trans ? 'T' : 'N', p->m, p->n, p->k,
                 (float)p->alpha, p->a, p->fa.lead, p->b, p->fb.lead, (float)p->beta, p->c, p->ldc);
  omp_set_num_threads(before);
  return status == dnnl_success;
}
#else
static int gemm_has_dnnl(void) { return 0; }
static int gemm_dnnl(const product *p) { return 0; }
#endif

static void gemm_blas(const product *p) {
  if (gemm_dnnl(p)) return;
  int ta = p->fa.trans ? DPT__TRANS : DPT__NO_TRANS;
  int tb = p->fb.trans ? DPT__TRANS : DPT__NO_TRANS;
  int m = (int)p->m, n = (int)p->n, k = (int)p->k;
  int lda = (int)p->fa.lead, ldb = (int)p->fb.lead, ldc = (int)p->ldc;
  if (p->dtype == DPT_F32)
    dpt__cblas.sgemm(DPT__ROW_MAJOR, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                     (float)p->beta, p->c, ldc);
  else
    dpt__cblas.dgemm(DPT__ROW_MAJOR, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, p->beta, p->c,
                     ldc);
}

/* Computes y = beta * y + alpha * matrix * x for strided vectors; the matrix has a BLAS form. */
static void gemm_blas_mv(int dtype, form f, int64_t rows, int64_t cols, double alpha, const void *a,
                         const void *x, int64_t x_stride, double beta, void *y, int64_t y_stride) {
  int t = f.trans ? DPT__TRANS : DPT__NO_TRANS;
  int m = (int)(f.trans ? cols : rows), n = (int)(f.trans ? rows : cols);
  if (dtype == DPT_F32)
    dpt__cblas.sgemv(DPT__ROW_MAJOR, t, m, n, (float)alpha, a, (int)f.lead, x, (int)x_stride,
                     (float)beta, y, (int)y_stride);
  else
    dpt__cblas.dgemv(DPT__ROW_MAJOR, t, m, n, alpha, a, (int)f.lead, x, (int)x_stride, beta, y,
                     (int)y_stride);
}

/* Returns the part of p with rows r0 .. r0+rows and columns c0 .. c0+cols. */
static product gemm_cut(const product *p, int64_t r0, int64_t rows, int64_t c0, int64_t cols) {
  product q = *p;
  q.m = rows;
  q.n = cols;
  q.a = gemm_at(p->dtype, p->a, p->fa.trans ? r0 : r0 * p->fa.lead);
  q.b = gemm_at(p->dtype, p->b, p->fb.trans ? c0 * p->fb.lead : c0);
  q.c = gemm_to(p->dtype, p->c, r0 * p->ldc + c0);
  return q;
}

/* Returns true if OpenBLAS is faster with the transposed product: few rows by a wide transposed
 * matrix, as in a linear layer's forward (16 rows, 128 to 512: 27 us instead of 31; scripts/bench
 * gemm). */
static int gemm_is_flat(const product *p) {
  return p->fb.trans && !p->fa.trans && p->m >= 8 && p->m <= FLAT && p->n >= 8 * p->m && p->k >= 64;
}

/* Computes c = beta * c + (alpha * b^T * a^T)^T, for at most STRIP columns. */
static void gemm_transposed(const product *p) {
  double inner[FLAT * STRIP];
  product q = {p->dtype, p->n, p->m, p->k, p->alpha, 0, p->b, p->a, inner, p->fb, p->fa, p->m};
  q.fa.trans = 0;
  q.fb.trans = 1;
  gemm_blas(&q);
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++)
      if (p->dtype == DPT_F32) {
        float *c = (float *)p->c + i * p->ldc + j, t = ((float *)inner)[j * p->m + i];
        *c = p->beta == 0 ? t : (float)p->beta * *c + t;
      } else {
        double *c = (double *)p->c + i * p->ldc + j, t = inner[j * p->m + i];
        *c = p->beta == 0 ? t : p->beta * *c + t;
      }
}

/* Computes one product on the threads of this context, each with a block of rows or of columns. */
static void gemm_split(const dpt__context *context, const product *p) {
  int threads = context->threads, flat = gemm_is_flat(p);
  double work = (double)p->m * (double)p->n * (double)p->k;
  if (work < 5e5 * threads) threads = 1 + (int)(work / 5e5);
  if (threads > context->threads) threads = context->threads;
  if (threads == 1 && (!flat || p->n <= STRIP)) {
    (flat ? gemm_transposed : gemm_blas)(p);
    return;
  }
  int by_rows = p->m >= p->n;
  int64_t size = by_rows ? p->m : p->n, part = (size + threads - 1) / threads;
  part = (part + ALIGN_SPLIT - 1) / ALIGN_SPLIT * ALIGN_SPLIT;
  if (flat) part = dpt__min(part, STRIP);
  int64_t parts = (size + part - 1) / part;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < parts; i++) {
    int64_t first = i * part, n = dpt__min(part, size - first);
    product q = by_rows ? gemm_cut(p, first, n, 0, p->n) : gemm_cut(p, 0, p->m, first, n);
    (flat ? gemm_transposed : gemm_blas)(&q);
  }
}

/* Computes y = beta * y + alpha * matrix * x, with rows split among the threads. */
static void gemm_matrix_vector(const dpt__context *context, int dtype, form f, int64_t rows,
                               int64_t cols, double alpha, const void *a, const void *x,
                               int64_t x_stride, double beta, void *y, int64_t y_stride) {
  int threads = rows * cols > 65536 ? context->threads : 1;
  int64_t part = (rows + threads - 1) / threads;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int i = 0; i < threads; i++) {
    int64_t first = i * part, n = dpt__min(part, rows - first);
    if (n > 0)
      gemm_blas_mv(dtype, f, n, cols, alpha, gemm_at(dtype, a, f.trans ? first : first * f.lead), x,
                   x_stride, beta, gemm_to(dtype, y, first * y_stride), y_stride);
  }
}

static int gemm_one(dpt__context *context, const dpt__gemm_args *g);

/* Copies the operands that BLAS does not accept, then computes on the copies. */
static int gemm_copied(dpt__context *context, const dpt__gemm_args *g, form fa, form fb,
                       int c_fits) {
  dpt__gemm_args h = *g;
  size_t w = gemm_width(g->dtype);
  void *a = fa.fits ? NULL : dpt__scratch(context, (size_t)(g->m * g->k) * w);
  void *b = fb.fits ? NULL : dpt__scratch(context, (size_t)(g->k * g->n) * w);
  void *c = c_fits ? NULL : dpt__scratch(context, (size_t)(g->m * g->n) * w);
  if (context->measures) return 0; /* products of the copies need none */
  if (a) {
    dpt__host_copy(context, g->m, g->k, (dpt__matrix){g->dtype, a, g->k, 1},
                   (dpt__matrix){g->dtype, (void *)g->a, g->a_row, g->a_col});
    h.a = a, h.a_row = g->k, h.a_col = 1;
  }
  if (b) {
    dpt__host_copy(context, g->k, g->n, (dpt__matrix){g->dtype, b, g->n, 1},
                   (dpt__matrix){g->dtype, (void *)g->b, g->b_row, g->b_col});
    h.b = b, h.b_row = g->n, h.b_col = 1;
  }
  dpt__matrix own = {g->dtype, g->c, g->c_row, g->c_col}, dense = {g->dtype, c, g->n, 1};
  if (c) {
    if (g->beta != 0) dpt__host_copy(context, g->m, g->n, dense, own);
    h.c = c, h.c_row = g->n, h.c_col = 1;
  }
  if (gemm_one(context, &h)) return 1;
  if (c) dpt__host_copy(context, g->m, g->n, own, dense);
  return 0;
}

/* Computes one product of real numbers. */
static int gemm_one(dpt__context *context, const dpt__gemm_args *g) {
  form fa = dpt__blas_form_of(g->m, g->k, g->a_row, g->a_col),
       fb = dpt__blas_form_of(g->k, g->n, g->b_row, g->b_col),
       fc = dpt__blas_form_of(g->m, g->n, g->c_row, g->c_col);
  int row = fb.fits && g->m == 1 && g->a_col > 0 && g->c_col > 0 && g->a_col < INT32_MAX &&
            g->c_col < INT32_MAX;
  int column = fa.fits && g->n == 1 && g->b_row > 0 && g->c_row > 0 && g->b_row < INT32_MAX &&
               g->c_row < INT32_MAX;
  if (!row && !column && (!fa.fits || !fb.fits || !fc.fits))
    return gemm_copied(context, g, fa, fb, fc.fits);
  if (context->measures) return 0;
  if (row) {
    fb.trans = !fb.trans; /* c^T = b^T * a^T */
    gemm_matrix_vector(context, g->dtype, fb, g->n, g->k, g->alpha, g->b, g->a, g->a_col, g->beta,
                       g->c, g->c_col);
    return 0;
  }
  if (column) {
    gemm_matrix_vector(context, g->dtype, fa, g->m, g->k, g->alpha, g->a, g->b, g->b_row, g->beta,
                       g->c, g->c_row);
    return 0;
  }
  product p = {g->dtype, g->m, g->n, g->k, g->alpha, g->beta, g->a, g->b, g->c, fa, fb, fc.lead};
  if (fc.trans) { /* c^T = b^T * a^T */
    p.m = g->n, p.n = g->m;
    p.a = g->b, p.b = g->a;
    p.fa = (form){1, !fb.trans, fb.lead}, p.fb = (form){1, !fa.trans, fa.lead};
  }
  gemm_split(context, &p);
  return 0;
}

/* Scales c, for a product without terms; beta 0 clears elements that may be NaN. */
static void gemm_scale(const dpt__gemm_args *g) {
  for (int64_t i = 0; i < g->m; i++)
    for (int64_t j = 0; j < g->n; j++) {
      int64_t o = i * g->c_row + j * g->c_col;
      if (g->dtype == DPT_F32) {
        float *c = (float *)g->c + o;
        *c = g->beta == 0 ? 0 : (float)g->beta * *c;
      } else {
        double *c = (double *)g->c + o;
        *c = g->beta == 0 ? 0 : g->beta * *c;
      }
    }
}

static int gemm_real(dpt__context *context, const dpt__gemm_args *g) {
  if (g->k > 0 && g->fixed) return dpt__host_gemm_fixed(context, g);
  if (g->k > 0) return gemm_one(context, g);
  if (!context->measures) gemm_scale(g);
  return 0;
}

/* Computes the products of a batch, each on one thread if there are many, otherwise each on all
 * threads. */
static int gemm_batch(dpt__context *context, const dpt__gemm_args *g,
                      int (*compute)(dpt__context *, const dpt__gemm_args *), int many) {
  size_t used = context->used;
  int threads = context->threads, failed = 0;
  if (!many || g->batch < threads || threads == 1) {
    for (int64_t i = 0; i < (context->measures ? 1 : g->batch) && !failed; i++) {
      dpt__gemm_args one = dpt__gemm_at(g, i);
      context->used = used;
      failed = compute(context, &one);
    }
    context->used = used;
    return failed;
  }
  dpt__context alone = *context;
  alone.threads = 1, alone.measures = 1, alone.used = alone.capacity = 0;
  DPT__TRY(compute(&alone, g));
  size_t own = alone.capacity;
  char *memory = own ? dpt__scratch(context, own * (size_t)threads) : NULL;
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
  for (int64_t i = 0; i < g->batch; i++) {
    dpt__gemm_args one = dpt__gemm_at(g, i);
    dpt__context each = *context;
    each.threads = 1, each.used = 0, each.capacity = own;
    each.scratch = memory + own * (size_t)dpt__thread_number();
    failed |= compute(&each, &one);
  }
  return failed;
}

int dpt__host_gemm_within(dpt__context *context, const dpt__gemm_args *g) {
  if (g->m == 0 || g->n == 0) return 0;
  if (dpt__is_reduced(g->dtype)) return gemm_batch(context, g, dpt__host_gemm_reduced, 1);
  if (!dpt__is_real(g->dtype)) return context->measures ? 0 : dpt__host_gemm_integer(context, g);
  int plain = dpt__blas_form_of(g->m, g->k, g->a_row, g->a_col).fits &&
              dpt__blas_form_of(g->k, g->n, g->b_row, g->b_col).fits &&
              dpt__blas_form_of(g->m, g->n, g->c_row, g->c_col).fits && !g->fixed;
  double work = (double)g->batch * (double)g->m * (double)g->n * (double)g->k;
  return plain && context->measures ? 0 : gemm_batch(context, g, gemm_real, plain && work > 1e5);
}

/* Returns true if b, which is transposed, is transposed in memory first. To pack b, oneDNN reads
 * it across its rows; if these are a multiple of ALIAS bytes apart, they compete for few cache
 * sets of L1: 32 rows by 1024 x 1024 took 1.6 times as long. (OpenBLAS loses less than transposing
 * costs.) */
static int gemm_must_transpose(const dpt__gemm_args *g) {
  return g->dtype == DPT_F32 && !g->fixed && g->batch == 1 && g->m > FLAT && g->n > NARROW &&
         g->k > NARROW && g->k * g->n <= MOST_TURNED && g->b_row == 1 && g->c_col == 1 &&
         g->b_col >= g->k && (size_t)g->b_col * sizeof(float) % ALIAS == 0 && gemm_has_dnnl();
}

int dpt__host_gemm(dpt__context *context, const void *args) {
  dpt__gemm_args g = *(const dpt__gemm_args *)args;
  if (!gemm_must_transpose(&g)) return dpt__host_gemm_within(context, &g);
  size_t used = context->used;
  int64_t row = (g.n + ALIGN_SPLIT - 1) / ALIGN_SPLIT * ALIGN_SPLIT;
  if ((size_t)row * sizeof(float) % ALIAS == 0) row += ALIGN_SPLIT;
  float *turned = dpt__scratch(context, (size_t)(g.k * row) * sizeof *turned);
  const float *b = g.b;
  if (!context->measures)
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t i = 0; i < g.n; i += STRIP_TURNED)
      dpt__panels_for(DPT_F32)->turn(turned + i, row, b + i * g.b_col, g.b_col,
                                     dpt__min(STRIP_TURNED, g.n - i), g.k, 1);
  g.b = turned, g.b_row = row, g.b_col = 1;
  int status = dpt__host_gemm_within(context, &g);
  context->used = used;
  return status;
}
