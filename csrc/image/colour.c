/* colour.c: conversions between colour spaces, pixel by pixel.
 *
 * Invariant: a conversion maps three numbers in 0 .. 1 (lab has other ranges). Bytes are divided by
 * 255 first and multiplied by 255 at the end. The constants for lab are CIE's, white is D65.
 */
#include "image/fail.h"
#include "image/team.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

#define T uint8_t
#define A float
#define NAME(f) colour_##f##_byte
#include "image/colour.inc.c"
#undef T
#undef A
#undef NAME
#define T float
#define A float
#define NAME(f) colour_##f##_float
#include "image/colour.inc.c"
#undef T
#undef A
#undef NAME
#define T double
#define A double
#define NAME(f) colour_##f##_double
#include "image/colour.inc.c"

int dpt_image_colour(const dpt_image *in, const dpt_image *out, const char *name, int threads) {
  const int team = dpt_image__team(threads, in->size[1] * in->size[2] * 16);
  const int found = in->bytes == 1   ? colour_convert_byte(in, out, name, team)
                    : in->bytes == 4 ? colour_convert_float(in, out, name, team)
                                     : colour_convert_double(in, out, name, team);
  return found ? 0 : dpt_image__fail("unknown conversion %s", name);
}
