/* rnn_plan.h: cuDNN's plan of a recurrent network, and the layout of its memory.
 *
 * Invariant: cuDNN computes one layer at a time (both directions), so that dropout between layers
 * is dpt's own, and its masks do not depend on the device or on how a batch is split. The weights
 * are the layers' weight spaces one after the other, each as cuDNN lays it out: within one, offsets
 * come from cudnnGetRNNWeightParams alone. A reserve holds the layers' reserves, then the output of
 * each layer but the last, then (with dropout) the next layer's input made from it. Plans are
 * cached: those of a native stream for its kernels, those of a device for the threads that launch.
 */
#ifndef DPT_CUDA_CUDNN_RNN_PLAN_H
#define DPT_CUDA_CUDNN_RNN_PLAN_H
#include "cuda/cudnn/handle.h"
extern "C" {
#include "rnn/rnn.h"
}

/* The alignment of every part of a reserve. */
enum { DPT__RNN_ALIGN = 256 };
static inline size_t dpt__rnn_round(size_t bytes) {
  return (bytes + DPT__RNN_ALIGN - 1) / DPT__RNN_ALIGN * DPT__RNN_ALIGN;
}

/* A layer: its descriptors, which it owns, and the bytes that cuDNN needs. */
struct dpt__rnn_layer_plan {
  const dpt__cudnn_functions *call = NULL;
  cudnnRNNDescriptor_t rnn = NULL;
  cudnnRNNDataDescriptor_t x = NULL, y = NULL;
  cudnnTensorDescriptor_t h = NULL, c = NULL; /* c: LSTM only */
  size_t weight = 0, work = 0, reserve = 0;

  dpt__rnn_layer_plan() = default;
  dpt__rnn_layer_plan(const dpt__rnn_layer_plan &) = delete;
  dpt__rnn_layer_plan &operator=(const dpt__rnn_layer_plan &) = delete;
  ~dpt__rnn_layer_plan();
};

/* The properties of a network and its data that determine the descriptors, except the lengths of
 * sequences. All bytes are initialized. If T is 0 the key is for the weights alone. */
struct dpt__rnn_key {
  int64_t cell, bias, directions, skip_input, batch_first, layers, input, hidden, projection, drops;
  int64_t type, tf32, kept, T, B; /* kept: for forward with a reserve, and for backward */
};
dpt__rnn_key dpt__rnn_key_of(const dpt__rnn_args *args, bool kept);

/* The whole network: all layers after the first are alike. */
struct dpt__cudnn_rnn_plan {
  dpt__cudnn_rnn_plan *next;
  uint64_t used;
  dpt__rnn_key key;
  dpt__rnn_layer_plan first, other;
  size_t between;          /* bytes of a layer's output, rounded up */
  int32_t *lengths = NULL; /* sequences' lengths in the current descriptors, or NULL */

  ~dpt__cudnn_rnn_plan();
  dpt__rnn_layer_plan &at(int layer) { return layer ? other : first; }
  size_t weight_at(int layer) const { /* bytes from the start of the weights, without gaps */
    return layer ? first.weight + (layer - 1) * other.weight : 0;
  }
  size_t reserve_at(int layer) const {
    return layer ? dpt__rnn_round(first.reserve) + (layer - 1) * dpt__rnn_round(other.reserve) : 0;
  }
  int layers() const { return (int)key.layers; }
  bool drops() const { return key.drops != 0; }
  /* Return the offsets of the output of `layer`, and of the next layer's input. */
  size_t given_at(int layer) const { return reserve_at(layers()) + layer * between; }
  size_t read_at(int layer) const {
    return drops() ? given_at(layers() - 1) + layer * between : given_at(layer);
  }
  size_t reserve() const { return read_at(layers() - 1); }
};
/* Returns the plan of args from a cache, created if new, with descriptors for these lengths. */
int dpt__cudnn_rnn_plan_of(dpt__plans<dpt__cudnn_rnn_plan> *plans, const dpt__cudnn_functions *call,
                           cudnnHandle_t handle, const dpt__rnn_args *args, bool kept,
                           dpt__cudnn_rnn_plan **plan);

/* The plan of a device's desk, which is locked for the lifetime of the answer. */
struct dpt__rnn_answer {
  std::unique_lock<std::mutex> guard;
  const dpt__cudnn_functions *call;
  cudnnHandle_t handle;
  dpt__cudnn_rnn_plan *plan;
};
int dpt__rnn_query(int index, const dpt__rnn_args *args, bool kept, dpt__rnn_answer *answer);

#endif
