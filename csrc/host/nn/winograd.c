/* winograd.c: convolutions of 3 x 3 with many planes by Winograd's algorithm.
 *
 * Invariant: the tiles of all images form one sequence, in the order of images, rows, columns, and
 * are processed in blocks. FORWARD and DATA compute a product of kernels and patches for each point
 * and block; its columns (tiles) do not depend on each other. WEIGHT adds up products of gradients
 * and patches block by block. Chunks of blocks have separate sums, and the number of chunks depends
 * on the sizes. If there are fewer chunks than threads, the threads divide the planes as well. So
 * the number of threads never changes a bit.
 */
#include "host/nn/winograd.h"
#include "base/cpu.h"
#include "base/number.h"
#include "host/panels.h"

/* Planes of pixels; patches of `size` x `size` pixels begin at every fourth row and column. */
typedef struct winograd_field {
  float *pixels;
  int64_t planes, height, width, pad[2], size;
} winograd_field;

/* A pass: the field that is divided into patches, and the field that is divided into tiles (DATA
 * swaps them). */
typedef struct winograd {
  const dpt__winograd *by;
  const dpt__panels *panels;
  winograd_field in, out;
  int64_t I, O;               /* planes of in and out */
  int64_t down, along, tiles; /* tiles down and along an image, and of all images */
  int64_t block;              /* tiles per block: whole panels */
  int64_t row;                /* I, rounded up to whole vectors */
} winograd;

/* A block's tiles of one plane, surrounded by zeros: a copy of the rows that exist. */
typedef struct winograd_view {
  int64_t row;   /* floats per row */
  int64_t count; /* rows to copy: from `from` in a plane to `to` in the copy */
  struct {
    int64_t from, to;
  } * rows;
  int64_t *at;   /* where each tile's patch begins; at 0 there are zeros */
  float *pixels; /* copies of `planes` planes, `apart` floats apart */
  int64_t planes, apart;
} winograd_view;

static int64_t winograd_round_up(int64_t n, int64_t unit) { return dpt__ceil_div(n, unit) * unit; }

/* Returns the distance between points, at least n floats: not a multiple of the cache's size. */
static int64_t winograd_point_stride(int64_t n) { return winograd_round_up(n, 16) + 16; }

static float *winograd_floats(dpt__context *context, int64_t n) {
  return dpt__scratch(context, (size_t)n * sizeof(float));
}

static winograd winograd_of(const struct dpt__convolution_args *a) {
  const struct dpt__slide *s = &a->slide;
  winograd_field in = {a->in, a->I, s->in[1], s->in[2], {s->pad[1], s->pad[2]}, DPT__PATCH};
  winograd_field out = {a->out, a->O, s->out[1], s->out[2], {0, 0}, DPT__TILE};
  winograd w = {.by = DPT__BY_ISA(&dpt__winograd_base, &dpt__winograd_avx2, &dpt__winograd_avx512),
                .panels = dpt__panels_for(DPT_F32),
                .in = in,
                .out = out};
  if (a->pass == DPT__PASS_DATA) {
    winograd_field grad = {a->out,    a->O, s->out[1], s->out[2], {2 - s->pad[1], 2 - s->pad[2]},
                           DPT__PATCH};
    winograd_field to = {a->in, a->I, s->in[1], s->in[2], {0, 0}, DPT__TILE};
    w.in = grad, w.out = to;
  }
  w.I = w.in.planes, w.O = w.out.planes;
  w.down = dpt__ceil_div(w.out.height, DPT__TILE);
  w.along = dpt__ceil_div(w.out.width, DPT__TILE);
  w.tiles = a->N * w.down * w.along;
  w.row = winograd_round_up(w.I, w.by->lanes);
  return w;
}

/* Allocates the views of a field's blocks, for `planes` planes at once. */
static winograd_view winograd_room(dpt__context *context, const winograd *w,
                                   const winograd_field *f, int64_t planes) {
  winograd_view view = {.row = DPT__TILE * w->along + f->size - DPT__TILE, .planes = planes};
  int64_t rows = f->size * ((w->block - 1) / w->along + 3);
  view.apart = rows * view.row;
  view.rows = dpt__scratch(context, (size_t)rows * sizeof *view.rows);
  view.at = dpt__scratch(context, (size_t)w->block * sizeof *view.at);
  view.pixels = winograd_floats(context, planes * view.apart);
  return view;
}

