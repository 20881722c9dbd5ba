/* convolution.h: the implementations of convolution on a GPU.
 *
 * Invariant: args are checked and N > 0. Both compute the results of struct dpt__convolution_args,
 * except for the bias, which convolution.cu adds.
 */
#ifndef DPT_CUDA_NN_CONVOLUTION_H
#define DPT_CUDA_NN_CONVOLUTION_H
#include "cuda/nn/nn.h"

/* The largest number of elements in a columns buffer, unless one image needs more. It is small in
 * the emulation, so that specs exercise several parts. */
#ifdef DPT_EMULATED
enum : int64_t { DPT__COLUMNS = 1 << 12 };
#else
enum : int64_t { DPT__COLUMNS = 1 << 24 };
#endif

/* Uses columns of patches, then products; works for all sizes. */
int dpt__cuda_conv_columns(dpt__context *context, const struct dpt__convolution_args *a);
/* Uses cuDNN; sets *done to 0 if it cannot compute this convolution, or is not available. */
int dpt__cuda_conv_cudnn(dpt__context *context, const struct dpt__convolution_args *a, int *done);

#endif
