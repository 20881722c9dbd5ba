/* gemm.h: products of matrices in host memory (ops/blas.h has the arguments).
 *
 * Invariant: OpenBLAS and oneDNN are only ever called with one thread; a product is cut into blocks
 * inside our own OpenMP region. Where `fixed` is set, neither is asked: gemm_fixed.c adds every
 * element up in one order, so that a row of c does not depend on the other rows of a.
 */
#ifndef DPT_HOST_GEMM_H
#define DPT_HOST_GEMM_H
#include "host/kernels.h"
#include "ops/blas.h"

/* dpt__host_gemm (args: a dpt__gemm_args) uses up to context->threads threads. This one needs no
 * temporary memory for operands that BLAS takes as they are, so that threads of a kernel can each
 * have one under way. */
int dpt__host_gemm_within(dpt__context *context, const dpt__gemm_args *g);
/* For integers. */
int dpt__host_gemm_integer(dpt__context *context, const dpt__gemm_args *g);
/* One product of floats or doubles with a fixed order of sums; k > 0. */
int dpt__host_gemm_fixed(dpt__context *context, const dpt__gemm_args *g);

#endif
