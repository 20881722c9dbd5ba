/* conv.h: the three ways to compute a convolution on the host.
 *
 * Invariant: args are checked and N > 0. All write what struct dpt__convolution_args says, but for
 * DATA's bias, which convolution.c adds.
 */
#ifndef DPT_HOST_NN_CONV_H
#define DPT_HOST_NN_CONV_H
#include "host/nn/real.h"

/* Columns of patches, then a product; float and double. */
int dpt__conv_gemm(dpt__context *context, const struct dpt__convolution_args *a);
/* oneDNN; float. */
int dpt__conv_dnnl(dpt__context *context, const struct dpt__convolution_args *a);
/* Winograd's algorithm; float. Whether it takes such a convolution; *overflowed: it has made an Inf
 * or a NaN (WEIGHT has added nothing then). */
int dpt__conv_takes_winograd(const struct dpt__convolution_args *a);
int dpt__conv_winograd(dpt__context *context, const struct dpt__convolution_args *a,
                       int *overflowed);

#endif
