/* fail.h: error messages of libdpt_image, and functions shared by its codecs.
 *
 * Invariant: a function that fails leaves one message in this thread's buffer and has freed the
 * memory it allocated.
 */
#ifndef DPT_IMAGE_FAIL_H
#define DPT_IMAGE_FAIL_H
#include "image/image.h"

/* Formats the message and returns 1, for `return dpt_image__fail(...)`. */
int dpt_image__fail(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* The decoder of one format: `is` recognizes a file; the others implement dpt_image_head and
 * dpt_image_decode. */
typedef struct {
  const char *name;
  int (*is)(const unsigned char *bytes, int64_t n);
  int (*head)(const char *bytes, int64_t n, int64_t *about);
  int (*decode)(const char *bytes, int64_t n, const dpt_image *to);
} dpt_image__codec;
extern const dpt_image__codec dpt_image__jpeg, dpt_image__png;

/* rows.c. Fails unless `to` has the picture's size, given in `about`. */
int dpt_image__fits(const int64_t *about, const dpt_image *to);

/* Converts one row of n pixels, each of `channels` bytes or 16-bit numbers, to a row of each plane.
 * scale: the factor applied to numbers stored as floats or doubles. */
void dpt_image__put_row(const dpt_image *to, int64_t row, const unsigned char *pixels, int channels,
                        int is_wide, double scale);
/* Converts a row of bytes of each plane to pixels. */
void dpt_image__get_row(const dpt_image *from, int64_t row, unsigned char *pixels);
#endif