/* Sets the view to tiles first .. first + n - 1; later ones up to the block's end have zeros. */
static void winograd_set_view(winograd_view *view, const winograd *w, const winograd_field *f,
                              int64_t first, int64_t n) {
  int64_t image = w->down * w->along, at = f->size;
  memset(view->pixels, 0, (size_t)(view->planes * view->apart) * sizeof(float));
  memset(view->at, 0, (size_t)w->block * sizeof *view->at);
  view->count = 0;
  for (int64_t tile = first; tile < first + n;) {
    int64_t own = tile / image, top = tile % image / w->along;
    int64_t end = dpt__min(first + n, (own + 1) * image);
    int64_t rows = DPT__TILE * ((end - 1) % image / w->along - top) + f->size;
    for (int64_t r = 0; r < rows; r++) {
      int64_t y = DPT__TILE * top + r - f->pad[0];
      if (y < 0 || y >= f->height) continue;
      view->rows[view->count].from = (own * f->planes * f->height + y) * f->width;
      view->rows[view->count++].to = (at + r) * view->row + f->pad[1];
    }
    for (; tile < end; tile++)
      view->at[tile - first] = (at + DPT__TILE * (tile % image / w->along - top)) * view->row +
                               DPT__TILE * (tile % w->along);
    at += rows;
  }
}

/* Copies a plane to number `place` of the copies. */
static void winograd_copy(const winograd_view *view, const winograd_field *f, int64_t plane,
                          int64_t place) {
  const float *from = f->pixels + plane * f->height * f->width;
  float *to = view->pixels + place * view->apart;
  for (int64_t r = 0; r < view->count; r++)
    memcpy(to + view->rows[r].to, from + view->rows[r].from, (size_t)f->width * sizeof(float));
}

/* Computes the points of plane o's kernels: u (points, O, row). */
static void winograd_kernels(const winograd *w, const struct dpt__convolution_args *a, int64_t o,
                             float *u, int64_t apart) {
  int data = a->pass == DPT__PASS_DATA;
  int64_t between = data ? 9 * w->O : 9, lanes = w->by->lanes;
  const float *from = (const float *)a->weight + (data ? 9 * o + 8 : 9 * o * w->I);
  for (int64_t i = 0; i < w->I; i += lanes) {
    float last[9 * DPT__WINOGRAD_LANES] = {0};
    if (i + lanes <= w->I) {
      w->by->kernels(u + o * w->row + i, apart, from + i * between, between, data ? -1 : 1);
      continue;
    }
    for (int64_t l = 0; i + l < w->I; l++)
      for (int64_t j = 0; j < 9; j++) last[9 * l + j] = from[(i + l) * between + (data ? -j : j)];
    w->by->kernels(u + o * w->row + i, apart, last, 9, 1);
  }
}

/* Computes the destinations of a block's tiles. */
static void winograd_places(const winograd *w, dpt__winograd_tile *to, int64_t first, int64_t n,
                            int64_t whole) {
  int64_t image = w->down * w->along;
  for (int64_t t = 0; t < whole; t++) {
    int64_t own = (first + t) / image, y = DPT__TILE * ((first + t) % image / w->along);
    int64_t x = DPT__TILE * ((first + t) % w->along);
    to[t].to = w->out.pixels + (own * w->O * w->out.height + y) * w->out.width + x;
    to[t].rows = t < n ? (int32_t)dpt__min(DPT__TILE, w->out.height - y) : 0;
    to[t].cols = (int32_t)dpt__min(DPT__TILE, w->out.width - x);
  }
}

/* A thread's memory for a block of FORWARD or DATA. */
typedef struct winograd_block {
  winograd_view view;
  float *patches, *products; /* (points, panels of tiles, I), (points, O, tiles) */
  int64_t patches_apart, products_apart;
  dpt__winograd_tile *to;
} winograd_block;

/* Computes the block that begins with tile `first`; returns 0 or a NaN. */
static float winograd_run(const winograd *w, winograd_block *b, const float *u, int64_t u_apart,
                          const float *bias, int64_t first) {
  int64_t n = dpt__min(w->block, w->tiles - first), lanes = w->by->lanes, panel = w->panels->panel;
  int64_t whole = winograd_round_up(n, panel), plane = w->out.height * w->out.width;
  const float *patch[DPT__WINOGRAD_LANES];
  float nan = 0;
  winograd_set_view(&b->view, w, &w->in, first, n);
  winograd_places(w, b->to, first, n, whole);
  for (int64_t i = 0; i < w->I; i++) {
    winograd_copy(&b->view, &w->in, i, 0);
    for (int64_t t = 0; t < whole; t += lanes) {
      for (int64_t l = 0; l < lanes; l++) patch[l] = b->view.pixels + b->view.at[t + l];
      w->by->patches(b->patches + (t / panel * w->I + i) * panel + t % panel, b->patches_apart,
                     patch, b->view.row);
    }
  }
  for (int64_t p = 0; p < DPT__POINTS; p++)
    w->panels->run(b->products + p * b->products_apart, w->block, u + p * u_apart, w->row,
                   b->patches + p * b->patches_apart, w->O, w->I, whole, 0);
  for (int64_t o = 0; o < w->O; o++)
    for (int64_t t = 0; t < whole; t += lanes)
      nan += w->by->tiles(b->to + t, o * plane, w->out.width, b->products + o * w->block + t,
                          b->products_apart, bias ? bias[o] : 0);
  return nan;
}

