/* convolution.h: the ways to compute a convolution on a GPU.
 *
 * Invariant: args are checked and N > 0. Both write what struct dpt__convolution_args says, but for
 * the bias, which convolution.cu adds.
 */
#ifndef DPT_CUDA_NN_CONVOLUTION_H
#define DPT_CUDA_NN_CONVOLUTION_H
#include "cuda/nn/nn.h"

/* Elements of columns at a time, unless one image has more; few where specs shall see parts. */
#ifdef DPT_EMULATED
enum : int64_t { DPT__COLUMNS = 1 << 12 };
#else
enum : int64_t { DPT__COLUMNS = 1 << 24 };
#endif

/* Columns of patches, then products: whatever the sizes are. */
int dpt__cuda_conv_columns(dpt__context *context, const struct dpt__convolution_args *a);
/* cuDNN; *done is 0 where it has no way to compute this one, or is not there. */
int dpt__cuda_conv_cudnn(dpt__context *context, const struct dpt__convolution_args *a, int *done);

#endif
