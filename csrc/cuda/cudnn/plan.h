/* plan.h: how cuDNN computes one convolution: descriptors, algorithm, workspace; kept for a native
 * stream.
 *
 * Invariant: a plan is found by its whole key. Only algorithms that return the same bits every time
 * are chosen, and only such as multiply floats as floats unless TF32 is allowed.
 *
 * Where the queue measures, columns and products compete. The workspace is taken at the launch,
 * where only the device's desk can be asked: it has cuDNN's own choice, or (where the queue will
 * measure) the most that any algorithm or columns may want, until the queue has measured. The queue
 * then chooses among what fits into the memory that is there: with cuDNN's choice that is the same
 * algorithm, since only such come before it as want more than the desk's limit.
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
  bool works;    /* else cuDNN has no algorithm */
  bool fresh;    /* its algorithm was measured just now, and is yet to be compared with columns */
  bool columns;  /* columns and products were faster: they compute where there is memory for them */
  bool aside;    /* WEIGHT cannot add to what is there: it is computed aside */
  int algorithm; /* of the pass's enum */
  size_t memory; /* bytes of its workspace */
};

/* What a launch is to take. */
struct dpt__conv_need {
  dpt__conv_need *next;
  uint64_t used;
  dpt__conv_key key;
  bool works, columns; /* columns: memory for them, too, beside the weights' gradient */
  size_t memory;
};

/* The key of N of the images of args; bytes of its weight. */
dpt__conv_key dpt__conv_key_of(const struct dpt__convolution_args *args, int64_t N);
size_t dpt__conv_weight_bytes(const dpt__conv_key *key);
/* Whether columns may be faster, in memory that is no more than theirs usually is: groups are
 * products of their own. */
bool dpt__conv_competes(const dpt__conv_key *key);
/* Descriptors of a key; where cuDNN rejects them the plan does not work. 1: no plan, an error
 * message. */
int dpt__conv_describe(const dpt__cudnn_functions *call, const dpt__conv_key *key,
                       dpt__cudnn_conv_plan **plan);
void dpt__conv_drop(const dpt__cudnn_functions *call, dpt__cudnn_conv_plan *plan);
/* The native stream's plan of a key, chosen if it is new (verbose: and printed) or wants more than
 * the `capacity` bytes of workspace. Measuring reads the operands and leaves rubbish in the
 * result's: `out` of FORWARD, `in` of DATA, `weight` of WEIGHT. */
struct dpt__conv_operands {
  void *in, *weight, *out, *workspace;
  size_t capacity;
};
int dpt__cudnn_conv_plan_of(dpt__context *context, const dpt__conv_key *key, bool verbose,
                            dpt__conv_operands operands, dpt__cudnn_conv_plan **plan);
/* For who launches; and what the queue has found out. */
int dpt__conv_need_of(const dpt__context *context, const dpt__conv_key *key, dpt__conv_need *need);
int dpt__conv_found(const dpt__context *context, const dpt__cudnn_conv_plan *plan);

#endif
