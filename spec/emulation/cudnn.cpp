/* cudnn.cpp: cuDNN's functions for convolutions. The graph interface computes on the host; the
 * legacy one has no algorithm.
 *
 * Invariant: a call that cuDNN would reject is rejected: an attribute of the wrong type or count, a
 * descriptor that is changed after it was finalized or used before, shapes that do not fit, an
 * address with less alignment than promised. The heuristics list engines that dpt must not use
 * first; these compute wrong numbers.
 */
#include "cudnn.h"
#include "cuda/element.h"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

struct emulated_cudnn {
  cudaStream_t stream;
};

namespace {

/* ---- descriptors ---- */

struct content;
typedef std::shared_ptr<content> reference;
struct value {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;
  reference descriptor;
};
struct content {
  cudnnBackendDescriptorType_t type;
  bool final = false;
  int engine = -1; /* of an engine or its configuration */
  std::map<int, value> values;

  template <typename T> const T *all(int name) const {
    return (const T *)values.at(name).bytes.data();
  }
  template <typename T> T get(int name) const { return *all<T>(name); }
  int64_t count(int name) const { return values.at(name).count; }
  const reference &to(int name) const { return values.at(name).descriptor; }
};

std::mutex lock; /* guards alive */
std::map<cudnnBackendDescriptor_t, reference> alive;

/* Returns the content of a descriptor, or NULL if it does not exist. */
reference find(cudnnBackendDescriptor_t at) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = alive.find(at);
  return found == alive.end() ? nullptr : found->second;
}

size_t width_of(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4;
  }
}

/* An attribute that must be set, and its number of values. */
struct attribute {
  int name;
  cudnnBackendAttributeType_t type;
  int64_t least, most;
};

/* The attributes of an operation in the order: convolution, in, weight, out, alpha, beta. */
struct operation {
  cudnnBackendDescriptorType_t type;
  int conv, in, weight, out, alpha, beta;
};
const operation operations[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, 702, 704, 703, 705, 700, 701},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, 708, 710, 709, 711, 706, 707},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, 714, 716, 715, 717, 712, 713},
};
const operation *operation_of(int type) {
  for (const operation &o : operations)
    if (o.type == type) return &o;
  return NULL;
}

std::vector<attribute> attributes_of(int type) {
  if (const operation *o = operation_of(type)) {
    std::vector<attribute> list;
    for (int name : {o->conv, o->in, o->weight, o->out})
      list.push_back({name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1});
    for (int name : {o->alpha, o->beta}) list.push_back({name, CUDNN_TYPE_FLOAT, 1, 1});
    return list;
  }
  switch (type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1},
            {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, 5},
            {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, 5},
            {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, 1},
            {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, 1}};
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return {{CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1},
            {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, 1},
            {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, 1},
            {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, 3},
            {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, 3},
            {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, 3},
            {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, 3}};
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, 1},
            {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1}};
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1},
            {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, 1}};
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return {{CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, 1},
            {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1}};
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, 3},
            {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, 3},
            {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, 1}};
  default:
    return {};
  }
}

/* ---- convolutions ---- */

struct tensor {
  int64_t id, alignment, size[5]; /* missing leading spatial dimensions are 1 */
};
struct convolution {
  int pass, type;     /* of the elements, in dpt */
  bool rounds, wrong; /* rounds: floats to TF32 */
  tensor in, weight, out;
  int64_t pad[3], stride[3], dilation[3];
};

/* Returns dpt's element type. */
int type_of(int data_type) {
  switch (data_type) {
  case CUDNN_DATA_HALF:
    return DPT_F16;
  case CUDNN_DATA_BFLOAT16:
    return DPT_BF16;
  case CUDNN_DATA_FLOAT:
    return DPT_F32;
  default:
    return DPT_F64;
  }
}

bool describe_tensor(const content &c, int type, tensor *t) {
  int64_t n = c.count(CUDNN_ATTR_TENSOR_DIMENSIONS), dense = 1;
  const int64_t *size = c.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const int64_t *stride = c.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  bool right = type_of(c.get<int>(CUDNN_ATTR_TENSOR_DATA_TYPE)) == type;
  t->id = c.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  t->alignment = c.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  right = right && 16 % t->alignment == 0 && t->alignment >= (int64_t)dpt__dtype_size(type);
  for (int d = 0; d < 5; d++) t->size[d] = 1;
  for (int64_t d = n - 1; d >= 0; d--) {
    right = right && size[d] > 0 && stride[d] == dense;
    dense *= size[d];
    t->size[d < 2 ? d : d + 5 - n] = size[d];
  }
  return right && c.count(CUDNN_ATTR_TENSOR_STRIDES) == n;
}

