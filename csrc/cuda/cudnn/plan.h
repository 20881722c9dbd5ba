/* plan.h: cuDNN's plan of a convolution: descriptors, algorithm, workspace; cached per native
 * stream. DPT_CUDNN_GRAPH=1 takes engines of the graph interface (graph.h) instead of algorithms of
 * the legacy one; rules for algorithms hold for both.
 *
 * Invariant: a plan is found by its whole key. Only deterministic algorithms are chosen, and only
 * those that multiply floats as floats unless TF32 is allowed. Reduced types are multiplied by
 * tensor cores and accumulated in float.
 *
 * Where the queue measures, columns and products compete with cuDNN. The workspace is allocated at
 * the launch, where only the device's desk can be queried. The desk has cuDNN's own choice or,
 * where the queue will measure, the most memory that any algorithm or columns may need, until the
 * queue has measured. The queue then chooses among the algorithms that fit into the available
 * memory. With cuDNN's choice that is the same algorithm, since every algorithm preferred to it
 * needs more than the desk's limit.
 */
#ifndef DPT_CUDA_CUDNN_PLAN_H
#define DPT_CUDA_CUDNN_PLAN_H
#include "cuda/cudnn/handle.h"
#include "cuda/nn/convolution.h"

/* All bytes are initialized. graph: the alignment of the operands in bytes if the graph interface
 * is enabled, or 0. param_type: of WEIGHT's gradients; otherwise type. */
struct dpt__conv_key {
  int64_t type, param_type, tf32, search, pass, graph, ndim, N, I, O, groups;
  dpt__slide slide;
};

/* The sizes of the descriptors, outermost dimension first; the tensors are dense. */
struct dpt__conv_shape {
  int64_t in[5], weight[5], out[5], pad[3], stride[3], dilation[3];
};

struct dpt__conv_graph; /* graph.h */

struct dpt__cudnn_conv_plan {
  dpt__cudnn_conv_plan *next;
  uint64_t used;
  dpt__conv_key key;
  cudnnTensorDescriptor_t in, out;
  cudnnFilterDescriptor_t weight;
  cudnnConvolutionDescriptor_t conv;
  bool works;             /* false: cuDNN has no algorithm */
  bool fresh;             /* just measured, not yet compared with columns */
  bool columns;           /* columns and products were faster: used if there is memory for them */
  bool aside;             /* WEIGHT cannot accumulate: its result goes to temporary memory */
  dpt__conv_graph *graph; /* the graph interface's engine, or NULL: `algorithm` is used */
  int algorithm;          /* a value of the pass's enum */
  size_t memory;          /* bytes of its workspace */
};

/* The memory that a launch allocates. */
struct dpt__conv_need {
  dpt__conv_need *next;
  uint64_t used;
  dpt__conv_key key;
  bool works, columns; /* columns: memory for them as well, besides the weights' gradient */
  size_t memory;
};

/* Returns the key of args. */
dpt__conv_key dpt__conv_key_of(const struct dpt__convolution_args *args);
/* Return the sizes, cuDNN's type of sums, and the bytes of the weight or its gradient. */
dpt__conv_shape dpt__conv_shape_of(const dpt__conv_key *key);
cudnnDataType_t dpt__conv_sum_type(const dpt__conv_key *key);
size_t dpt__conv_weight_bytes(const dpt__conv_key *key);
/* Returns true if columns may be faster, within the memory that they usually need: groups need
 * separate products. */
bool dpt__conv_competes(const dpt__conv_key *key);
/* Creates the descriptors of a key; if cuDNN rejects them, plan->works is false. Returns 1 with a
 * message, and no plan, on failure. */
int dpt__conv_describe(const dpt__cudnn_functions *call, const dpt__conv_key *key,
                       dpt__cudnn_conv_plan **plan);
void dpt__conv_drop(const dpt__cudnn_functions *call, dpt__cudnn_conv_plan *plan);
/* Returns the native stream's plan of a key. Chooses an algorithm (verbose: and prints it) if the
 * plan is new or needs more than `capacity` bytes of workspace. Measuring reads the operands and
 * overwrites the result with garbage: `out` of FORWARD, `in` of DATA, `weight` of WEIGHT. */
struct dpt__conv_operands {
  void *in, *weight, *out, *workspace;
  size_t capacity;
};
int dpt__cudnn_conv_plan_of(dpt__context *context, const dpt__conv_key *key, bool verbose,
                            dpt__conv_operands operands, dpt__cudnn_conv_plan **plan);
/* Measures the milliseconds of several calls of f, after one to warm up. */
template <typename F> int dpt__conv_time(dpt__context *context, F f, float *milliseconds) {
  enum { CALLS = 3 };
  auto calls = [&] {
    for (int i = 0; i < CALLS; i++)
      if (f()) return 1;
    return 0;
  };
  auto issue = [](void *data) { return (*(decltype(calls) *)data)(); };
  return f() || dpt__cuda_time(context, issue, &calls, milliseconds);
}
/* Return the needs of a launch, and update them with the queue's findings. */
int dpt__conv_need_of(const dpt__context *context, const dpt__conv_key *key, dpt__conv_need *need);
int dpt__conv_found(const dpt__context *context, const dpt__cudnn_conv_plan *plan);

#endif
