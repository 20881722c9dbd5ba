/* image.h: the public C interface of libdpt_image, which knows nothing of libdpt.
 *
 * Invariant: the text between the two marks is plain C declarations, no macros, since LuaJIT's FFI
 * reads this very text. Every function that can fail returns 0, or nonzero and leaves one error
 * message in dpt_image_message() of the calling thread. Pictures are planes of rows of bytes (0 to
 * 255), floats or doubles, with strides in elements; whoever calls has checked that all of it lies
 * in memory that it owns, and that a result shares none with what is read.
 */
#ifndef DPT_IMAGE_IMAGE_H
#define DPT_IMAGE_IMAGE_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* planes, rows and columns; bytes: of an element: 1 (unsigned), 4 (float), 8 (double). */
typedef struct {
  void *data;
  int64_t size[3], stride[3];
  int bytes;
} dpt_image;

/* The message of the last failure on this thread; the text between the marks of this header; the
 * codecs that this library was built with, each followed by a blank. */
const char *dpt_image_message(void);
const char *dpt_image_cdef(void);
const char *dpt_image_codecs(void);

/* A JPEG or PNG file in memory. head: about becomes planes, rows, columns and bits of an element.
 * decode: `to` is of that size; floats and doubles are 0 to 1. What is claimed to be larger than
 * the bytes can hold is an error before anything of that size is allocated. */
int dpt_image_head(const char *bytes, int64_t n, int64_t *about);
int dpt_image_decode(const char *bytes, int64_t n, const dpt_image *to);
/* A new file in memory, of 1 or 3 planes of bytes (PNG: also 4): free it. quality: 0 to 100. */
int dpt_image_jpeg(const dpt_image *from, int quality, char **bytes, int64_t *n);
int dpt_image_png(const dpt_image *from, char **bytes, int64_t *n);
void dpt_image_free(void *bytes);

/* threads: how many compute, at most. Modes are 0 nearest, 1 linear, 2 cubic, 3 Lanczos. */
int dpt_image_resize(const dpt_image *in, const dpt_image *out, int mode, int threads);
/* out[y][x] is in at field[0][y][x], field[1][y][x] (row, column; contiguous), to which y and x are
 * added if `offset` is set. What lies outside is `padding` if `pad` is set, else the nearest edge.
 */
int dpt_image_warp(const dpt_image *in, const dpt_image *out, const float *field, int mode,
                   int offset, int pad, double padding, int threads);
/* Modes 0 and 1. full: up to the corners, else up to the nearer edge. */
int dpt_image_rotate(const dpt_image *in, const dpt_image *out, double angle, int mode,
                     int threads);
int dpt_image_polar(const dpt_image *in, const dpt_image *out, int full, int logarithmic, int mode,
                    int threads);
/* Three planes to three: names as in "rgb2hsl". */
int dpt_image_colour(const dpt_image *in, const dpt_image *out, const char *name, int threads);
/* Contiguous memory of outer x n x inner elements of `bytes` bytes, the middle ones in reverse. */
int dpt_image_flip(const void *in, void *out, int bytes, int64_t outer, int64_t n, int64_t inner,
                   int threads);

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
