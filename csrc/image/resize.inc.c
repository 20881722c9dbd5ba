/* resize.inc.c: bands of resized rows, for one element type (see real.h). */
#include "image/real.h"

static void NAME(row)(const T *in, int64_t step, const resize_taps *t, T *out, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    const T *at = in + t->first[x] * step;
    const float *w = t->weight + x * t->most;
    const int count = t->count[x];
    A sum = (A)at[0] * w[0];
    for (int k = 1; k < count; k++) sum += (A)at[k * step] * w[k];
    out[x] = NAME(element)(sum);
  }
}

/* Combines `count` consecutive rows of n elements into one row. */
static void NAME(column)(const T *rows, const float *w, int count, A *sums, T *out, int64_t step,
                         int64_t n) {
  if (count == 1) {
    for (int64_t x = 0; x < n; x++) out[x * step] = NAME(element)((A)rows[x] * w[0]);
    return;
  }
  const A w0 = w[0], w1 = w[1];
  const T *second = rows + n;
#pragma omp simd
  for (int64_t x = 0; x < n; x++) sums[x] = (A)rows[x] * w0 + (A)second[x] * w1;
  for (int k = 2; k < count; k++) {
    const T *row = rows + k * n;
    const A wk = w[k];
#pragma omp simd
    for (int64_t x = 0; x < n; x++) sums[x] += (A)row[x] * wk;
  }
  for (int64_t x = 0; x < n; x++) out[x * step] = NAME(element)(sums[x]);
}

/* Computes one band; returns nonzero if memory is exhausted. */
static int NAME(band)(const resize_job *job, int64_t band) {
  const dpt_image *in = job->in, *out = job->out;
  const int64_t bands = (out->size[1] + BAND - 1) / BAND, plane = band / bands;
  const int64_t row = band % bands * BAND, n = out->size[2];
  const int64_t end_row = resize_least(row + BAND, out->size[1]);
  int64_t begin, end;
  resize_needs(&job->rows, row, end_row, &begin, &end);
  T *rows = malloc((size_t)((end - begin) * n) * sizeof *rows);
  A *sums = malloc((size_t)n * sizeof *sums);
  const int failed = !rows || !sums;
  if (!failed) {
    for (int64_t y = begin; y < end; y++) NAME(row)
    (NAME(at)(in, plane, y, 0), in->stride[2], &job->columns, rows + (y - begin) * n, n);
    for (int64_t y = row; y < end_row; y++) NAME(column)
    (rows + (job->rows.first[y] - begin) * n, job->rows.weight + y * job->rows.most,
     job->rows.count[y], sums, (T *)NAME(at)(out, plane, y, 0), out->stride[2], n);
  }
  free(rows);
  free(sums);
  return failed;
}
