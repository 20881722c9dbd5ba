/* graph.cu: engines of convolutions by cuDNN's graph interface (the rules are in graph.h). */
#include "cuda/cudnn/graph.h"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

typedef dpt__cudnn_functions functions;

enum : int64_t { ALIGNMENT = 16 };      /* the widest access of an engine */
enum : int64_t { IN = 1, WEIGHT, OUT }; /* the tensors' unique ids */

/* An operation's names in the interface. */
struct operation_names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t conv, in, weight, out, alpha, beta;
};
const operation_names passes[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};
static_assert(DPT__PASS_FORWARD == 0 && DPT__PASS_DATA == 1 && DPT__PASS_WEIGHT == 2,
              "the order of passes[]");

dpt__descriptor tensor(const functions *f, const dpt__conv_key *key, int64_t id, int n,
                       const int64_t *dims) {
  cudnnDataType_t type = dpt__cudnn_type(key->type);
  int64_t strides[5];
  strides[n - 1] = 1;
  for (int d = n - 2; d >= 0; d--) strides[d] = strides[d + 1] * dims[d + 1];
  dpt__descriptor t(f, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, n)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides, n)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, &id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, &key->graph)
      .end();
  return t;
}

dpt__descriptor convolution(const functions *f, const dpt__conv_key *key,
                            const dpt__conv_shape &shape) {
  cudnnDataType_t type = dpt__conv_sum_type(key);
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  dpt__descriptor c(f, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &type)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, &key->ndim)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, shape.stride, key->ndim)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, shape.dilation, key->ndim)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, shape.pad, key->ndim)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, shape.pad, key->ndim)
      .end();
  return c;
}

/* Returns the graph of one operation; cuDNN deduces groups from the channels. */
dpt__descriptor graph_of(const functions *f, cudnnHandle_t handle, const dpt__conv_key *key) {
  const operation_names &names = passes[key->pass];
  dpt__conv_shape shape = dpt__conv_shape_of(key);
  int n = (int)key->ndim + 2;
  dpt__descriptor in = tensor(f, key, IN, n, shape.in), out = tensor(f, key, OUT, n, shape.out);
  dpt__descriptor weight = tensor(f, key, WEIGHT, n, shape.weight);
  dpt__descriptor conv = convolution(f, key, shape);
  cudnnBackendDescriptor_t at[] = {conv.handle(), in.handle(), weight.handle(), out.handle()};
  double wide[2] = {1, 0};
  float narrow[2] = {1, 0};
  bool floats = key->type != DPT_F64;
  cudnnBackendAttributeType_t scalar = floats ? CUDNN_TYPE_FLOAT : CUDNN_TYPE_DOUBLE;
  dpt__descriptor operation(f, names.type);
  operation.set(names.conv, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at[0])
      .set(names.in, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at[1])
      .set(names.weight, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at[2])
      .set(names.out, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at[3])
      .set(names.alpha, scalar, floats ? (void *)&narrow[0] : &wide[0])
      .set(names.beta, scalar, floats ? (void *)&narrow[1] : &wide[1])
      .end();
  cudnnBackendDescriptor_t only = operation.handle();
  dpt__descriptor graph(f, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, &only)
      .end();
  return graph;
}

/* Returns the engines that cuDNN proposes, best first. */
std::vector<dpt__descriptor> proposals(const functions *f, const dpt__descriptor &graph,
                                       cudnnBackendHeurMode_t mode) {
  cudnnBackendDescriptor_t at = graph.handle();
  dpt__descriptor search(f, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  search.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode)
      .end();
  int64_t n = search.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, NULL, 0);
  std::vector<dpt__descriptor> list;
  std::vector<cudnnBackendDescriptor_t> places; /* cuDNN fills descriptors that exist */
  for (int64_t i = 0; i < n; i++) {
    list.emplace_back(f, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    places.push_back(list.back().handle());
  }
  if (n > 0)
    n = search.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, places.data(), n);
  list.resize(n > 0 ? (size_t)n : 0);
  return list;
}

/* Returns true if an engine with this property may be used. */
bool permits(const dpt__conv_key *key, cudnnBackendNumericalNote_t note) {
  switch (note) {
  case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
  case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
  case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: /* TF32 has TENSOR_CORE alone */
    return false;
  case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    return key->type != DPT_F32 || key->tf32;
  default:
    return true;
  }
}

/* Reads an engine's number; returns false if it may not be used. */
bool usable(const functions *f, const dpt__conv_key *key, const dpt__descriptor &config,
            int64_t *number) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  dpt__descriptor engine(f, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t at = engine.handle();
  if (config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at) != 1 ||
      engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, number) != 1)
    return false;
  int64_t n = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes,
                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  if (n < 0 || n > CUDNN_NUMERICAL_NOTE_TYPE_COUNT) return false;
  for (int64_t i = 0; i < n; i++)
    if (!permits(key, notes[i])) return false;
  return true;
}

/* Prepares an engine; returns false if cuDNN cannot. */
bool prepare(const functions *f, cudnnHandle_t handle, dpt__conv_graph *g) {
  cudnnBackendDescriptor_t config = g->config.handle();
  g->plan = dpt__descriptor(f, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  return g->plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle)
             .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, &config)
             .end() &&
         g->plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &g->memory) == 1;
}

} // namespace

bool dpt__graph_enabled(void) {
  static const bool enabled = [] {
    const char *text = getenv("DPT_CUDNN_GRAPH");
    return text && !strcmp(text, "1");
  }();
  return enabled;
}

int64_t dpt__graph_alignment(const void *in, const void *weight, const void *out) {
  uintptr_t bits = (uintptr_t)in | (uintptr_t)weight | (uintptr_t)out | ALIGNMENT;
  return (int64_t)(bits & -bits);
}

int dpt__graph_find(const functions *f, cudnnHandle_t handle, const dpt__conv_key *key,
                    size_t limit, dpt__conv_graph *list, int most) {
  dpt__descriptor graph = graph_of(f, handle, key);
  int n = 0;
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (dpt__descriptor &config : proposals(f, graph, mode)) {
      dpt__conv_graph &g = list[n];
      if (!usable(f, key, config, &g.engine)) continue;
      g.config = std::move(config);
      if (prepare(f, handle, &g) && (size_t)g.memory <= limit && ++n == most) return n;
    }
  return n;
}

cudnnStatus_t dpt__graph_run(const functions *f, cudnnHandle_t handle, const dpt__conv_graph *graph,
                             const dpt__conv_operands &o) {
  const int64_t ids[] = {IN, WEIGHT, OUT};
  void *const at[] = {o.in, o.weight, o.out};
  dpt__descriptor pack(f, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  if (!pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids, 3)
           .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, at, 3)
           .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &o.workspace)
           .end())
    return pack.failure();
  return f->cudnnBackendExecute(handle, graph->plan.handle(), pack.handle());
}
