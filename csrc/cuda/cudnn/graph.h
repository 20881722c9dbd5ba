/* graph.h: convolutions by cuDNN's graph interface: an operation, its engines, execution plans.
 *
 * Invariant: it serves the choice of plan.cu, as the legacy interface does, under the same rules:
 * an engine returns the same bits every time, and multiplies floats as floats unless TF32 is
 * allowed; it may transform the operands (Winograd, FFT). The result is overwritten (alpha 1,
 * beta 0). An engine that cuDNN cannot prepare is skipped, so nothing here fails: without an engine
 * the legacy interface is used.
 */
#ifndef DPT_CUDA_CUDNN_GRAPH_H
#define DPT_CUDA_CUDNN_GRAPH_H
#include "cuda/cudnn/plan.h"

#include <utility>

/* A descriptor of the graph interface. After a failure set, end and get do nothing. */
class dpt__descriptor {
  const dpt__cudnn_functions *call = NULL;
  cudnnBackendDescriptor_t at = NULL;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

public:
  dpt__descriptor() = default;
  dpt__descriptor(const dpt__cudnn_functions *f, cudnnBackendDescriptorType_t type) : call(f) {
    status = f->cudnnBackendCreateDescriptor(type, &at);
  }
  dpt__descriptor(dpt__descriptor &&from) { *this = std::move(from); }
  dpt__descriptor &operator=(dpt__descriptor &&from) {
    std::swap(call, from.call);
    std::swap(at, from.at);
    std::swap(status, from.status);
    return *this;
  }
  ~dpt__descriptor() {
    if (at &&
        dpt__cudnn_status(call->cudnnBackendDestroyDescriptor(at), "cudnnBackendDestroyDescriptor"))
      return;
  }
  cudnnBackendDescriptor_t handle() const { return at; }
  cudnnStatus_t failure() const { return status; }
  dpt__descriptor &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const void *values, int64_t count = 1) {
    if (!status) status = call->cudnnBackendSetAttribute(at, name, type, count, values);
    return *this;
  }
  /* Returns true if the descriptor is complete and cuDNN supports it. */
  bool end() {
    if (!status) status = call->cudnnBackendFinalize(at);
    return !status;
  }
  /* Reads up to `most` values; returns the number available, or -1 on failure. */
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, void *values,
              int64_t most = 1) const {
    int64_t count = -1;
    if (status || call->cudnnBackendGetAttribute(at, name, type, most, &count, values)) return -1;
    return count;
  }
};

/* An engine with its execution plan. */
struct dpt__conv_graph {
  dpt__descriptor config, plan;
  int64_t engine; /* its number among those for the operation */
  int64_t memory; /* bytes of its workspace */
};

/* Returns true if DPT_CUDNN_GRAPH=1 is set. */
bool dpt__graph_enabled(void);
/* Returns the alignment in bytes that the addresses have, at most 16. */
int64_t dpt__graph_alignment(const void *in, const void *weight, const void *out);
/* Fills `list` with up to `most` engines whose workspace has at most `limit` bytes, in the order of
 * cuDNN's heuristics; returns their number. */
int dpt__graph_find(const dpt__cudnn_functions *call, cudnnHandle_t handle,
                    const dpt__conv_key *key, size_t limit, dpt__conv_graph *list, int most);
/* Queues the convolution. */
cudnnStatus_t dpt__graph_run(const dpt__cudnn_functions *call, cudnnHandle_t handle,
                             const dpt__conv_graph *graph, const dpt__conv_operands &operands);

#endif
