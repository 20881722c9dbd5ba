/* conv.h: the three algorithms for a convolution on the host.
 *
 * Invariant: args are checked and N > 0. Every algorithm writes what struct dpt__convolution_args
 * says, except DATA's bias, which convolution.c adds.
 */
#ifndef DPT_HOST_NN_CONV_H
#define DPT_HOST_NN_CONV_H
#include "host/nn/real.h"

/* Convolves by columns of patches (im2col) and a product; float and double. */
int dpt__conv_gemm(dpt__context *context, const struct dpt__convolution_args *a);
/* Convolves with oneDNN; float. */
int dpt__conv_dnnl(dpt__context *context, const struct dpt__convolution_args *a);
/* Winograd's algorithm; float. The first function returns true if the algorithm is used for a
 * convolution. *overflowed: the result had an Inf or a NaN (WEIGHT has then added nothing). */
int dpt__conv_takes_winograd(const struct dpt__convolution_args *a);
int dpt__conv_winograd(dpt__context *context, const struct dpt__convolution_args *a,
                       int *overflowed);

#endif
