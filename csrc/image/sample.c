/* sample.c: samples pictures at computed positions: warp, rotation, polar transform.
 *
 * Invariant: the source position of an output pixel is computed as in Torch7 (in floats where
 * Torch7 uses them, so that both choose the same neighbours). No position, however far away or NaN,
 * causes a read outside the picture.
 */
#include "image/fail.h"
#include "image/team.h"

#include <math.h>

enum { NEAREST, LINEAR, CUBIC, LANCZOS };
enum { TURNED, UNROLLED };

typedef struct {
  const dpt_image *in, *out;
  int mode;
  /* warp */
  const float *field;
  int offset, pad;
  double padding;
  /* turned, unrolled */
  int what, logarithmic;
  float angle, radius;
} sample_job;

/* Computes the source position of the pixel at row y and column x of a rotated or polar picture. */
static void sample_place(const sample_job *job, int is_float, int64_t y, int64_t x, double *row,
                         double *column) {
  const float width = (float)job->in->size[2], height = (float)job->in->size[1];
  if (job->what == TURNED) {
    const float cx = (width - 1) / 2, cy = (height - 1) / 2;
    const float dx = (float)x - cx, dy = (float)y - cy;
    if (job->mode == NEAREST) {
      const float c = (float)cos(job->angle), s = (float)sin(job->angle);
      *column = roundf(c * dx - s * dy + cx);
      *row = roundf(c * dy + s * dx + cy);
    } else {
      const double across = cos(job->angle) * dx - sin(job->angle) * dy;
      const double down = cos(job->angle) * dy + sin(job->angle) * dx;
      *column = is_float ? (float)across + cx : across + cx;
      *row = is_float ? (float)down + cy : down + cy;
    }
    return;
  }
  const float n = (float)job->out->size[2];
  const float a = (float)(2 * M_PI * (float)y / (float)job->out->size[1]);
  const float r = job->logarithmic ? (float)exp((float)x * (float)(log(job->radius) / n))
                                   : job->radius * (float)x / n;
  *row = r * cos(a) + height / 2;
  *column = -r * sin(a) + width / 2;
  if (job->mode == NEAREST) {
    *row = floor(*row);
    *column = floor(*column);
  } else if (is_float || job->logarithmic) {
    *row = (float)*row;
    *column = (float)*column;
  }
}

static void sample_cubic(double x, double *w) {
  w[0] = x * (-1 + x * (2 - x)) / 2;
  w[1] = 1 + x * x * (3 * x - 5) / 2;
  w[2] = x * (1 + x * (4 - 3 * x)) / 2;
  w[3] = x * x * (x - 1) / 2;
}

/* Computes six taps around x, 0 <= x < 1, from -2 on; their sum is 1. */
static void sample_lanczos(double x, double *w) {
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    const double d = fabs(x - (i - 2));
    w[i] = d < 1e-6 ? 1 : d > 3 ? 0 : 3 * sin(M_PI * d) * sin(M_PI * d / 3) / (M_PI * M_PI * d * d);
    sum += w[i];
  }
  for (int i = 0; i < 6; i++) w[i] /= sum;
}

/* Clamps x to 0 .. n - 1; NaN becomes 0. */
static float sample_clamp(float x, int64_t n) {
  x = x > 0 ? x : 0;
  return x < (float)(n - 1) ? x : (float)(n - 1);
}

static int64_t sample_inside(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

#define T uint8_t
#define A float
#define NAME(f) sample_##f##_byte
#include "image/sample.inc.c"
#undef T
#undef A
#undef NAME
#define T float
#define A float
#define NAME(f) sample_##f##_float
#include "image/sample.inc.c"
#undef T
#undef A
#undef NAME
#define T double
#define A double
#define NAME(f) sample_##f##_double
#include "image/sample.inc.c"

#define SAMPLE_ROWS(f)                                                                             \
  const int team = dpt_image__team(threads, out->size[0] * out->size[1] * out->size[2] * 4);       \
  _Pragma("omp parallel for num_threads(team)") for (int64_t y = 0; y < out->size[1]; y++)         \
              in->bytes == 1                                                                       \
      ? f##_byte(&job, y)                                                                          \
  : in->bytes == 4 ? f##_float(&job, y)                                                            \
                   : f##_double(&job, y)

int dpt_image_warp(const dpt_image *in, const dpt_image *out, const float *field, int mode,
                   int offset, int pad, double padding, int threads) {
  const sample_job job = {.in = in,
                          .out = out,
                          .mode = mode,
                          .field = field,
                          .offset = offset,
                          .pad = pad,
                          .padding = padding};
  SAMPLE_ROWS(sample_warp);
  return 0;
}

int dpt_image_rotate(const dpt_image *in, const dpt_image *out, double angle, int mode,
                     int threads) {
  const sample_job job = {
      .in = in, .out = out, .mode = mode, .what = TURNED, .angle = (float)angle};
  SAMPLE_ROWS(sample_place);
  return 0;
}

int dpt_image_polar(const dpt_image *in, const dpt_image *out, int full, int logarithmic, int mode,
                    int threads) {
  const float width = (float)in->size[2], height = (float)in->size[1];
  const float radius =
      full ? (float)(sqrt(width * width + height * height) / 2) : fminf(width, height) / 2;
  const sample_job job = {.in = in,
                          .out = out,
                          .mode = mode,
                          .what = UNROLLED,
                          .logarithmic = logarithmic,
                          .radius = radius};
  SAMPLE_ROWS(sample_place);
  return 0;
}
