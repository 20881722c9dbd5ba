/* winograd.inc.c: the transforms for one instruction set: TABLE, BYTES of a vector.
 *
 * Invariant: a lane's numbers do not depend on the other lanes. A vector consists of groups of four
 * lanes; rows of pixels are read and written four at a time and transposed within the groups.
 */
#include "host/nn/winograd.h"
#include <string.h>

enum { LANES = BYTES / sizeof(float), GROUPS = LANES / 4 };
typedef float V __attribute__((vector_size(BYTES), aligned(sizeof(float)), may_alias));
typedef float Q __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));

/* A shuffle of two vectors within each group: 0 to 3 are a's lanes, 4 to 7 b's. */
#define AT(g, i) ((i) < 4 ? 4 * (g) + (i) : LANES + 4 * (g) + (i)-4)
#define GROUP(g, i, j, k, l) AT(g, i), AT(g, j), AT(g, k), AT(g, l)
#if BYTES == 16
#define MIX(a, b, ...) __builtin_shufflevector(a, b, GROUP(0, __VA_ARGS__))
#elif BYTES == 32
#define MIX(a, b, ...) __builtin_shufflevector(a, b, GROUP(0, __VA_ARGS__), GROUP(1, __VA_ARGS__))
#else
#define MIX(a, b, ...)                                                                             \
  __builtin_shufflevector(a, b, GROUP(0, __VA_ARGS__), GROUP(1, __VA_ARGS__),                      \
                          GROUP(2, __VA_ARGS__), GROUP(3, __VA_ARGS__))
#endif
#define INLINE static inline __attribute__((always_inline))

/* The points other than 0 and infinity are +-A and +-B; A * B = 1. BY: the divisor of the values at
 * such a point, the product of its distances from the others. */
#define A (2.0f / 3)
#define A2 (A * A)
#define A3 (A * A * A)
#define B 1.5f
#define B2 (B * B)
#define B3 (B * B * B)
#define BY_A (2 * A2 * (A2 - B2))
#define BY_B (2 * B2 * (B2 - A2))

/* Transposes 4 x 4 numbers in each group: from tiles' pixels to pixels' tiles, or back. */
INLINE void turn(V v[4]) {
  V a = MIX(v[0], v[1], 0, 4, 1, 5), b = MIX(v[0], v[1], 2, 6, 3, 7);
  V c = MIX(v[2], v[3], 0, 4, 1, 5), d = MIX(v[2], v[3], 2, 6, 3, 7);
  v[0] = MIX(a, c, 0, 1, 4, 5), v[1] = MIX(a, c, 2, 3, 6, 7);
  v[2] = MIX(b, d, 0, 1, 4, 5), v[3] = MIX(b, d, 2, 3, 6, 7);
}

/* Loads four pixels of each of the tiles k, 4 + k, 8 + k ... */
INLINE V load(const float *const *tile, int k, int64_t at) {
#if BYTES == 16
  return *(const V *)(tile[k] + at);
#else
  Q a = *(const Q *)(tile[k] + at), b = *(const Q *)(tile[4 + k] + at);
#if BYTES == 32
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else
  Q c = *(const Q *)(tile[8 + k] + at), d = *(const Q *)(tile[12 + k] + at);
  typedef float H __attribute__((vector_size(32)));
  H low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  H high = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
#endif
}

INLINE void load_turned(V v[4], const float *const *tile, int64_t at) {
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) v[k] = load(tile, k, at);
  turn(v);
}

/* Transforms six pixels to six points. */
INLINE void patch_line(V *t, const V *d) {
  V even = d[4] - B2 * d[2], odd = A * (d[3] - B2 * d[1]);
  V even_b = d[4] - A2 * d[2], odd_b = B * (d[3] - A2 * d[1]);
  t[0] = d[0] + d[4] - (A2 + B2) * d[2];
  t[1] = even + odd, t[2] = even - odd;
  t[3] = even_b + odd_b, t[4] = even_b - odd_b;
  t[5] = d[5] + d[1] - (A2 + B2) * d[3];
}

/* Transforms four gradients to six points. */
INLINE void gradient_line(V *t, const V *d) {
  V even = d[0] + A2 * d[2], odd = A * d[1] + A3 * d[3];
  V even_b = d[0] + B2 * d[2], odd_b = B * d[1] + B3 * d[3];
  t[0] = d[0];
  t[1] = even + odd, t[2] = even - odd;
  t[3] = even_b + odd_b, t[4] = even_b - odd_b;
  t[5] = d[3];
}

/* Transforms three weights to six points. */
INLINE void kernel_line(V *t, const V *w) {
  V even = w[0] * (1 / BY_A) + w[2] * (A2 / BY_A), odd = w[1] * (A / BY_A);
  V even_b = w[0] * (1 / BY_B) + w[2] * (B2 / BY_B), odd_b = w[1] * (B / BY_B);
  t[0] = w[0];
  t[1] = even + odd, t[2] = even - odd;
  t[3] = even_b + odd_b, t[4] = even_b - odd_b;
  t[5] = w[2];
}

