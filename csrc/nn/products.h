/* products.h: nn.Linear and convolutions of columns as matrix products, for every backend.
 *
 * Invariant: a linear layer's bias is in `out` before the product is added to it, so that a row is
 * summed in a single order. On devices a layer of at most DPT__LINEAR_SMALL weights always uses the
 * fixed order of sums: it costs next to nothing there, and several devices have the bits of one.
 * The choice must not depend on the number of rows.
 */
#ifndef DPT_NN_PRODUCTS_H
#define DPT_NN_PRODUCTS_H
#include "nn/kernels.h"
#include "ops/blas.h"

enum { DPT__LINEAR_SMALL = 128 };

/* Returns the arguments of c (m, n) = beta * c + alpha * a * b; all are contiguous, transposed ones
 * before their transposition. */
static inline dpt__gemm_args dpt__nn_gemm(int32_t type, int32_t c_type, int fixed, int32_t tf32,
                                          int64_t m, int64_t n, int64_t k, double alpha,
                                          const void *a, int a_transposed, const void *b,
                                          int b_transposed, double beta, void *c) {
  dpt__gemm_args g = {type, c_type, fixed, tf32, m, n, k, 1, alpha, beta, a,
                      b,    c,      k,     1,    0, n, 1, 0, n,     1,    0};
  if (a_transposed) g.a_row = 1, g.a_col = m;
  if (b_transposed) g.b_row = 1, g.b_col = k;
  return g;
}

static inline dpt__gemm_args dpt__linear_product(const dpt__context *context,
                                                 const struct dpt__linear_args *a) {
  int fixed = a->deterministic || (context->device && a->I * a->O <= DPT__LINEAR_SMALL);
  if (a->pass == DPT__PASS_FORWARD)
    return dpt__nn_gemm(a->type, a->type, fixed, a->tf32, a->B, a->O, a->I, 1, a->in, 0, a->weight,
                        1, a->bias ? 1 : 0, a->out);
  if (a->pass == DPT__PASS_DATA)
    return dpt__nn_gemm(a->type, a->type, fixed, a->tf32, a->B, a->I, a->O, 1, a->out, 0, a->weight,
                        0, 0, a->in);
  return dpt__nn_gemm(a->type, a->param_type, 0, a->tf32, a->O, a->I, a->B, a->scale, a->out, 1,
                      a->in, 0, 1, a->weight);
}

/* Returns the arguments of the bias's gradient: sums of out's columns. */
static inline struct dpt__plane_sum_args dpt__linear_bias_sum(const struct dpt__linear_args *a) {
  struct dpt__plane_sum_args sum = {a->type, a->param_type, a->B,   a->O,
                                    1,       a->scale,      a->out, a->bias};
  return sum;
}

/* Returns the product of one group of one image, with columns of patches col (I/groups * K, S').
 * FORWARD writes out, DATA writes col, WEIGHT accumulates into weight. */
static inline dpt__gemm_args dpt__convolution_product(const struct dpt__convolution_args *a,
                                                      int fixed, double beta, void *col, void *out,
                                                      void *weight) {
  int64_t O = a->O / a->groups, K = a->I / a->groups * dpt__volume(a->slide.kernel);
  int64_t S = dpt__volume(a->slide.out);
  if (a->pass == DPT__PASS_FORWARD)
    return dpt__nn_gemm(a->type, a->type, fixed, a->tf32, O, S, K, 1, weight, 0, col, 0, beta, out);
  if (a->pass == DPT__PASS_DATA)
    return dpt__nn_gemm(a->type, a->type, fixed, a->tf32, K, S, O, 1, weight, 1, out, 0, 0, col);
  return dpt__nn_gemm(a->type, a->param_type, fixed, a->tf32, O, K, S, a->scale, out, 0, col, 1, 1,
                      weight);
}

#endif
