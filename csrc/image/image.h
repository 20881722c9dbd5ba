/* image.h: the public C interface of libdpt_image, which is independent of libdpt.
 *
 * Invariant: the text between the two marks is plain C declarations without macros, since LuaJIT's
 * FFI parses it. Every function that can fail returns 0, or returns nonzero and leaves one error
 * message in dpt_image_message() of the calling thread. Pictures are planes of rows of bytes (0 to
 * 255), floats or doubles, with strides in elements. The caller has checked that they are within
 * memory that it owns, and that a result does not overlap an operand.
 */
#ifndef DPT_IMAGE_IMAGE_H
#define DPT_IMAGE_IMAGE_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* size: planes, rows and columns; bytes per element: 1 (unsigned), 4 (float), 8 (double). */
typedef struct {
  void *data;
  int64_t size[3], stride[3];
  int bytes;
} dpt_image;

/* dpt_image_message returns the message of the last failure on this thread, dpt_image_cdef the text
 * between the marks of this header, dpt_image_codecs the codecs that this library was built with,
 * each followed by a space. */
const char *dpt_image_message(void);
const char *dpt_image_cdef(void);
const char *dpt_image_codecs(void);

/* Decode a JPEG or PNG file in memory. head: sets about to planes, rows, columns and bits per
 * element. decode: `to` must have that size; floats and doubles are scaled to the range 0 to 1. A
 * header that claims more pixels than the bytes can hold is an error before memory for them is
 * allocated. */
int dpt_image_head(const char *bytes, int64_t n, int64_t *about);
int dpt_image_decode(const char *bytes, int64_t n, const dpt_image *to);
/* Encode 1 or 3 planes of bytes (PNG: also 4) as a new file in memory, to be freed by the caller
 * with dpt_image_free. quality: 0 to 100. */
int dpt_image_jpeg(const dpt_image *from, int quality, char **bytes, int64_t *n);
int dpt_image_png(const dpt_image *from, char **bytes, int64_t *n);
void dpt_image_free(void *bytes);

/* threads: the largest number of threads to use. Modes: 0 nearest, 1 linear, 2 cubic, 3 Lanczos. */
int dpt_image_resize(const dpt_image *in, const dpt_image *out, int mode, int threads);
/* out[y][x] is read from `in` at field[0][y][x], field[1][y][x] (row, column; contiguous), relative
 * to y and x if `offset` is set. Positions outside are `padding` if `pad` is set, otherwise the
 * nearest edge. */
int dpt_image_warp(const dpt_image *in, const dpt_image *out, const float *field, int mode,
                   int offset, int pad, double padding, int threads);
/* Rotate, and transform to polar coordinates; modes 0 and 1. full: the radius reaches the corners,
 * otherwise the nearer edge. */
int dpt_image_rotate(const dpt_image *in, const dpt_image *out, double angle, int mode,
                     int threads);
int dpt_image_polar(const dpt_image *in, const dpt_image *out, int full, int logarithmic, int mode,
                    int threads);
/* Converts three planes; names as in "rgb2hsl". */
int dpt_image_colour(const dpt_image *in, const dpt_image *out, const char *name, int threads);
/* Reverses the middle dimension of contiguous outer x n x inner elements of `bytes` bytes. */
int dpt_image_flip(const void *in, void *out, int bytes, int64_t outer, int64_t n, int64_t inner,
                   int threads);

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
