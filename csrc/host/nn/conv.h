/* conv.h: the two ways to compute a convolution on the host.
 *
 * Invariant: args are checked and N > 0. Both write what struct dpt__convolution_args says, but for
 * DATA's bias, which convolution.c adds.
 */
#ifndef DPT_HOST_NN_CONV_H
#define DPT_HOST_NN_CONV_H
#include "host/nn/real.h"

/* Columns of patches, then a product; float and double. */
int dpt__conv_gemm(dpt__context *context, const struct dpt__convolution_args *a);
/* oneDNN; float. */
int dpt__conv_dnnl(dpt__context *context, const struct dpt__convolution_args *a);

#endif
