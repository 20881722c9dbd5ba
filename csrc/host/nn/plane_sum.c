/* plane_sum.c: gradients of biases: sums over images and positions, in double, in a fixed order. */
#include "base/number.h"
#include "host/nn/real.h"
#include "host/nn/stored.h"
#include "host/nn/strips.h"

/* The number of columns that one thread sums at once is at most BLOCK, and a multiple of UNIT. */
enum { BLOCK = 256, UNIT = 16 };

static int64_t plane_sum_block(int64_t columns, int threads) {
  int64_t part = (columns + threads - 1) / threads;
  return dpt__min(BLOCK, (part + UNIT - 1) / UNIT * UNIT);
}

#define DPT_ROWS "host/nn/plane_sum.inc.c"
#include "host/each_real.h"

/* Sums the columns of a matrix of a reduced type. (A strip of all rows would have few columns.) */
static int plane_sum_columns(dpt__context *context, const struct dpt__plane_sum_args *a) {
  const dpt__stored in = dpt__stored_of(a->type);
  const int64_t width = (int64_t)dpt__dtype_size(a->param_type);
  int threads = dpt__threads(context, a->N * a->C);
  int64_t block = plane_sum_block(a->C, threads);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < a->C; first += block) {
    double sum[BLOCK] = {0};
    float room[BLOCK];
    const int64_t n = dpt__min(block, a->C - first);
    for (int64_t i = 0; i < a->N; i++)
      columns_f32(dpt__stored_read(&in, a->gout, i * a->C + first, n, room), 1, n, n, sum);
    for (int64_t c = 0; c < n; c++) {
      char *gb = (char *)a->gb + (first + c) * width;
      float total = (float)(dpt__get_element(a->param_type, gb) + a->scale * sum[c]);
      dpt__put_element(a->param_type, gb, (double)total);
    }
  }
  return 0;
}

static int plane_sum_strips(dpt__context *context, const struct dpt__plane_sum_args *a) {
  if (a->S == 1) return plane_sum_columns(context, a);
  const dpt__strip_operand operands[] = {DPT__READS(a, gout, a->N, a->S),
                                         DPT__STRIP(a, gb, a->param_type, DPT__STRIP_UPDATE, 1, 1)};
  return dpt__host_in_strips(context, &DPT__STRIPS(plane_sum, a, C, operands, 0));
}
DPT_STORED_KERNEL(plane_sum)
