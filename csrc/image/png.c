/* png.c: PNG files in memory, by libpng.
 *
 * Invariant: this is the only file that includes png.h. Every error of the library jumps back to a
 * setjmp in the calling function; nothing is printed. Palettes are expanded to three planes,
 * numbers of fewer than 8 bits to bytes.
 */
#include "image/fail.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* The largest number of bytes that deflate expands one byte to. */
enum { BYTES_A_BYTE = 1032, SLACK = 1 << 16 };

typedef struct {
  jmp_buf back;
  png_structp png;
  png_infop info;
  const char *from;
  int64_t left;
  unsigned char *pixels;
  unsigned char **rows;
  char *to;
  size_t size, space;
} png_job;

static void png_on_error(png_structp png, png_const_charp text) {
  png_job *job = png_get_error_ptr(png);
  dpt_image__fail("PNG: %s", text);
  longjmp(job->back, 1);
}

static void png_on_warning(png_structp png, png_const_charp text) {}

static void png_on_read(png_structp png, png_bytep to, png_size_t n) {
  png_job *job = png_get_io_ptr(png);
  if ((int64_t)n > job->left) png_error(png, "the file ends before its picture does");
  memcpy(to, job->from, n);
  job->from += n;
  job->left -= (int64_t)n;
}

static void png_on_write(png_structp png, png_bytep from, png_size_t n) {
  png_job *job = png_get_io_ptr(png);
  if (job->size + n > job->space) {
    const size_t space = (job->size + n) * 2;
    char *to = realloc(job->to, space);
    if (!to) png_error(png, "no memory for the file");
    job->to = to;
    job->space = space;
  }
  memcpy(job->to + job->size, from, n);
  job->size += n;
}

static void png_on_flush(png_structp png) {}

static int png_is(const unsigned char *bytes, int64_t n) {
  return n >= 4 && !memcmp(bytes, "\x89PNG", 4);
}

/* Longjmps to job->back on the library's errors. */
static int png_read_head(png_job *job, const char *bytes, int64_t n, int64_t *about) {
  job->from = bytes;
  job->left = n;
  job->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, job, png_on_error, png_on_warning);
  job->info = job->png ? png_create_info_struct(job->png) : NULL;
  if (!job->info)
    return dpt_image__fail("PNG: cannot initialize libpng: no memory, or another version");
  png_set_read_fn(job->png, job, png_on_read);
  /* the library's limits of a million rows and columns suffice; text is not read */
  png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_read_info(job->png, job->info);
  const int type = png_get_color_type(job->png, job->info);
  about[0] = type == PNG_COLOR_TYPE_GRAY         ? 1
             : type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
             : type == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
                                                 : 3;
  about[1] = png_get_image_height(job->png, job->info);
  about[2] = png_get_image_width(job->png, job->info);
  about[3] = png_get_bit_depth(job->png, job->info) == 16 ? 16 : 8;
  const int64_t row = (int64_t)png_get_rowbytes(job->png, job->info);
  if (row > (n * BYTES_A_BYTE + SLACK) / about[1])
    return dpt_image__fail("PNG: %lld bytes cannot hold the %lld x %lld pixels that it claims",
                           (long long)n, (long long)about[2], (long long)about[1]);
  return 0;
}

static int png_head(const char *bytes, int64_t n, int64_t *about) {
  png_job job = {.png = NULL};
  volatile int status = 1; /* setjmp */
  if (!setjmp(job.back)) status = png_read_head(&job, bytes, n, about);
  png_destroy_read_struct(&job.png, &job.info, NULL);
  return status;
}

/* Longjmps to job->back on the library's errors. */
static int png_read(png_job *job, const char *bytes, int64_t n, const dpt_image *to) {
  int64_t about[4];
  if (png_read_head(job, bytes, n, about) || dpt_image__fits(about, to)) return 1;
  png_set_palette_to_rgb(job->png);
  if (about[0] == 1) png_set_expand_gray_1_2_4_to_8(job->png);
  png_set_interlace_handling(job->png);
  png_read_update_info(job->png, job->info);
  const size_t row_size = png_get_rowbytes(job->png, job->info), height = (size_t)about[1];
  const int channels = png_get_channels(job->png, job->info), is_wide = about[3] == 16;
  job->pixels = malloc(row_size * height);
  job->rows = malloc(height * sizeof *job->rows);
  if (!job->pixels || !job->rows)
    return dpt_image__fail("PNG: no memory for %zu bytes", row_size * height);
  for (size_t y = 0; y < height; y++) job->rows[y] = job->pixels + row_size * y;
  png_read_image(job->png, job->rows);
  png_read_end(job->png, NULL);
  for (size_t y = 0; y < height; y++)
    dpt_image__put_row(to, (int64_t)y, job->rows[y], channels, is_wide,
                       is_wide ? 1. / 65535 : 1. / 255);
  return 0;
}

static int png_decode(const char *bytes, int64_t n, const dpt_image *to) {
  png_job job = {.png = NULL};
  volatile int status = 1; /* setjmp */
  if (!setjmp(job.back)) status = png_read(&job, bytes, n, to);
  png_destroy_read_struct(&job.png, &job.info, NULL);
  free(job.pixels);
  free(job.rows);
  return status;
}

const dpt_image__codec dpt_image__png = {"png", png_is, png_head, png_decode};

/* Longjmps to job->back on the library's errors. */
static int png_write(png_job *job, const dpt_image *from) {
  const int64_t planes = from->size[0], height = from->size[1], width = from->size[2];
  if (planes != 1 && planes != 3 && planes != 4)
    return dpt_image__fail("PNG: got %lld planes, wanted 1, 3 or 4", (long long)planes);
  if (height < 1 || width < 1 || height > PNG_USER_HEIGHT_MAX || width > PNG_USER_WIDTH_MAX)
    return dpt_image__fail("PNG: got %lld x %lld pixels, wanted 1 to %ld each", (long long)width,
                           (long long)height, (long)PNG_USER_WIDTH_MAX);
  job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, png_on_error, png_on_warning);
  job->info = job->png ? png_create_info_struct(job->png) : NULL;
  job->pixels = malloc((size_t)(width * planes));
  if (!job->info || !job->pixels) return dpt_image__fail("PNG: no host memory");
  png_set_write_fn(job->png, job, png_on_write, png_on_flush);
  png_set_IHDR(job->png, job->info, (png_uint_32)width, (png_uint_32)height, 8,
               planes == 1   ? PNG_COLOR_TYPE_GRAY
               : planes == 3 ? PNG_COLOR_TYPE_RGB
                             : PNG_COLOR_TYPE_RGB_ALPHA,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(job->png, job->info);
  for (int64_t y = 0; y < height; y++) {
    dpt_image__get_row(from, y, job->pixels);
    png_write_row(job->png, job->pixels);
  }
  png_write_end(job->png, NULL);
  return 0;
}

int dpt_image_png(const dpt_image *from, char **bytes, int64_t *n) {
  png_job job = {.png = NULL};
  volatile int status = 1; /* setjmp */
  if (!setjmp(job.back)) status = png_write(&job, from);
  png_destroy_write_struct(&job.png, &job.info);
  free(job.pixels);
  if (status) {
    free(job.to);
    return 1;
  }
  *bytes = job.to;
  *n = (int64_t)job.size;
  return 0;
}
