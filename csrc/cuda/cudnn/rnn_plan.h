/* rnn_plan.h: what cuDNN gets of a recurrent network, and where its memory is cut.
 *
 * Invariant: cuDNN is asked for one layer at a time (both directions), so that dropout between
 * layers is dpt's own: what it draws does not depend on the device or on how a batch is split. The
 * weights are the layers' weight spaces behind each other, as cuDNN says they are: within one,
 * offsets come from cudnnGetRNNWeightParams alone. A reserve holds the layers' reserves, then what
 * each layer but the last returns, then (with dropout) what the next one read of it. Plans are
 * kept: those of a native stream for its kernels, those of a device for who launches them.
 */
#ifndef DPT_CUDA_CUDNN_RNN_PLAN_H
#define DPT_CUDA_CUDNN_RNN_PLAN_H
#include "cuda/cudnn/handle.h"
extern "C" {
#include "rnn/rnn.h"
}

/* Every part of a reserve begins at a multiple of this. */
enum { DPT__RNN_ALIGN = 256 };
static inline size_t dpt__rnn_round(size_t bytes) {
  return (bytes + DPT__RNN_ALIGN - 1) / DPT__RNN_ALIGN * DPT__RNN_ALIGN;
}
static inline size_t dpt__rnn_element(int type) {
  return type == DPT_F32 ? sizeof(float) : sizeof(double);
}

/* A layer: its descriptors, which end with it, and the bytes that cuDNN wants. */
struct dpt__rnn_layer_plan {
  const dpt__cudnn_functions *call = NULL;
  cudnnRNNDescriptor_t rnn = NULL;
  cudnnRNNDataDescriptor_t x = NULL, y = NULL;
  cudnnTensorDescriptor_t h = NULL, c = NULL; /* c: of an LSTM alone */
  size_t weight = 0, work = 0, reserve = 0;

  dpt__rnn_layer_plan() = default;
  dpt__rnn_layer_plan(const dpt__rnn_layer_plan &) = delete;
  dpt__rnn_layer_plan &operator=(const dpt__rnn_layer_plan &) = delete;
  ~dpt__rnn_layer_plan();
};

/* What the descriptors of a network and its data depend on, but for the lengths of sequences. All
 * bytes are set. Without steps (T is 0) it is that of the weights alone. */
struct dpt__rnn_key {
  int64_t cell, bias, directions, skip_input, batch_first, layers, input, hidden, projection, drops;
  int64_t type, tf32, kept, T, B; /* kept: for forward with a reserve, and for backward */
};
dpt__rnn_key dpt__rnn_key_of(const dpt__rnn_args *args, bool kept);

/* The whole network: all layers behind the first are alike. */
struct dpt__cudnn_rnn_plan {
  dpt__cudnn_rnn_plan *next;
  uint64_t used;
  dpt__rnn_key key;
  dpt__rnn_layer_plan first, other;
  size_t between;          /* bytes of what a layer passes to the next, rounded up */
  int32_t *lengths = NULL; /* of the sequences that the descriptors are for now, or NULL */

  ~dpt__cudnn_rnn_plan();
  dpt__rnn_layer_plan &at(int layer) { return layer ? other : first; }
  size_t weight_at(int layer) const { /* bytes from the weights' begin, without gaps */
    return layer ? first.weight + (layer - 1) * other.weight : 0;
  }
  size_t reserve_at(int layer) const {
    return layer ? dpt__rnn_round(first.reserve) + (layer - 1) * dpt__rnn_round(other.reserve) : 0;
  }
  int layers() const { return (int)key.layers; }
  bool drops() const { return key.drops != 0; }
  /* What `layer` returns; what the one behind it read. */
  size_t given_at(int layer) const { return reserve_at(layers()) + layer * between; }
  size_t read_at(int layer) const {
    return drops() ? given_at(layers() - 1) + layer * between : given_at(layer);
  }
  size_t reserve() const { return read_at(layers() - 1); }
};
/* The plan of args in a cache, made where it is new, with descriptors for these lengths. */
int dpt__cudnn_rnn_plan_of(dpt__plans<dpt__cudnn_rnn_plan> *plans, const dpt__cudnn_functions *call,
                           cudnnHandle_t handle, const dpt__rnn_args *args, bool kept,
                           dpt__cudnn_rnn_plan **plan);

/* That of the device's desk, which is locked for as long as the answer lives. */
struct dpt__rnn_answer {
  std::unique_lock<std::mutex> guard;
  const dpt__cudnn_functions *call;
  cudnnHandle_t handle;
  dpt__cudnn_rnn_plan *plan;
};
int dpt__rnn_ask(int index, const dpt__rnn_args *args, bool kept, dpt__rnn_answer *answer);

#endif
