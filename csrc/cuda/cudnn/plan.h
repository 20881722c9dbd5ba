/* plan.h: how cuDNN computes one convolution: descriptors, algorithm, workspace; kept for a native
 * stream.
 *
 * Invariant: a plan is found by its whole key. Only algorithms that give the same bits every time
 * are chosen, and only such as multiply floats as floats unless TF32 is allowed.
 */
#ifndef DPT_CUDA_CUDNN_PLAN_H
#define DPT_CUDA_CUDNN_PLAN_H
#include "cuda/cudnn/handle.h"
#include "cuda/nn/convolution.h"

/* All bytes are set. */
struct dpt__conv_key {
  int64_t type, tf32, search, pass, ndim, N, I, O, groups;
  dpt__slide slide;
};

struct dpt__cudnn_conv_plan {
  dpt__cudnn_conv_plan *next;
  uint64_t used;
  dpt__conv_key key;
  cudnnTensorDescriptor_t in, out;
  cudnnFilterDescriptor_t weight;
  cudnnConvolutionDescriptor_t conv;
  bool works;      /* else cuDNN has no algorithm */
  bool aside;      /* WEIGHT cannot add to what is there: it is computed aside */
  int algorithm;   /* of the pass's enum */
  size_t memory;   /* bytes of its workspace */
  void *workspace; /* while the kernel runs that has measured: what it measured with */
};

/* The key of N of the images of args; bytes of its weight. */
dpt__conv_key dpt__conv_key_of(const struct dpt__convolution_args *args, int64_t N);
size_t dpt__conv_weight_bytes(const dpt__conv_key *key);
/* Descriptors of a key; where cuDNN refuses them the plan does not work. 1: no plan, an error
 * message. */
int dpt__conv_describe(const dpt__cudnn_functions *call, const dpt__conv_key *key,
                       dpt__cudnn_conv_plan **plan);
void dpt__conv_drop(const dpt__cudnn_functions *call, dpt__cudnn_conv_plan *plan);
/* The native stream's plan of a key, chosen where it is new (verbose: and printed). Measuring
 * reads the operands, and leaves rubbish in what FORWARD and DATA write. */
struct dpt__conv_operands {
  void *in, *weight, *out;
};
int dpt__cudnn_conv_plan_of(dpt__context *context, const dpt__conv_key *key, bool verbose,
                            dpt__conv_operands operands, dpt__cudnn_conv_plan **plan);
/* Chooses again, among algorithms that need no workspace. */
int dpt__conv_choose_small(dpt__context *context, dpt__cudnn_conv_plan *plan);

#endif
