/* jpeg.c: JPEG files in memory, by libjpeg-turbo.
 *
 * Invariant: this is the only file that includes jpeglib.h. Every error of the library jumps back
 * to a setjmp in the calling function; nothing is printed. Warnings of the decoder are ignored, as
 * in most programs, except for a file that is truncated.
 */
#include "image/fail.h"

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it */
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
/* must follow jpeglib.h, whose version determines the numbers of messages */
#include <jerror.h>

enum { ROWS = 8 };
/* A block of 64 pixels takes at least one bit, so a byte holds at most 512 pixels. */
enum { PIXELS_A_BYTE = 512, SLACK = 1 << 16 };

typedef struct {
  struct jpeg_error_mgr base; /* first, so that the library's pointer is ours */
  jmp_buf back;
  int ended, lacks_data;
  struct jpeg_decompress_struct in;
  struct jpeg_compress_struct out;
  unsigned char *rows;
  unsigned char *bytes;
  unsigned long size;
} jpeg_job;

static void jpeg_on_error(j_common_ptr c) {
  char text[JMSG_LENGTH_MAX];
  jpeg_job *job = (jpeg_job *)c->err;
  c->err->format_message(c, text);
  dpt_image__fail("JPEG: %s", text);
  longjmp(job->back, 1);
}

static void jpeg_on_output(j_common_ptr c) {}

static void jpeg_on_message(j_common_ptr c, int level) {
  jpeg_job *job = (jpeg_job *)c->err;
  if (level >= 0) return;
  c->err->num_warnings++;
  if (c->err->msg_code == JWRN_JPEG_EOF) job->ended = 1;
  if (c->err->msg_code == JWRN_HIT_MARKER) job->lacks_data = 1;
}

static void jpeg_begin(jpeg_job *job) {
  memset(job, 0, sizeof *job);
  job->in.err = job->out.err = jpeg_std_error(&job->base);
  job->base.error_exit = jpeg_on_error;
  job->base.output_message = jpeg_on_output;
  job->base.emit_message = jpeg_on_message;
}

static int jpeg_is(const unsigned char *bytes, int64_t n) {
  return n >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

/* Longjmps to job->back on the library's errors. */
static int jpeg_read_head(jpeg_job *job, const char *bytes, int64_t n, int64_t *about) {
  jpeg_create_decompress(&job->in);
  jpeg_mem_src(&job->in, (const unsigned char *)bytes, (unsigned long)n);
  jpeg_read_header(&job->in, TRUE);
  jpeg_calc_output_dimensions(&job->in);
  about[0] = job->in.output_components;
  about[1] = job->in.output_height;
  about[2] = job->in.output_width;
  about[3] = 8;
  if (about[1] * about[2] > n * PIXELS_A_BYTE + SLACK)
    return dpt_image__fail("JPEG: %lld bytes cannot hold the %lld x %lld pixels that it claims",
                           (long long)n, (long long)about[2], (long long)about[1]);
  return 0;
}

static int jpeg_head(const char *bytes, int64_t n, int64_t *about) {
  jpeg_job job;
  volatile int status = 1; /* setjmp */
  jpeg_begin(&job);
  if (!setjmp(job.back)) status = jpeg_read_head(&job, bytes, n, about);
  jpeg_destroy_decompress(&job.in);
  return status;
}

/* Longjmps to job->back on the library's errors. */
static int jpeg_read(jpeg_job *job, const char *bytes, int64_t n, const dpt_image *to) {
  int64_t about[4];
  JSAMPROW rows[ROWS];
  if (jpeg_read_head(job, bytes, n, about) || dpt_image__fits(about, to)) return 1;
  int channels = (int)about[0];
  if (job->in.out_color_space == JCS_RGB) {
    /* four bytes per pixel: planes are then extracted by shifts of whole words */
    job->in.out_color_space = JCS_EXT_RGBX;
    channels = 4;
  }
  const size_t row_size = (size_t)about[2] * (size_t)channels;
  job->rows = malloc(row_size * ROWS);
  if (!job->rows) return dpt_image__fail("JPEG: no memory for %zu bytes", row_size * ROWS);
  for (int i = 0; i < ROWS; i++) rows[i] = job->rows + row_size * (size_t)i;
  jpeg_start_decompress(&job->in);
  while (job->in.output_scanline < job->in.output_height) {
    const int64_t first = job->in.output_scanline;
    const int count = (int)jpeg_read_scanlines(&job->in, rows, ROWS);
    for (int i = 0; i < count; i++)
      dpt_image__put_row(to, first + i, rows[i], channels, 0, 1. / 255);
  }
  if (job->ended && job->lacks_data)
    return dpt_image__fail("JPEG: the file ends before its picture does");
  return 0;
}

static int jpeg_decode(const char *bytes, int64_t n, const dpt_image *to) {
  jpeg_job job;
  volatile int status = 1; /* setjmp */
  jpeg_begin(&job);
  if (!setjmp(job.back)) status = jpeg_read(&job, bytes, n, to);
  jpeg_destroy_decompress(&job.in);
  free(job.rows);
  return status;
}

const dpt_image__codec dpt_image__jpeg = {"jpeg", jpeg_is, jpeg_head, jpeg_decode};

/* Longjmps to job->back on the library's errors. */
static int jpeg_write(jpeg_job *job, const dpt_image *from, int quality) {
  struct jpeg_compress_struct *out = &job->out;
  const int64_t planes = from->size[0], height = from->size[1], width = from->size[2];
  if (planes != 1 && planes != 3)
    return dpt_image__fail("JPEG: got %lld planes, wanted 1 or 3", (long long)planes);
  if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION)
    return dpt_image__fail("JPEG: got %lld x %lld pixels, wanted 1 to %ld each", (long long)width,
                           (long long)height, (long)JPEG_MAX_DIMENSION);
  job->rows = malloc((size_t)(width * planes));
  if (!job->rows) return dpt_image__fail("JPEG: no memory for a row of %lld", (long long)width);
  jpeg_create_compress(out);
  jpeg_mem_dest(out, &job->bytes, &job->size);
  out->image_width = (JDIMENSION)width;
  out->image_height = (JDIMENSION)height;
  out->input_components = (int)planes;
  out->in_color_space = planes == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(out);
  jpeg_set_quality(out, quality, TRUE);
  jpeg_start_compress(out, TRUE);
  for (int64_t y = 0; y < height; y++) {
    dpt_image__get_row(from, y, job->rows);
    jpeg_write_scanlines(out, &job->rows, 1);
  }
  jpeg_finish_compress(out);
  return 0;
}

int dpt_image_jpeg(const dpt_image *from, int quality, char **bytes, int64_t *n) {
  jpeg_job job;
  volatile int status = 1; /* setjmp */
  jpeg_begin(&job);
  if (!setjmp(job.back)) status = jpeg_write(&job, from, quality);
  jpeg_destroy_compress(&job.out);
  free(job.rows);
  if (status) {
    free(job.bytes);
    return 1;
  }
  *bytes = (char *)job.bytes;
  *n = (int64_t)job.size;
  return 0;
}
