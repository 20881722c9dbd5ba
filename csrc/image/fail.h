/* fail.h: how a function of libdpt_image fails, and what element types it expands.
 *
 * Invariant: a function that fails leaves one message in this thread's buffer and has freed what it
 * took.
 */
#ifndef DPT_IMAGE_FAIL_H
#define DPT_IMAGE_FAIL_H
#include "image/image.h"

/* Formats the message and is 1, so that `return dpt_image__fail(...)` reads well. */
int dpt_image__fail(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* What decoders of one format offer: is it mine, dpt_image_head and dpt_image_decode. */
typedef struct {
  const char *name;
  int (*is)(const unsigned char *bytes, int64_t n);
  int (*head)(const char *bytes, int64_t n, int64_t *about);
  int (*decode)(const char *bytes, int64_t n, const dpt_image *to);
} dpt_image__codec;
extern const dpt_image__codec dpt_image__jpeg, dpt_image__png;

/* rows.c. Fails if the picture that `about` tells of is not of the size of `to`. */
int dpt_image__fits(const int64_t *about, const dpt_image *to);

/* One row of n pixels of `channels` bytes each, or of 16-bit numbers, becomes a row of each plane.
 * scale: what numbers are multiplied with for floats and doubles. */
void dpt_image__put_row(const dpt_image *to, int64_t row, const unsigned char *pixels, int channels,
                        int is_wide, double scale);
/* The other way: bytes of each plane become pixels. */
void dpt_image__get_row(const dpt_image *from, int64_t row, unsigned char *pixels);
#endif
