/* winograd.h: the transforms of Winograd's algorithm, a vector of tiles or planes at once.
 *
 * Invariant: tiles of 4 x 4 pixels by kernels of 3 x 3 in 36 points (products of polynomials at 0,
 * +-2/3, +-3/2 and infinity: of the points that cost as little, those that round least). Point p of
 * lane l is at from[p * apart + l]. There is one table for each instruction set.
 * Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
 */
#ifndef DPT_HOST_NN_WINOGRAD_H
#define DPT_HOST_NN_WINOGRAD_H
#include "host/nn/conv.h"

enum { DPT__TILE = 4, DPT__PATCH = 6, DPT__POINTS = 36, DPT__WINOGRAD_LANES = 16 };

/* Where the pixels of a tile go: the first one, and how many rows and columns there are; no rows:
 * nowhere. */
typedef struct dpt__winograd_tile {
  float *to;
  int32_t rows, cols;
} dpt__winograd_tile;

typedef struct dpt__winograd {
  int64_t lanes; /* at most DPT__WINOGRAD_LANES */
  /* Of patches of 6 x 6 pixels, whose rows are `row` floats apart. */
  void (*patches)(float *to, int64_t apart, const float *const *patch, int64_t row);
  /* Of the gradients of tiles, 4 x 4. */
  void (*gradients)(float *to, int64_t apart, const float *const *tile, int64_t row);
  /* Of `lanes` kernels of 3 x 3, lane l's element j at w[l * between + j * step]. */
  void (*kernels)(float *to, int64_t apart, const float *w, int64_t between, int64_t step);
  /* Writes tiles, plus bias, `plane` floats behind; returns 0, or a NaN if they have an Inf or a
   * NaN. */
  float (*tiles)(const dpt__winograd_tile *tile, int64_t plane, int64_t row, const float *from,
                 int64_t apart, float bias);
  /* Writes the gradients of n kernels of 3 x 3; returns as before. */
  float (*weights)(float *w, int64_t n, const float *from, int64_t apart);
} dpt__winograd;

extern const dpt__winograd dpt__winograd_base, dpt__winograd_avx2, dpt__winograd_avx512;

#endif
