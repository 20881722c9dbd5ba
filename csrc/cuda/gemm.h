/* gemm.h: products of matrices (ops/blas.h has the arguments). */
#ifndef DPT_CUDA_GEMM_H
#define DPT_CUDA_GEMM_H
#include "cuda/cuda.h"
extern "C" {
#include "ops/blas.h"
}

/* Sums the products of each element in a fixed order, at any position; any type, any strides. */
int dpt__cuda_gemm_ordered(dpt__context *context, const dpt__gemm_args *g);

#endif