enum { MOST_THREADS = 256 };

static int winograd_images(dpt__context *context, winograd *w,
                           const struct dpt__convolution_args *a, int *overflowed) {
  enum { BLOCK = 64 };
  int threads = (int)dpt__min(context->threads, MOST_THREADS);
  int64_t blocks = winograd_round_up(dpt__ceil_div(w->tiles, BLOCK), threads);
  int64_t apart = winograd_point_stride(w->O * w->row);
  const float *bias = a->pass == DPT__PASS_FORWARD ? a->bias : NULL;
  float *u = winograd_floats(context, DPT__POINTS * apart), nan = 0;
  winograd_block own[MOST_THREADS];
  w->block = winograd_round_up(dpt__ceil_div(w->tiles, blocks), w->panels->panel);
  for (int i = 0; i < threads; i++) {
    winograd_block *b = &own[i];
    b->view = winograd_room(context, w, &w->in, 1);
    b->patches_apart = winograd_point_stride(w->block * w->I);
    b->products_apart = winograd_point_stride(w->block * w->O);
    b->patches = winograd_floats(context, DPT__POINTS * b->patches_apart);
    b->products = winograd_floats(context, DPT__POINTS * b->products_apart);
    b->to = dpt__scratch(context, (size_t)w->block * sizeof *b->to);
  }
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t o = 0; o < w->O; o++) winograd_kernels(w, a, o, u, apart);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : nan)
  for (int64_t t = 0; t < w->tiles; t += w->block)
    nan += winograd_run(w, &own[dpt__thread_number()], u, apart, bias, t);
  *overflowed = nan != 0;
  return 0;
}

/* A thread's memory for a block of WEIGHT and a slice of O. */
typedef struct winograd_slice {
  winograd_view in, out;
  float *patches, *gradients; /* (points, panels of I, tiles), (points, O, tiles) */
  int64_t patches_apart, gradients_apart;
} winograd_slice;

/* Transforms the patches of n tiles, for a vector of planes from plane i on. */
static void winograd_patches(const winograd *w, winograd_slice *s, int64_t i, int64_t n) {
  int64_t lanes = w->by->lanes, panel = w->panels->panel, there = dpt__min(lanes, w->I - i);
  float *to = s->patches + i / panel * panel * n + i % panel;
  const float *patch[DPT__WINOGRAD_LANES];
  for (int64_t l = 0; l < there; l++) winograd_copy(&s->in, &w->in, i + l, l);
  for (int64_t t = 0; t < n; t++) {
    for (int64_t l = 0; l < lanes; l++)
      patch[l] = s->in.pixels + (l < there ? l * s->in.apart + s->in.at[t] : 0);
    w->by->patches(to + t * panel, s->patches_apart, patch, s->in.row);
  }
}

/* Transforms the gradients of n tiles of plane o, which is number `place` of the slice. */
static void winograd_gradients(const winograd *w, winograd_slice *s, int64_t o, int64_t place,
                               int64_t n) {
  const float *tile[DPT__WINOGRAD_LANES];
  winograd_copy(&s->out, &w->out, o, 0);
  for (int64_t t = 0; t < n; t += w->by->lanes) {
    for (int64_t l = 0; l < w->by->lanes; l++) tile[l] = s->out.pixels + s->out.at[t + l];
    w->by->gradients(s->gradients + place * w->block + t, s->gradients_apart, tile, s->out.row);
  }
}

/* Computes planes first .. last - 1 of sums (points, O, row), over blocks from .. to - 1. */
static void winograd_add_up(const winograd *w, winograd_slice *s, float *sums, int64_t apart,
                            int64_t from, int64_t to, int64_t first, int64_t last) {
  for (int64_t block = from; block < to; block++) {
    int64_t tile = block * w->block, n = dpt__min(w->block, w->tiles - tile);
    winograd_set_view(&s->in, w, &w->in, tile, n);
    winograd_set_view(&s->out, w, &w->out, tile, n);
    for (int64_t i = 0; i < w->I; i += w->by->lanes) winograd_patches(w, s, i, n);
    for (int64_t o = first; o < last; o++) winograd_gradients(w, s, o, o - first, n);
    for (int64_t p = 0; p < DPT__POINTS; p++)
      w->panels->run(sums + p * apart + first * w->row, w->row,
                     s->gradients + p * s->gradients_apart, w->block,
                     s->patches + p * s->patches_apart, last - first, n, w->I, block > from);
  }
}

