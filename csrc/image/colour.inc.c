/* colour.inc.c: the conversions in the arithmetic of one element type (see real.h).
 *
 * Invariant: the order of operations is Torch7's, constants that are not integers are doubles, and
 * values stored in an A are rounded to it, so that bytes and floats have Torch7's results bit for
 * bit.
 */
#include "image/real.h"

/* Returns the hue, 0 to 1, of a colour, given its largest and smallest channel. */
static A NAME(hue)(const A *c, A most, A least) {
  const A d = most - least;
  A h;
  if (d == 0) return 0;
  if (most == c[0])
    h = (c[1] - c[2]) / d + (c[1] < c[2] ? 6 : 0);
  else if (most == c[1])
    h = (c[2] - c[0]) / d + 2;
  else
    h = (c[0] - c[1]) / d + 4;
  return h / 6;
}

static A NAME(most)(const A *c) { return (A)fmax(fmax(c[0], c[1]), c[2]); }
static A NAME(least)(const A *c) { return (A)fmin(fmin(c[0], c[1]), c[2]); }

static void NAME(rgb2hsl)(const A *c, A *out) {
  const A most = NAME(most)(c), least = NAME(least)(c), d = most - least;
  const A l = (most + least) / 2;
  out[0] = NAME(hue)(c, most, least);
  out[1] = d == 0 ? 0 : l > 0.5 ? d / (2 - most - least) : d / (most + least);
  out[2] = l;
}

static void NAME(rgb2hsv)(const A *c, A *out) {
  const A most = NAME(most)(c), least = NAME(least)(c);
  out[0] = NAME(hue)(c, most, least);
  out[1] = most == least ? 0 : (most - least) / most;
  out[2] = most;
}

/* Returns the channel whose peak is at hue 0 after a shift of t. */
static A NAME(ramp)(A p, A q, A t) {
  t += t < 0 ? 1 : t > 1 ? -1 : 0;
  return t < 1. / 6   ? (A)(p + (q - p) * 6. * t)
         : t < 1. / 2 ? q
         : t < 2. / 3 ? (A)(p + (q - p) * (2. / 3 - t) * 6.)
                      : p;
}

static void NAME(hsl2rgb)(const A *c, A *out) {
  const A h = c[0], s = c[1], l = c[2];
  const A q = l < 0.5 ? l * (1 + s) : l + s - l * s, p = 2 * l - q;
  for (int i = 0; i < 3; i++) out[i] = s == 0 ? l : NAME(ramp)(p, q, (A)(h + (1 - i) / 3.));
}

static void NAME(hsv2rgb)(const A *c, A *out) {
  /* each channel's index into `value` (v, falling, low, rising), in each sixth of the circle */
  static const char part[6][3] = {{0, 3, 2}, {1, 0, 2}, {2, 0, 3}, {2, 1, 0}, {3, 2, 0}, {0, 2, 1}};
  const A s = c[1], v = c[2];
  const double sixth = floor(c[0] * 6.), i = sixth - 6 * floor(sixth / 6);
  const A f = c[0] * 6 - (A)sixth;
  const A value[4] = {v, v * (1 - f * s), v * (1 - s), v * (1 - (1 - f) * s)};
  for (int k = 0; k < 3; k++) out[k] = i >= 0 && i < 6 ? value[(int)part[(int)i][k]] : 0;
}

static void NAME(rgb2lab)(const A *c, A *out) {
  const double r = colour_expand(c[0]), g = colour_expand(c[1]), b = colour_expand(c[2]);
  const double x = colour_root((0.412453 * r + 0.357580 * g + 0.180423 * b) / WHITE_X);
  const double y = colour_root(0.212671 * r + 0.715160 * g + 0.072169 * b);
  const double z = colour_root((0.019334 * r + 0.119193 * g + 0.950227 * b) / WHITE_Z);
  out[0] = (A)(116 * y - 16);
  out[1] = (A)(500 * (x - y));
  out[2] = (A)(200 * (y - z));
}

static void NAME(lab2rgb)(const A *c, A *out) {
  const double fy = ((double)c[0] + 16) / 116;
  const double x = colour_cube(fy + (double)c[1] / 500) * WHITE_X, y = colour_cube(fy);
  const double z = colour_cube(fy - (double)c[2] / 200) * WHITE_Z;
  out[0] = (A)colour_compress(3.2404542 * x - 1.5371385 * y - 0.4985314 * z);
  out[1] = (A)colour_compress(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z);
  out[2] = (A)colour_compress(0.0556434 * x - 0.2040259 * y + 1.0572252 * z);
}

/* Runs the conversion `name`; returns false if there is none. */
static bool NAME(convert)(const dpt_image *in, const dpt_image *out, const char *name, int team) {
  static const struct {
    const char *name;
    void (*fn)(const A *in, A *out);
  } all[] = {{"rgb2hsl", NAME(rgb2hsl)}, {"hsl2rgb", NAME(hsl2rgb)}, {"rgb2hsv", NAME(rgb2hsv)},
             {"hsv2rgb", NAME(hsv2rgb)}, {"rgb2lab", NAME(rgb2lab)}, {"lab2rgb", NAME(lab2rgb)}};
  size_t i = 0;
  while (i < sizeof all / sizeof *all && strcmp(all[i].name, name)) i++;
  if (i == sizeof all / sizeof *all) return false;
#pragma omp parallel for num_threads(team)
  for (int64_t y = 0; y < in->size[1]; y++)
    for (int64_t x = 0; x < in->size[2]; x++) {
      A from[3], to[3];
      for (int k = 0; k < 3; k++) from[k] = (A)*NAME(at)(in, k, y, x) / (IS_BYTE ? 255 : 1);
      all[i].fn(from, to);
      for (int k = 0; k < 3; k++)
        *(T *)NAME(at)(out, k, y, x) = NAME(element)(to[k] * (IS_BYTE ? 255 : 1));
    }
  return true;
}