/* Transforms six points to four pixels. */
INLINE void tile_line(V *y, const V *m) {
  V sum = m[1] + m[2], less = m[1] - m[2], sum_b = m[3] + m[4], less_b = m[3] - m[4];
  y[0] = m[0] + sum + sum_b;
  y[1] = A * less + B * less_b;
  y[2] = A2 * sum + B2 * sum_b;
  y[3] = A3 * less + B3 * less_b + m[5];
}

/* Transforms six points to three weights. */
INLINE void weight_line(V *w, const V *m) {
  V sum = (m[1] + m[2]) * (1 / BY_A), less = (m[1] - m[2]) * (A / BY_A);
  V sum_b = (m[3] + m[4]) * (1 / BY_B), less_b = (m[3] - m[4]) * (B / BY_B);
  w[0] = m[0] + sum + sum_b;
  w[1] = less + less_b;
  w[2] = A2 * sum + B2 * sum_b + m[5];
}

typedef void line_fn(V *to, const V *from);

/* Computes points from the columns of n transformed rows. */
INLINE void to_points(int n, V t[][6], line_fn *line, float *to, int64_t apart) {
#pragma GCC unroll 6
  for (int c = 0; c < 6; c++) {
    V down[6], point[6];
    for (int r = 0; r < n; r++) down[r] = t[r][c];
    line(point, down);
    for (int r = 0; r < 6; r++) *(V *)(to + (6 * r + c) * apart) = point[r];
  }
}

/* Computes n * n numbers, row by row, from points. Returns the sum of 0 times each number. */
INLINE V from_points(int n, V *t, line_fn *line, const float *from, int64_t apart) {
  V half[6][4], nan = {0};
#pragma GCC unroll 6
  for (int r = 0; r < 6; r++) {
    V along[6];
    for (int c = 0; c < 6; c++) along[c] = *(const V *)(from + (6 * r + c) * apart);
    line(half[r], along);
  }
#pragma GCC unroll 4
  for (int c = 0; c < n; c++) {
    V down[6], up[4];
    for (int r = 0; r < 6; r++) down[r] = half[r][c];
    line(up, down);
    for (int r = 0; r < n; r++) t[r * n + c] = up[r], nan += 0 * up[r];
  }
  return nan;
}

INLINE float sum_of(V v, int64_t n) {
  float sum = 0;
  for (int64_t l = 0; l < n; l++) sum += v[l];
  return sum;
}

static void patches(float *to, int64_t apart, const float *const *patch, int64_t row) {
  V t[6][6];
#pragma GCC unroll 6
  for (int r = 0; r < 6; r++) {
    V d[4], last[4];
    load_turned(d, patch, r * row);
    load_turned(last, patch, r * row + 2);
    V line[6] = {d[0], d[1], d[2], d[3], last[2], last[3]};
    patch_line(t[r], line);
  }
  to_points(6, t, patch_line, to, apart);
}

static void gradients(float *to, int64_t apart, const float *const *tile, int64_t row) {
  V t[4][6];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    V d[4];
    load_turned(d, tile, r * row);
    gradient_line(t[r], d);
  }
  to_points(4, t, gradient_line, to, apart);
}

static void kernels(float *to, int64_t apart, const float *w, int64_t between, int64_t step) {
  V t[3][6];
  float own[9][LANES];
  for (int j = 0; j < 9; j++)
    for (int l = 0; l < LANES; l++) own[j][l] = w[l * between + j * step];
  for (int r = 0; r < 3; r++) {
    V line[3];
    for (int c = 0; c < 3; c++) line[c] = *(const V *)own[3 * r + c];
    kernel_line(t[r], line);
  }
  to_points(3, t, kernel_line, to, apart);
}

static float tiles(const dpt__winograd_tile *tile, int64_t plane, int64_t row, const float *from,
                   int64_t apart, float bias) {
  V t[16];
  float nan = sum_of(from_points(4, t, tile_line, from, apart), LANES);
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    for (int c = 0; c < 4; c++) t[4 * r + c] += bias;
    turn(t + 4 * r);
    for (int k = 0; k < 4; k++)
      for (int g = 0; g < GROUPS; g++) {
        const dpt__winograd_tile *own = &tile[4 * g + k];
        const float *pixels = (const float *)&t[4 * r + k] + 4 * g;
        if (r < own->rows && own->cols == 4)
          memcpy(own->to + plane + r * row, pixels, 4 * sizeof(float));
        else if (r < own->rows)
          memcpy(own->to + plane + r * row, pixels, (size_t)own->cols * sizeof(float));
      }
  }
  return nan;
}

static float weights(float *w, int64_t n, const float *from, int64_t apart) {
  V t[9];
  V nan = from_points(3, t, weight_line, from, apart);
  for (int64_t l = 0; l < n; l++)
    for (int j = 0; j < 9; j++) w[9 * l + j] = t[j][l];
  return sum_of(nan, n);
}

const dpt__winograd TABLE = {LANES, patches, gradients, kernels, tiles, weights};
