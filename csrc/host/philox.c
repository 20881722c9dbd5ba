/* philox.c: random numbers for tensors of host devices (ops/random.h has the formulas).
 *
 * Invariant: element i depends only on its position in row-major order, not on threads or on the
 * length of a row. Normals use logarithms and cosines of vector code, within an ulp of the
 * formula's.
 */
#include "base/element.h"
#include "base/isa.h"
#include "host/kernels.h"
#include "host/rows.h"
#include "ops/random.h"

enum { BLOCK = 4096, PIECE = 256 };

/* Computes the uniforms of elements i to i + n - 1; v may be NULL if one for each suffices. */
DPT__CLONES static void philox_uniforms(const dpt__philox_args *g, int bits, int64_t i, int64_t n,
                                        double *u, double *v) {
  uint64_t seed = dpt__draw_seed(&g->draw), offset = dpt__draw_offset(&g->draw);
  for (int64_t j = 0; j < n; j++) {
    uint32_t words[4];
    dpt__philox_at(seed, offset, (uint64_t)(g->first + i + j), words);
    u[j] = dpt__bits_uniform(words[0], words[1], bits);
    if (v) v[j] = 1 - dpt__bits_uniform(words[2], words[3], 53);
  }
}

/* Converts the uniforms u and v to normals, in u. */
static void philox_normals(int64_t n, double *u, double *v, double a, double b) {
  const dpt__rows *rows = dpt__rows_pick();
  rows->map[DPT__MAP_log][DPT_F64](n, v, v, NULL, NULL, 0, 0);
  for (int64_t j = 0; j < n; j++) v[j] = sqrt(-2 * v[j]);
  for (int64_t j = 0; j < n; j++) u[j] = 2 * M_PI * u[j];
  rows->map[DPT__MAP_cos][DPT_F64](n, u, u, NULL, NULL, 0, 0);
  for (int64_t j = 0; j < n; j++) u[j] = v[j] * u[j] * b + a;
}

/* Computes numbers of the distribution for elements i to i + n - 1. */
static void philox_numbers(const dpt__philox_args *g, int bits, int64_t i, int64_t n, double *r) {
  double v[PIECE];
  if (g->distribution == DPT__RANDOM_random) {
    for (int64_t j = 0; j < n; j++) r[j] = dpt__philox_number(g, bits, i + j, g->a);
    return;
  }
  int normal = g->distribution == DPT__RANDOM_normal,
      log = g->distribution == DPT__RANDOM_logNormal;
  philox_uniforms(g, bits, i, n, r, normal || log ? v : NULL);
  if (normal)
    philox_normals(n, r, v, g->a, g->b);
  else
    for (int64_t j = 0; j < n; j++)
      r[j] = dpt__from_uniform(g->distribution, r[j], log ? v[j] : 1, g->a, g->b);
}

/* Fills a row of n elements whose first one is element i. */
static void philox_fill_row(const dpt__philox_args *g, int64_t i, int64_t n, char *r) {
  const dpt__walk *walk = &g->walk;
  int dtype = walk->dtype[0];
  int64_t stride = walk->stride[0][walk->ndim - 1],
          bytes = stride * (int64_t)dpt__dtype_size(dtype);
  int bits = dpt__uniform_bits(g->distribution, dtype);
  double piece[PIECE];
  for (int64_t done = 0; done < n; done += PIECE) {
    int64_t m = n - done < PIECE ? n - done : PIECE;
    philox_numbers(g, bits, i + done, m, piece);
    if (dtype == DPT_F32)
      for (int64_t j = 0; j < m; j++) ((float *)r)[(done + j) * stride] = (float)piece[j];
    else
      for (int64_t j = 0; j < m; j++) dpt__put_element(dtype, r + (done + j) * bytes, piece[j]);
  }
}

/* Fills a row in which each element has a separate probability. */
static void philox_fill_given(const dpt__philox_args *g, int64_t i, const dpt__cursor *c) {
  const dpt__walk *walk = &g->walk;
  int dtype = walk->dtype[0], last = walk->ndim - 1;
  int64_t bytes = walk->stride[0][last] * (int64_t)dpt__dtype_size(dtype);
  int64_t p_bytes = walk->stride[1][last] * (int64_t)dpt__dtype_size(walk->dtype[1]);
  int bits = dpt__uniform_bits(g->distribution, dtype);
  for (int64_t j = 0; j < c->n; j++) {
    double p = dpt__get_element(walk->dtype[1], c->data[1] + j * p_bytes);
    dpt__put_element(dtype, c->data[0] + j * bytes, dpt__philox_number(g, bits, i + j, p));
  }
}

int dpt__host_philox(dpt__context *context, const void *args) {
  const dpt__philox_args *g = args;
  const dpt__walk *walk = &g->walk;
  int64_t count = dpt__walk_count(walk), blocks = (count + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(context->threads)                                             \
    schedule(static) if (blocks > 1 && !walk->serial)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t i = b * BLOCK, left = count - i;
    dpt__cursor c;
    dpt__walk_at(walk, &c, i, left < BLOCK ? left : BLOCK);
    for (; dpt__walk_row(walk, &c); i += c.n) {
      if (walk->noperand > 1)
        philox_fill_given(g, i, &c);
      else
        philox_fill_row(g, i, c.n, c.data[0]);
    }
  }
  return 0;
}
