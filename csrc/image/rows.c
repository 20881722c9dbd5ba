/* rows.c: converts between rows of pixels and planes. */
#include "image/fail.h"

int dpt_image__fits(const int64_t *about, const dpt_image *to) {
  for (int d = 0; d < 3; d++)
    if (about[d] != to->size[d])
      return dpt_image__fail("the image is %lld x %lld x %lld, the result has another size",
                             (long long)about[0], (long long)about[1], (long long)about[2]);
  return 0;
}

#define ROWS_PUT(T, F)                                                                             \
  for (int64_t x = 0; x < n; x++)                                                                  \
  ((T *)row_data)[x * step] = (T)(is_wide ? p[x * skip] * 256 + p[x * skip + 1] : p[x * skip]) F

void dpt_image__put_row(const dpt_image *to, int64_t row, const unsigned char *pixels, int channels,
                        int is_wide, double scale) {
  const int64_t n = to->size[2], step = to->stride[2];
  const int skip = channels << is_wide;
  for (int64_t k = 0; k < to->size[0]; k++) {
    const unsigned char *p = pixels + (k << is_wide);
    char *row_data = (char *)to->data + (k * to->stride[0] + row * to->stride[1]) * to->bytes;
    const float scale_float = (float)scale;
    if (to->bytes == 4) {
      ROWS_PUT(float, *scale_float);
    } else if (to->bytes == 8) {
      ROWS_PUT(double, *scale);
    } else if (channels == 4 && step == 1 && !is_wide) {
      const uint32_t *words = (const uint32_t *)(const void *)pixels; /* is aligned */
      unsigned char *out = (unsigned char *)row_data;
      const int shift = (int)k * 8;
      for (int64_t x = 0; x < n; x++) out[x] = (unsigned char)(words[x] >> shift);
    } else {
      for (int64_t x = 0; x < n; x++) ((unsigned char *)row_data)[x * step] = p[x * skip];
    }
  }
}

void dpt_image__get_row(const dpt_image *from, int64_t row, unsigned char *pixels) {
  const int64_t planes = from->size[0];
  for (int64_t k = 0; k < planes; k++) {
    const unsigned char *in =
        (const unsigned char *)from->data + k * from->stride[0] + row * from->stride[1];
    for (int64_t x = 0; x < from->size[2]; x++) pixels[x * planes + k] = in[x * from->stride[2]];
  }
}