/* Reads an operation; returns false if its parts do not fit. */
bool describe(const content &c, convolution *v) {
  const operation &o = *operation_of(c.type);
  const content &conv = *c.to(o.conv);
  v->pass = (int)(&o - operations);
  int sums = type_of(conv.get<int>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE));
  double alpha = sums == DPT_F64 ? c.get<double>(o.alpha) : c.get<float>(o.alpha);
  double beta = sums == DPT_F64 ? c.get<double>(o.beta) : c.get<float>(o.beta);
  v->type = type_of(c.to(o.in)->get<int>(CUDNN_ATTR_TENSOR_DATA_TYPE));
  bool right = alpha == 1 && beta == 0 && sums == dpt__compute_dtype(v->type) &&
               describe_tensor(*c.to(o.in), v->type, &v->in) &&
               describe_tensor(*c.to(o.weight), v->type, &v->weight) &&
               describe_tensor(*c.to(o.out), v->type, &v->out);
  int64_t n = conv.get<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  for (int d = 0; d < 3; d++) v->pad[d] = 0, v->stride[d] = v->dilation[d] = 1;
  for (int64_t d = 0; d < n; d++) {
    int64_t to = 3 - n + d;
    v->pad[to] = conv.all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS)[d];
    v->stride[to] = conv.all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES)[d];
    v->dilation[to] = conv.all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS)[d];
  }
  for (int d = 0; d < 3; d++) {
    int64_t room =
        v->in.size[2 + d] + 2 * v->pad[d] - 1 - v->dilation[d] * (v->weight.size[2 + d] - 1);
    right = right && room >= 0 && v->out.size[2 + d] == room / v->stride[d] + 1;
  }
  for (int name : {o.in, o.weight, o.out})
    right = right && c.to(name)->count(CUDNN_ATTR_TENSOR_DIMENSIONS) == n + 2;
  int64_t groups = v->in.size[1] / v->weight.size[1];
  return right && v->in.size[0] == v->out.size[0] && v->out.size[1] == v->weight.size[0] &&
         v->in.size[1] % v->weight.size[1] == 0 && v->out.size[1] % groups == 0 &&
         v->in.id != v->weight.id && v->in.id != v->out.id && v->weight.id != v->out.id;
}

double element(const convolution &v, const void *at, int64_t i) {
  double f = dpt__get_element(v.type, (const char *)at + (size_t)i * dpt__dtype_size(v.type));
  if (!v.rounds || v.type != DPT_F32 || !std::isfinite(f)) return f;
  int exponent;
  double mantissa = std::frexp(f, &exponent);
  return std::ldexp(std::nearbyint(mantissa * 2048), exponent - 11);
}

/* Computes a convolution with sums of doubles. */
void compute(const convolution &v, const void *in, const void *weight, const void *out) {
  const int64_t *I = v.in.size, *W = v.weight.size, *O = v.out.size;
  const int64_t planes = O[1] / (I[1] / W[1]); /* of a group */
  const tensor &to = v.pass == 0 ? v.out : v.pass == 1 ? v.in : v.weight;
  std::vector<double> sum((size_t)(to.size[0] * to.size[1] * to.size[2] * to.size[3] * to.size[4]));
  for (int64_t n = 0; n < O[0]; n++)
    for (int64_t o = 0; o < O[1]; o++)
      for (int64_t at = 0; at < O[2] * O[3] * O[4]; at++)
        for (int64_t c = 0; c < W[1]; c++)
          for (int64_t k = 0; k < W[2] * W[3] * W[4]; k++) {
            const int64_t y[] = {at / O[4] / O[3], at / O[4] % O[3], at % O[4]};
            const int64_t tap[] = {k / W[4] / W[3], k / W[4] % W[3], k % W[4]};
            int64_t i = n * I[1] + o / planes * W[1] + c;
            bool inside = true;
            for (int d = 0; d < 3; d++) {
              int64_t x = y[d] * v.stride[d] - v.pad[d] + tap[d] * v.dilation[d];
              inside = inside && x >= 0 && x < I[2 + d];
              i = i * I[2 + d] + x;
            }
            if (!inside) continue;
            int64_t w = (o * W[1] + c) * W[2] * W[3] * W[4] + k;
            int64_t r = (n * O[1] + o) * O[2] * O[3] * O[4] + at;
            if (v.pass == 0) sum[(size_t)r] += element(v, in, i) * element(v, weight, w);
            if (v.pass == 1) sum[(size_t)i] += element(v, out, r) * element(v, weight, w);
            if (v.pass == 2) sum[(size_t)w] += element(v, in, i) * element(v, out, r);
          }
  void *result = (void *)(v.pass == 0 ? out : v.pass == 1 ? in : weight);
  for (size_t i = 0; i < sum.size(); i++) {
    double s = v.wrong ? sum[i] * 1.01 + 0.1 : sum[i];
    dpt__put_element(v.type, (char *)result + i * dpt__dtype_size(v.type), s);
  }
}