/* Computes the gradients of the kernels that write plane o, from the sums of all chunks. */
static float winograd_finish(const winograd *w, float *fresh, float *sums, int64_t apart,
                             int64_t chunks, int64_t o) {
  float nan = 0;
  for (int64_t p = DPT__POINTS; p < chunks * DPT__POINTS; p++) {
    float *to = sums + p % DPT__POINTS * apart + o * w->row, *more = sums + p * apart + o * w->row;
    for (int64_t i = 0; i < w->I; i++) to[i] += more[i];
  }
  for (int64_t i = 0; i < w->I; i += w->by->lanes)
    nan += w->by->weights(fresh + (o * w->I + i) * 9, dpt__min(w->by->lanes, w->I - i),
                          sums + o * w->row + i, apart);
  return nan;
}

static int winograd_weights(dpt__context *context, winograd *w,
                            const struct dpt__convolution_args *a, int *overflowed) {
  /* a chunk has about EACH blocks; there are at most CHUNKS chunks, with at most SUMS floats of
   * sums */
  enum { BLOCK = 128, EACH = 4, CHUNKS = 8, SUMS = 1 << 23 };
  int threads = (int)dpt__min(context->threads, MOST_THREADS);
  int64_t blocks = dpt__ceil_div(w->tiles, BLOCK), size = w->O * w->I * 9;
  int64_t apart = winograd_point_stride(w->O * w->row);
  int64_t chunks = dpt__min(dpt__min(CHUNKS, dpt__ceil_div(blocks, EACH)),
                            dpt__ceil_div(SUMS, DPT__POINTS * apart));
  int64_t slices = dpt__min(w->O, dpt__ceil_div(threads, chunks));
  int64_t slice = dpt__ceil_div(w->O, slices);
  float *sums = winograd_floats(context, chunks * DPT__POINTS * apart);
  float *fresh = winograd_floats(context, size), *gw = a->weight, nan = 0, scale = (float)a->scale;
  winograd_slice own[MOST_THREADS];
  w->block = BLOCK;
  for (int i = 0; i < threads; i++) {
    winograd_slice *s = &own[i];
    s->in = winograd_room(context, w, &w->in, w->by->lanes);
    s->out = winograd_room(context, w, &w->out, 1);
    s->patches_apart = winograd_point_stride(winograd_round_up(w->I, w->panels->panel) * w->block);
    s->gradients_apart = winograd_point_stride(slice * w->block);
    s->patches = winograd_floats(context, DPT__POINTS * s->patches_apart);
    s->gradients = winograd_floats(context, DPT__POINTS * s->gradients_apart);
  }
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t part = 0; part < chunks * slices; part++) {
    int64_t c = part / slices, first = part % slices * slice;
    winograd_add_up(w, &own[dpt__thread_number()], sums + c * DPT__POINTS * apart, apart,
                    c * blocks / chunks, (c + 1) * blocks / chunks, first,
                    dpt__min(w->O, first + slice));
  }
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : nan)
  for (int64_t o = 0; o < w->O; o++) nan += winograd_finish(w, fresh, sums, apart, chunks, o);
  *overflowed = nan != 0;
  if (*overflowed) return 0;
#pragma omp parallel for simd num_threads(dpt__threads(context, size)) schedule(static)
  for (int64_t i = 0; i < size; i++) gw[i] += scale * fresh[i];
  return 0;
}

/* Returns true if this takes less time than oneDNN's direct convolutions, which need more products
 * and fewer transforms: with enough planes, pixels, and pixels of each tile. (KERNELS bounds the
 * memory.) Rounding errors are larger than those of sums: up to 1e-5 of the largest number. */
int dpt__conv_takes_winograd(const struct dpt__convolution_args *a) {
  enum { PLANES = 8, KERNELS = 1 << 20, PIXELS = 512, OF_A_TILE = 8 };
  const struct dpt__slide *s = &a->slide;
  if (a->type != DPT_F32 || a->deterministic || a->ndim != 2 || a->groups > 1) return 0;
  for (int d = 1; d < 3; d++)
    if (s->kernel[d] != 3 || s->stride[d] != 1 || s->dilation[d] != 1 || s->pad[d] > 2 ||
        s->out[d] != s->in[d] + 2 * s->pad[d] - 2)
      return 0;
  winograd w = winograd_of(a);
  int64_t pixels = a->N * w.out.height * w.out.width;
  return dpt__min(w.I, w.O) >= PLANES && w.I * w.O <= KERNELS && pixels >= PIXELS &&
         pixels > OF_A_TILE * w.tiles;
}

int dpt__conv_winograd(dpt__context *context, const struct dpt__convolution_args *a,
                       int *overflowed) {
  winograd w = winograd_of(a);
  *overflowed = 0;
  return a->pass == DPT__PASS_WEIGHT ? winograd_weights(context, &w, a, overflowed)
                                     : winograd_images(context, &w, a, overflowed);
}
