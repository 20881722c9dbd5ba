/* codec.c: chooses the decoder of a file in memory.
 *
 * Invariant: a format is recognized by its first bytes, never by a name.
 */
#include "image/fail.h"

#include <stdlib.h>

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
  dpt_image__fail("unknown image format, wanted one of the built-in codecs (%s)",
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