/* ---- engines ---- */

enum { ATOMIC, HALF_SUMS, HALVES, TF32, BROKEN, TOO_BIG, WINOGRAD, PLAIN, ENGINES };
const std::vector<int> notes[ENGINES] = {
    {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
    {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION},
    {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
    {CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
    {},
    {},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD},
    {},
};
const int64_t workspaces[ENGINES] = {0, 0, 0, 0, 0, (int64_t)1 << 50, 5000, 0};

const content &operation_in(const reference &graph) {
  return *graph->to(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

/* Returns the engines that the heuristics propose: none where all kernels are 1. */
std::vector<int> engines_of(const content &search) {
  convolution v;
  describe(operation_in(search.to(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)), &v);
  if (v.weight.size[2] * v.weight.size[3] * v.weight.size[4] == 1) return {};
  if (search.get<int>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK) return {PLAIN};
  return {ATOMIC, HALF_SUMS, HALVES, TF32, BROKEN, TOO_BIG, WINOGRAD, PLAIN};
}

/* Checks a descriptor whose required attributes are set. */
cudnnStatus_t check(const content &c) {
  convolution v;
  cudnnStatus_t bad = CUDNN_STATUS_BAD_PARAM, missing = CUDNN_STATUS_NOT_SUPPORTED;
  if (operation_of(c.type)) return describe(c, &v) ? CUDNN_STATUS_SUCCESS : bad;
  switch (c.type) {
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: {
    int64_t n = c.get<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    for (int name : {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_DILATIONS,
                     CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
      if (c.count(name) != n) return bad;
    bool crossed = c.get<int>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION;
    return crossed ? CUDNN_STATUS_SUCCESS : missing;
  }
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: /* groups: the fast mode fails */
    describe(operation_in(c.to(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)), &v);
    return c.get<int>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_A &&
                   v.in.size[1] != v.weight.size[1]
               ? CUDNN_STATUS_INTERNAL_ERROR
               : CUDNN_STATUS_SUCCESS;
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
    const content &config = *c.to(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    describe(operation_in(config.to(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)), &v);
    bool aligned = v.in.alignment == 16 && v.weight.alignment == 16 && v.out.alignment == 16;
    return config.engine == BROKEN || (config.engine == WINOGRAD && !aligned)
               ? missing
               : CUDNN_STATUS_SUCCESS;
  }
  default:
    return CUDNN_STATUS_SUCCESS;
  }
}

cudnnStatus_t answer(int64_t n, size_t width, const void *from, int64_t most, int64_t *count,
                     void *values) {
  *count = n;
  if (n > 0 && most > 0) memcpy(values, from, width * (size_t)(n < most ? n : most));
  return CUDNN_STATUS_SUCCESS;
}

/* Makes an existing descriptor an engine, or the configuration of one. */
cudnnStatus_t fill(cudnnBackendDescriptor_t at, cudnnBackendDescriptorType_t type, int engine,
                   const reference &graph) {
  reference c = find(at);
  if (!c || c->type != type || c->final) return CUDNN_STATUS_BAD_PARAM;
  c->engine = engine;
  c->values[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH].descriptor = graph;
  c->final = true;
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

/* ---- functions ---- */

size_t cudnnGetVersion(void) { return CUDNN_MAJOR * 10000; }
const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_SUCCESS";
}
void cudnnGetLastErrorString(char *message, size_t size) {
  if (size) *message = 0;
}
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new emulated_cudnn();
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor) {
  reference c = std::make_shared<content>();
  c->type = type;
  std::lock_guard<std::mutex> guard(lock);
  alive[ *descriptor = c.get()] = c;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  std::lock_guard<std::mutex> guard(lock);
  return alive.erase(descriptor) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values) {
  reference c = find(descriptor);
  if (!c || c->final || !values) return CUDNN_STATUS_BAD_PARAM;
  for (const attribute &a : attributes_of(c->type)) {
    bool scalar = operation_of(c->type) && a.type == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE;
    if (a.name != name || (a.type != type && !scalar) || count < a.least || count > a.most)
      continue;
    value v = {type, count, {}, nullptr};
    v.bytes.assign((const char *)values, (const char *)values + count * width_of(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      v.descriptor = find(*(cudnnBackendDescriptor_t *)values);
      if (!v.descriptor || !v.descriptor->final) return CUDNN_STATUS_BAD_PARAM;
    }
    c->values[name] = v;
    return CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  reference c = find(descriptor);
  if (!c || c->final) return CUDNN_STATUS_BAD_PARAM;
  std::vector<attribute> list = attributes_of(c->type);
  bool whole = !list.empty(); /* engines come from the heuristics */
  for (const attribute &a : list) whole = whole && c->values.count(a.name);
  if (const operation *o = whole ? operation_of(c->type) : NULL) {
    bool wide = c->to(o->conv)->get<int>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == CUDNN_DATA_DOUBLE;
    for (int name : {o->alpha, o->beta})
      whole = whole && (c->values[name].type == CUDNN_TYPE_DOUBLE) == wide;
  }
  cudnnStatus_t status = whole ? check(*c) : CUDNN_STATUS_BAD_PARAM;
  c->final = !status;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most,
                                       int64_t *count, void *values) {
  reference c = find(descriptor);
  if (!c || !c->final) return CUDNN_STATUS_BAD_PARAM;
  reference graph = c->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR ||
                            c->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
                        ? c->to(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
                        : nullptr;
  switch ((int)c->type * 10000 + (int)name) {
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR * 10000 + CUDNN_ATTR_ENGINEHEUR_RESULTS: {
    std::vector<int> list = engines_of(*c);
    *count = (int64_t)list.size();
    for (int64_t i = 0; i < most && i < *count; i++)
      if (fill(((cudnnBackendDescriptor_t *)values)[i], CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
               list[(size_t)i], graph))
        return CUDNN_STATUS_BAD_PARAM;
    return type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
  }
  case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR * 10000 + CUDNN_ATTR_ENGINECFG_ENGINE:
    *count = 1;
    if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR || most != 1) return CUDNN_STATUS_BAD_PARAM;
    return fill(*(cudnnBackendDescriptor_t *)values, CUDNN_BACKEND_ENGINE_DESCRIPTOR, c->engine,
                graph);
  case CUDNN_BACKEND_ENGINE_DESCRIPTOR * 10000 + CUDNN_ATTR_ENGINE_GLOBAL_INDEX: {
    int64_t number = c->engine;
    if (type != CUDNN_TYPE_INT64) return CUDNN_STATUS_BAD_PARAM;
    return answer(1, sizeof number, &number, most, count, values);
  }
  case CUDNN_BACKEND_ENGINE_DESCRIPTOR * 10000 + CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
    const std::vector<int> &list = notes[c->engine];
    if (type != CUDNN_TYPE_NUMERICAL_NOTE) return CUDNN_STATUS_BAD_PARAM;
    return answer((int64_t)list.size(), sizeof(int), list.data(), most, count, values);
  }
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR * 10000 + CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    if (type != CUDNN_TYPE_INT64) return CUDNN_STATUS_BAD_PARAM;
    return answer(1, sizeof(int64_t),
                  &workspaces[c->to(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine], most, count,
                  values);
  default:
    return CUDNN_STATUS_BAD_PARAM;
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  reference p = find(plan), v = find(pack);
  if (!p || !v || !p->final || !v->final || p->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      v->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR ||
      p->get<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) != handle || !handle->stream)
    return CUDNN_STATUS_BAD_PARAM;
  const reference &config = p->to(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  convolution c;
  describe(operation_in(config->to(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)), &c);
  c.rounds = config->engine == TF32;
  c.wrong = config->engine < TF32; /* never to be used */
  const tensor *tensors[] = {&c.in, &c.weight, &c.out};
  void *at[4] = {};
  at[3] = v->get<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < 3; i++)
      if (v->all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)[i] == tensors[t]->id)
        at[t] = v->all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)[i];
  for (int t = 0; t < 3; t++)
    if (!at[t] || (uintptr_t)at[t] % (uintptr_t)tensors[t]->alignment)
      return CUDNN_STATUS_BAD_PARAM;
  size_t bytes = (size_t)workspaces[config->engine];
  if (bytes && (!at[3] || (uintptr_t)at[3] % 256)) return CUDNN_STATUS_BAD_PARAM;
  auto work = [=] {
    if (bytes) memset(at[3], 0xa5, bytes); /* nothing else may be there */
    compute(c, at[0], at[1], at[2]);
  };
  cudaError_t error =
      emulated_do(handle->stream, work, "cudnnBackendExecute", emulated_owners(at, sizeof at));
  return error ? CUDNN_STATUS_INTERNAL_ERROR : CUDNN_STATUS_SUCCESS;
}

/* The legacy interface: functions of descriptors do nothing, others support nothing. */
extern "C" {
static cudnnStatus_t emulated_nothing(void) { return CUDNN_STATUS_SUCCESS; }
static cudnnStatus_t emulated_unsupported(void) { return CUDNN_STATUS_NOT_SUPPORTED; }
}
#pragma GCC diagnostic ignored "-Wattribute-alias"
#define DPT_LEGACY(name, meaning) extern "C" decltype(name) name __attribute__((alias(#meaning)));
DPT_LEGACY(cudnnCreateTensorDescriptor, emulated_nothing)
DPT_LEGACY(cudnnDestroyTensorDescriptor, emulated_nothing)
DPT_LEGACY(cudnnSetTensorNdDescriptor, emulated_nothing)
DPT_LEGACY(cudnnCreateFilterDescriptor, emulated_nothing)
DPT_LEGACY(cudnnDestroyFilterDescriptor, emulated_nothing)
DPT_LEGACY(cudnnSetFilterNdDescriptor, emulated_nothing)
DPT_LEGACY(cudnnCreateConvolutionDescriptor, emulated_nothing)
DPT_LEGACY(cudnnDestroyConvolutionDescriptor, emulated_nothing)
DPT_LEGACY(cudnnSetConvolutionNdDescriptor, emulated_nothing)
DPT_LEGACY(cudnnSetConvolutionGroupCount, emulated_nothing)
DPT_LEGACY(cudnnSetConvolutionMathType, emulated_nothing)
DPT_LEGACY(cudnnGetConvolutionForwardAlgorithm_v7, emulated_unsupported)
DPT_LEGACY(cudnnGetConvolutionBackwardDataAlgorithm_v7, emulated_unsupported)
DPT_LEGACY(cudnnGetConvolutionBackwardFilterAlgorithm_v7, emulated_unsupported)
DPT_LEGACY(cudnnFindConvolutionForwardAlgorithmEx, emulated_unsupported)
DPT_LEGACY(cudnnFindConvolutionBackwardDataAlgorithmEx, emulated_unsupported)
DPT_LEGACY(cudnnFindConvolutionBackwardFilterAlgorithmEx, emulated_unsupported)
DPT_LEGACY(cudnnGetConvolutionForwardWorkspaceSize, emulated_unsupported)
DPT_LEGACY(cudnnGetConvolutionBackwardDataWorkspaceSize, emulated_unsupported)
DPT_LEGACY(cudnnGetConvolutionBackwardFilterWorkspaceSize, emulated_unsupported)
DPT_LEGACY(cudnnConvolutionForward, emulated_unsupported)
DPT_LEGACY(cudnnConvolutionBackwardData, emulated_unsupported)
DPT_LEGACY(cudnnConvolutionBackwardFilter, emulated_unsupported)
