/* winograd.h: the transforms of Winograd's algorithm, for a vector of tiles or planes at once.
 *
 * Invariant: tiles of 4 x 4 pixels and kernels of 3 x 3 are represented by 36 points (products of
 * polynomials at 0, +-2/3, +-3/2 and infinity: of the sets of points that cost as little, the one
 * with the smallest rounding errors). Point p of lane l is at from[p * apart + l]. There is one
 * table for each instruction set.
 *
 * Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
 */
#ifndef DPT_HOST_NN_WINOGRAD_H
#define DPT_HOST_NN_WINOGRAD_H
#include "host/nn/conv.h"

enum { DPT__TILE = 4, DPT__PATCH = 6, DPT__POINTS = 36, DPT__WINOGRAD_LANES = 16 };

/* Destination of a tile's pixels: the first one, and the number of rows and columns; no rows: the
 * tile is not written. */
typedef struct dpt__winograd_tile {
  float *to;
  int32_t rows, cols;
} dpt__winograd_tile;

typedef struct dpt__winograd {
  int64_t lanes; /* at most DPT__WINOGRAD_LANES */
  /* Transforms patches of 6 x 6 pixels, whose rows are `row` floats apart, to points. */
  void (*patches)(float *to, int64_t apart, const float *const *patch, int64_t row);
  /* Transforms the gradients of tiles, 4 x 4, to points. */
  void (*gradients)(float *to, int64_t apart, const float *const *tile, int64_t row);
  /* Transforms `lanes` kernels of 3 x 3 to points; element j of lane l: w[l * between + j *
   * step]. */
  void (*kernels)(float *to, int64_t apart, const float *w, int64_t between, int64_t step);
  /* Writes tiles, plus bias, `plane` floats after their destinations. Returns 0, or a NaN if they
   * have an Inf or a NaN. */
  float (*tiles)(const dpt__winograd_tile *tile, int64_t plane, int64_t row, const float *from,
                 int64_t apart, float bias);
  /* Writes the gradients of n kernels of 3 x 3. Returns 0, or a NaN as above. */
  float (*weights)(float *w, int64_t n, const float *from, int64_t apart);
} dpt__winograd;

extern const dpt__winograd dpt__winograd_base, dpt__winograd_avx2, dpt__winograd_avx512;

#endif
