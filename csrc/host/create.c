/* create.c: ramps, triangles, histograms and renorm, in host memory (ops/create.h). */
#include "ops/create.h"
#include "base/element.h"
#include "host/kernels.h"
#include "host/rows.h"

#include <math.h>

enum { BLOCK = 16384, PIECE = 512 };

int dpt__host_ramp(dpt__context *context, const void *args) {
  const dpt__ramp_args *g = args;
  const dpt__walk *walk = &g->walk;
  int dtype = walk->dtype[0];
  int64_t count = dpt__walk_count(walk), blocks = (count + BLOCK - 1) / BLOCK;
  int64_t stride = walk->stride[0][walk->ndim - 1] * (int64_t)dpt__dtype_size(dtype);
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (blocks > 2 && !walk->serial)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t i = b * BLOCK, left = count - i;
    dpt__cursor c;
    dpt__walk_at(walk, &c, i, left < BLOCK ? left : BLOCK);
    while (dpt__walk_row(walk, &c))
      for (int64_t j = 0; j < c.n; j++, i++) {
        double value = g->from + (double)i * g->step;
        dpt__put_element(dtype, c.data[0] + j * stride, g->power ? pow(10, value) : value);
      }
  }
  return 0;
}

int dpt__host_triangle(dpt__context *context, const void *args) {
  const dpt__triangle_args *g = args;
  static const char zero[8] = {0};
  for (int64_t i = 0; i < g->rows; i++) {
    int64_t edge = i + g->k + !g->upper; /* the first column to keep (upper), or to clear */
    if (edge < 0) edge = 0;
    if (edge > g->cols) edge = g->cols;
    int64_t first = g->upper ? 0 : edge, n = g->upper ? edge : g->cols - edge;
    char *row = (char *)g->data + (i * g->row_stride + first * g->col_stride) * g->width;
    dpt__move((size_t)g->width, row, g->col_stride, zero, 0, n);
  }
  return 0;
}

int dpt__host_histogram(dpt__context *context, const void *args) {
  const dpt__histogram_args *g = args;
  int64_t bins = g->rows * g->bins, *count = dpt__scratch(context, (size_t)bins * sizeof *count);
  int64_t width = (int64_t)dpt__dtype_size(g->dtype);
  if (context->measures) return 0;
  memset(count, 0, (size_t)bins * sizeof *count); /* integers: a float stops at 2^24 */
  const char *a = g->a;
  for (int64_t row = 0; row < g->rows; row++)
    for (int64_t j = 0; j < g->n; j++, a += width) {
      double x = dpt__get_element(g->dtype, a);
      if (!(x >= g->low && x <= g->high)) continue;
      int64_t bin = (int64_t)((x - g->low) / (g->high - g->low) * (double)g->bins);
      if (bin >= g->bins) bin = g->bins - 1;
      count[bin + row * g->bins]++;
    }
  for (int64_t i = 0; i < bins; i++) dpt__put_whole(g->dtype, (char *)g->out + i * width, count[i]);
  return 0;
}

int dpt__host_renorm(dpt__context *context, const void *args) {
  const dpt__renorm_args *g = args;
  dpt__row_fn *widen = dpt__rows_pick()->convert[DPT_F64][g->dtype];
  dpt__row_fn *narrow = dpt__rows_pick()->convert[g->dtype][DPT_F64];
  int64_t width = (int64_t)dpt__dtype_size(g->dtype);
#pragma omp parallel for num_threads(context->threads) schedule(static) if (g->rows * g->m > BLOCK)
  for (int64_t i = 0; i < g->rows; i++) {
    char *row = (char *)g->data + i * g->m * width;
    double x[PIECE], sum = 0;
    for (int64_t j = 0; j < g->m; j += PIECE) {
      int64_t n = g->m - j < PIECE ? g->m - j : PIECE;
      widen(n, x, row + j * width, NULL, NULL, 0, 0);
      for (int64_t k = 0; k < n; k++) {
        double size = fabs(x[k]);
        sum += g->p == 1 ? size : g->p == 2 ? size * size : pow(size, g->p);
      }
    }
    double norm = g->p == 1 ? sum : g->p == 2 ? sqrt(sum) : pow(sum, 1 / g->p);
    if (!(norm > g->max_norm)) continue;
    double scale = g->max_norm / (norm + 1e-7);
    for (int64_t j = 0; j < g->m; j += PIECE) {
      int64_t n = g->m - j < PIECE ? g->m - j : PIECE;
      widen(n, x, row + j * width, NULL, NULL, 0, 0);
      for (int64_t k = 0; k < n; k++) x[k] *= scale;
      narrow(n, row + j * width, x, NULL, NULL, 0, 0);
    }
  }
  return 0;
}
