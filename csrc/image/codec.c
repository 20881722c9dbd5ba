/* codec.c: which decoder a file in memory is for, and rows of pixels to planes and back.
 *
 * Invariant: a format is known by its first bytes, never by a name.
 */
#include "image/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char codec_message[512];

int dpt_image__fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(codec_message, sizeof codec_message, format, list);
  va_end(list);
  return 1;
}

const char *dpt_image_message(void) { return codec_message; }

const char *dpt_image_codecs(void) {
  return ""
#ifdef DPT_IMAGE_JPEG
         "jpeg "
#endif
#ifdef DPT_IMAGE_PNG
         "png "
#endif
      ;
}

static const dpt_image__codec *codec_of(const char *bytes, int64_t n) {
  static const dpt_image__codec *const all[] = {
#ifdef DPT_IMAGE_JPEG
      &dpt_image__jpeg,
#endif
#ifdef DPT_IMAGE_PNG
      &dpt_image__png,
#endif
      NULL};
  for (int i = 0; all[i]; i++)
    if (all[i]->is((const unsigned char *)bytes, n)) return all[i];
  dpt_image__fail("the first bytes are those of no codec that is built in (%s)",
                  dpt_image_codecs());
  return NULL;
}

int dpt_image_head(const char *bytes, int64_t n, int64_t *about) {
  const dpt_image__codec *codec = codec_of(bytes, n);
  return codec ? codec->head(bytes, n, about) : 1;
}

int dpt_image_decode(const char *bytes, int64_t n, const dpt_image *to) {
  const dpt_image__codec *codec = codec_of(bytes, n);
  return codec ? codec->decode(bytes, n, to) : 1;
}

void dpt_image_free(void *bytes) { free(bytes); }

int dpt_image__fits(const int64_t *about, const dpt_image *to) {
  for (int d = 0; d < 3; d++)
    if (about[d] != to->size[d])
      return dpt_image__fail("the picture is %lld x %lld x %lld, the result is not",
                             (long long)about[0], (long long)about[1], (long long)about[2]);
  return 0;
}

#define CODEC_PUT(T, F)                                                                            \
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
      CODEC_PUT(float, *scale_float);
    } else if (to->bytes == 8) {
      CODEC_PUT(double, *scale);
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
