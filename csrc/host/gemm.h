/* gemm.h: products of matrices in host memory (ops/blas.h has the arguments).
 *
 * Invariant: OpenBLAS and oneDNN are only called with one thread; our own OpenMP region splits a
 * product into blocks. If `fixed` is set, neither is called: gemm_fixed.c sums every element in a
 * fixed order, so that a row of c does not depend on the other rows of a.
 */
#ifndef DPT_HOST_GEMM_H
#define DPT_HOST_GEMM_H
#include "host/kernels.h"
#include "ops/blas.h"

/* dpt__host_gemm (args: a dpt__gemm_args) uses up to context->threads threads. This function
 * needs no temporary memory for operands that BLAS accepts, so that each thread of a kernel can
 * run one. */
int dpt__host_gemm_within(dpt__context *context, const dpt__gemm_args *g);
/* Computes products of integers. */
int dpt__host_gemm_integer(dpt__context *context, const dpt__gemm_args *g);
/* Computes one product of floats or doubles with a fixed order of sums; k > 0. */
int dpt__host_gemm_fixed(dpt__context *context, const dpt__gemm_args *g);
/* Computes one product of a reduced type. */
int dpt__host_gemm_reduced(dpt__context *context, const dpt__gemm_args *g);
/* Returns true if oneDNN computes a product in bfloat16 on this machine. */
int dpt__host_gemm_takes_bf16(const dpt__gemm_args *g);
int dpt__host_gemm_bf16(dpt__context *context, const dpt__gemm_args *g);

#endif
