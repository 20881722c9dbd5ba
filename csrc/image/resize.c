/* resize.c: resizes pictures, first along rows, then along columns.
 *
 * Invariant: each output row or column is a list of taps: consecutive neighbours from `first` on,
 * each with a weight. Linear: shrinking averages the area that an output pixel covers; enlarging
 * interpolates between the centres of pixels, with the first and the last fixed. Positions are
 * floats, as in Torch7, so that both choose the same neighbours. Elements are rounded to their type
 * between the two directions. One thread processes a band of output rows at a time.
 */
#include "image/fail.h"
#include "image/team.h"

#include <stdlib.h>
#include <string.h>

enum { NEAREST, LINEAR, CUBIC };
enum { BAND = 16 };

typedef struct {
  int most; /* taps per output */
  int64_t *first;
  int *count;
  float *weight; /* `most` for each output */
} resize_taps;

static void resize_free(resize_taps *t) {
  free(t->first);
  free(t->count);
  free(t->weight);
}

static int resize_new(resize_taps *t, int64_t n, int most) {
  const size_t outputs = (size_t)n;
  t->most = most;
  t->first = malloc(outputs * sizeof *t->first);
  t->count = malloc(outputs * sizeof *t->count);
  t->weight = calloc(outputs * (size_t)most, sizeof *t->weight);
  return t->first && t->count && t->weight
             ? 0
             : dpt_image__fail("no memory for %lld rows or columns", (long long)n);
}

/* Makes output i a copy of one neighbour. */
static void resize_one(resize_taps *t, int64_t i, int64_t neighbour) {
  t->first[i] = neighbour;
  t->count[i] = 1;
  t->weight[i * t->most] = 1;
}

static int64_t resize_least(int64_t a, int64_t b) { return a < b ? a : b; }

static void resize_mean(resize_taps *t, int64_t from, int64_t to) {
  const float scale = (float)from / (float)to;
  for (int64_t i = 0; i < to; i++) {
    float *w = t->weight + i * t->most, begin = (float)i * scale, end = (float)(i + 1) * scale;
    const int64_t first = resize_least((int64_t)begin, from - 1);
    const int64_t last = resize_least((int64_t)end, from);
    begin -= (float)(int64_t)begin;
    end -= (float)(int64_t)end;
    int n = 0;
    float sum = 0;
    w[n++] = 1 - begin;
    while (first + n < last) w[n++] = 1;
    if (last < from && last > first) w[n++] = end;
    for (int k = 0; k < n; k++) sum += w[k];
    for (int k = 0; k < n; k++) w[k] /= sum;
    t->first[i] = first;
    t->count[i] = n;
  }
}

/* Interpolates between neighbours p and p + 1; the cubic also needs their own neighbours. Beyond
 * the edges it extrapolates linearly from the last two. */
static void resize_between(resize_taps *t, int64_t i, int64_t p, float x, int64_t from,
                           int is_cubic) {
  float *w = t->weight + i * t->most;
  if (!is_cubic) {
    w[0] = 1 - x;
    w[1] = x;
    t->first[i] = p;
    t->count[i] = 2;
    return;
  }
  const float c[4] = {x * (-1 + x * (2 - x)) / 2, 1 + x * x * (3 * x - 5) / 2,
                      x * (1 + x * (4 - 3 * x)) / 2, x * x * (x - 1) / 2};
  const int64_t first = p > 0 ? p - 1 : p;
  const int64_t last = p + 2 < from ? p + 2 : p + 1;
  float *at = w + (p - first);
  memset(w, 0, (size_t)t->most * sizeof *w);
  at[0] = c[1];
  at[1] = c[2];
  if (first < p) {
    at[-1] = c[0];
  } else {
    at[0] += 2 * c[0];
    at[1] -= c[0];
  }
  if (last == p + 2) {
    at[2] = c[3];
  } else {
    at[1] += 2 * c[3];
    at[0] -= c[3];
  }
  t->first[i] = first;
  t->count[i] = (int)(last - first + 1);
}

static int resize_plan(resize_taps *t, int64_t from, int64_t to, int mode) {
  const int is_mean = mode == LINEAR && to < from;
  if (resize_new(t, to, is_mean ? (int)(from / to) + 3 : 4)) return 1;
  if (mode == NEAREST) {
    const float scale = (float)from / (float)to;
    for (int64_t i = 0; i < to; i++)
      resize_one(t, i, resize_least((int64_t)((float)i * scale), from - 1));
  } else if (from == to || from == 1) {
    for (int64_t i = 0; i < to; i++) resize_one(t, i, from == 1 ? 0 : i);
  } else if (is_mean) {
    resize_mean(t, from, to);
  } else {
    const float scale = (float)(from - 1) / (float)(to > 1 ? to - 1 : 1);
    for (int64_t i = 0; i < to - 1; i++) {
      const float position = (float)i * scale;
      const int64_t p = resize_least((int64_t)position, from - 2);
      resize_between(t, i, p, position - (float)p, from, mode == CUBIC);
    }
    resize_one(t, to - 1, from - 1);
  }
  return 0;
}

typedef struct {
  const dpt_image *in, *out;
  resize_taps rows, columns;
} resize_job;

/* Computes the input rows that output rows from `row` on need: [*begin, *end). */
static void resize_needs(const resize_taps *t, int64_t row, int64_t end_row, int64_t *begin,
                         int64_t *end) {
  *begin = t->first[row];
  *end = 0;
  for (int64_t y = row; y < end_row; y++) {
    const int64_t e = t->first[y] + t->count[y];
    if (t->first[y] < *begin) *begin = t->first[y];
    if (e > *end) *end = e;
  }
}

#define T uint8_t
#define A float
#define NAME(f) resize_##f##_byte
#include "image/resize.inc.c"
#undef T
#undef A
#undef NAME
#define T float
#define A float
#define NAME(f) resize_##f##_float
#include "image/resize.inc.c"
#undef T
#undef A
#undef NAME
#define T double
#define A double
#define NAME(f) resize_##f##_double
#include "image/resize.inc.c"

int dpt_image_resize(const dpt_image *in, const dpt_image *out, int mode, int threads) {
  resize_job job = {in, out, {0}, {0}};
  const int64_t *size = out->size, bands = (size[1] + BAND - 1) / BAND * size[0];
  int status = resize_plan(&job.columns, in->size[2], size[2], mode) ||
               resize_plan(&job.rows, in->size[1], size[1], mode);
  if (!status) {
    const int team = dpt_image__team(threads, size[0] * in->size[1] * size[2]);
    int failed = 0;
#pragma omp parallel for num_threads(team) schedule(dynamic) reduction(| : failed)
    for (int64_t b = 0; b < bands; b++)
      failed |= in->bytes == 1   ? resize_band_byte(&job, b)
                : in->bytes == 4 ? resize_band_float(&job, b)
                                 : resize_band_double(&job, b);
    if (failed)
      status = dpt_image__fail("no memory for a band of %lld columns", (long long)size[2]);
  }
  resize_free(&job.rows);
  resize_free(&job.columns);
  return status;
}
