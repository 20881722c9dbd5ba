/* sample.inc.c: rows of sampled pictures, for one element type (see real.h). */
#include "image/real.h"

static void NAME(put)(const sample_job *job, int64_t k, int64_t y, int64_t x, A value) {
  *(T *)NAME(at)(job->out, k, y, x) = NAME(element)(value);
}

/* Sums n x n taps from [row][column] on; outside, they are `padding` or the nearest edge. */
static A NAME(taps)(const sample_job *job, int64_t k, int64_t row, int64_t column, int n,
                    const double *down, const double *across, int is_padded) {
  const int64_t height = job->in->size[1], width = job->in->size[2];
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int64_t v = row + i, u = column + j;
      const int is_out = v < 0 || v >= height || u < 0 || u >= width;
      const double value =
          is_out && is_padded
              ? (double)(T)job->padding
              : (double)*NAME(at)(job->in, k, sample_inside(v, height), sample_inside(u, width));
      sum += value * down[i] * across[j];
    }
  return (A)sum;
}

static void NAME(warp)(const sample_job *job, int64_t y) {
  const int64_t *size = job->out->size, height = job->in->size[1], width = job->in->size[2];
  const float *rows = job->field + y * size[2], *columns = rows + size[1] * size[2];
  for (int64_t x = 0; x < size[2]; x++) {
    float row = (job->offset ? (float)y : 0) + rows[x];
    float column = (job->offset ? (float)x : 0) + columns[x];
    const int is_inside =
        row >= 0 && row <= (float)(height - 1) && column >= 0 && column <= (float)(width - 1);
    if (job->pad && !is_inside) {
      for (int64_t k = 0; k < size[0]; k++)
        *(T *)NAME(at)(job->out, k, y, x) = NAME(element)((A)job->padding);
      continue;
    }
    row = sample_clamp(row, height);
    column = sample_clamp(column, width);
    const int64_t v = (int64_t)row, u = (int64_t)column;
    double down[6] = {1 - (row - (float)v), row - (float)v};
    double across[6] = {1 - (column - (float)u), column - (float)u};
    int n = 2, first = 0;
    if (job->mode == CUBIC || job->mode == LANCZOS) {
      n = job->mode == CUBIC ? 4 : 6;
      first = job->mode == CUBIC ? -1 : -2;
      (n == 4 ? sample_cubic : sample_lanczos)(row - (float)v, down);
      (n == 4 ? sample_cubic : sample_lanczos)(column - (float)u, across);
    }
    for (int64_t k = 0; k < size[0]; k++) NAME(put)
    (job, k, y, x,
     job->mode == NEAREST ? (A)*NAME(at)(job->in, k, sample_inside((int64_t)(row + 0.5), height),
                                         sample_inside((int64_t)(column + 0.5), width))
                          : NAME(taps)(job, k, v + first, u + first, n, down, across, n == 4));
  }
}

/* Computes a row of a rotated or polar picture; pixels without a source are 0. Between the last
 * pixels and the edge, rotation uses the nearest pixel, polar the one above and to the left. */
static void NAME(place)(const sample_job *job, int64_t y) {
  const int64_t *size = job->out->size, height = job->in->size[1], width = job->in->size[2];
  for (int64_t x = 0; x < size[2]; x++) {
    double row, column;
    sample_place(job, sizeof(A) == 4, y, x, &row, &column);
    const int is_near = row > -1 && row < (double)height && column > -1 && column < (double)width;
    const int64_t v = is_near ? (int64_t)floor(row) : -2, u = is_near ? (int64_t)floor(column) : -2;
    double dv = row - (double)v, du = column - (double)u;
    int is_inside = v >= 0 && u >= 0 && v < height && u < width;
    if (job->mode == NEAREST) {
      dv = du = 0;
    } else if (job->what == TURNED) {
      is_inside = is_near && (v < 0 ? dv > 0.5 : v + 1 < height || dv < 0.5) &&
                  (u < 0 ? du > 0.5 : u + 1 < width || du < 0.5);
    } else if (v + 1 >= height || u + 1 >= width) {
      dv = du = 0;
    }
    const double down[2] = {1 - dv, dv}, across[2] = {1 - du, du};
    for (int64_t k = 0; k < size[0]; k++)
      NAME(put)(job, k, y, x, is_inside ? NAME(taps)(job, k, v, u, 2, down, across, 0) : 0);
  }
}
