/* colour.c: colour spaces, pixel by pixel.
 *
 * Invariant: a conversion maps three numbers, 0 to 1 for bytes too (lab: of its own ranges), and
 * stands in the one table at the end. CIE's constants for lab, white is D65.
 */
#include "image/fail.h"
#include "image/team.h"

#include <math.h>
#include <string.h>

typedef void colour_fn(const double *in, double *out);

/* Hue, 0 to 1, of a colour whose greatest and least channel are known. */
static double colour_hue(const double *c, double most, double least) {
  const double d = most - least;
  double h;
  if (d == 0) return 0;
  if (most == c[0])
    h = (c[1] - c[2]) / d + (c[1] < c[2] ? 6 : 0);
  else if (most == c[1])
    h = (c[2] - c[0]) / d + 2;
  else
    h = (c[0] - c[1]) / d + 4;
  return h / 6;
}

static double colour_most(const double *c) { return fmax(fmax(c[0], c[1]), c[2]); }
static double colour_least(const double *c) { return fmin(fmin(c[0], c[1]), c[2]); }

static void colour_rgb2hsl(const double *c, double *out) {
  const double most = colour_most(c), least = colour_least(c), d = most - least;
  const double l = (most + least) / 2;
  out[0] = colour_hue(c, most, least);
  out[1] = d == 0 ? 0 : l > 0.5 ? d / (2 - most - least) : d / (most + least);
  out[2] = l;
}

static void colour_rgb2hsv(const double *c, double *out) {
  const double most = colour_most(c), least = colour_least(c);
  out[0] = colour_hue(c, most, least);
  out[1] = most == least ? 0 : (most - least) / most;
  out[2] = most;
}

/* The channel whose peak lies at hue 0 after a shift of t. */
static double colour_ramp(double p, double q, double t) {
  t += t < 0 ? 1 : t > 1 ? -1 : 0;
  return 6 * t < 1   ? p + (q - p) * 6 * t
         : 2 * t < 1 ? q
         : 3 * t < 2 ? p + (q - p) * (4 - 6 * t)
                     : p;
}

static void colour_hsl2rgb(const double *c, double *out) {
  const double h = c[0], s = c[1], l = c[2];
  const double q = l < 0.5 ? l * (1 + s) : l + s - l * s, p = 2 * l - q;
  for (int i = 0; i < 3; i++) out[i] = s == 0 ? l : colour_ramp(p, q, h + (1 - i) / 3.);
}

static void colour_hsv2rgb(const double *c, double *out) {
  /* which of v, falling, low, rising each channel is, in each sixth of the circle */
  static const char part[6][3] = {{0, 3, 2}, {1, 0, 2}, {2, 0, 3}, {2, 1, 0}, {3, 2, 0}, {0, 2, 1}};
  const double h = c[0] * 6, s = c[1], v = c[2];
  const double sixth = floor(h), f = h - sixth;
  const double value[4] = {v, v * (1 - f * s), v * (1 - s), v * (1 - (1 - f) * s)};
  const double i = sixth - 6 * floor(sixth / 6);
  for (int k = 0; k < 3; k++) out[k] = i >= 0 && i < 6 ? value[(int)part[(int)i][k]] : 0;
}

static const double EPSILON = 216. / 24389, KAPPA = 24389. / 27;
static const double WHITE_X = 0.950456, WHITE_Z = 1.088754;

static double colour_expand(double c) {
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double colour_compress(double c) {
  return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

static double colour_root(double t) { return t > EPSILON ? cbrt(t) : (KAPPA * t + 16) / 116; }

static double colour_cube(double t) {
  return t * t * t > EPSILON ? t * t * t : (116 * t - 16) / KAPPA;
}

static void colour_rgb2lab(const double *c, double *out) {
  const double r = colour_expand(c[0]), g = colour_expand(c[1]), b = colour_expand(c[2]);
  const double x = colour_root((0.412453 * r + 0.357580 * g + 0.180423 * b) / WHITE_X);
  const double y = colour_root(0.212671 * r + 0.715160 * g + 0.072169 * b);
  const double z = colour_root((0.019334 * r + 0.119193 * g + 0.950227 * b) / WHITE_Z);
  out[0] = 116 * y - 16;
  out[1] = 500 * (x - y);
  out[2] = 200 * (y - z);
}

static void colour_lab2rgb(const double *c, double *out) {
  const double fy = (c[0] + 16) / 116;
  const double x = colour_cube(fy + c[1] / 500) * WHITE_X, y = colour_cube(fy);
  const double z = colour_cube(fy - c[2] / 200) * WHITE_Z;
  out[0] = colour_compress(3.2404542 * x - 1.5371385 * y - 0.4985314 * z);
  out[1] = colour_compress(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z);
  out[2] = colour_compress(0.0556434 * x - 0.2040259 * y + 1.0572252 * z);
}

static const struct {
  const char *name;
  colour_fn *fn;
} colour_all[] = {{"rgb2hsl", colour_rgb2hsl}, {"hsl2rgb", colour_hsl2rgb},
                  {"rgb2hsv", colour_rgb2hsv}, {"hsv2rgb", colour_hsv2rgb},
                  {"rgb2lab", colour_rgb2lab}, {"lab2rgb", colour_lab2rgb}};

static double colour_get(const dpt_image *m, int64_t k, int64_t y, int64_t x) {
  const int64_t i = k * m->stride[0] + y * m->stride[1] + x * m->stride[2];
  return m->bytes == 1   ? ((const uint8_t *)m->data)[i] / 255.
         : m->bytes == 4 ? (double)((const float *)m->data)[i]
                         : ((const double *)m->data)[i];
}

static void colour_set(const dpt_image *m, int64_t k, int64_t y, int64_t x, double value) {
  const int64_t i = k * m->stride[0] + y * m->stride[1] + x * m->stride[2];
  if (m->bytes == 1) {
    value = value * 255 + 0.5;
    ((uint8_t *)m->data)[i] = (uint8_t)(value >= 255 ? 255 : value > 0 ? value : 0);
  } else if (m->bytes == 4) {
    ((float *)m->data)[i] = (float)value;
  } else {
    ((double *)m->data)[i] = value;
  }
}

int dpt_image_colour(const dpt_image *in, const dpt_image *out, const char *name, int threads) {
  colour_fn *fn = NULL;
  for (size_t i = 0; i < sizeof colour_all / sizeof *colour_all; i++)
    if (!strcmp(colour_all[i].name, name)) fn = colour_all[i].fn;
  if (!fn) return dpt_image__fail("there is no conversion %s", name);
  const int64_t *size = in->size;
  const int team = dpt_image__team(threads, size[1] * size[2] * 16);
#pragma omp parallel for num_threads(team)
  for (int64_t y = 0; y < size[1]; y++)
    for (int64_t x = 0; x < size[2]; x++) {
      double from[3], to[3];
      for (int k = 0; k < 3; k++) from[k] = colour_get(in, k, y, x);
      fn(from, to);
      for (int k = 0; k < 3; k++) colour_set(out, k, y, x, to[k]);
    }
  return 0;
}
