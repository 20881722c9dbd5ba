/* plan.cu: descriptors of convolutions, and the choice of algorithms (the rules are in plan.h). */
#include "cuda/cudnn/graph.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum { MOST = 32 };   /* algorithms requested from cuDNN */
enum { ENGINES = 8 }; /* engines of the graph interface that are measured */
enum : size_t { USUAL_WORKSPACE = 1 << 30 };

/* ---- the three passes under one interface ---- */

typedef dpt__cudnn_functions functions;
typedef dpt__cudnn_conv_plan plan;
typedef dpt__conv_operands operands;

/* A pass: its algorithms, functions, and tensors in the order that the functions expect: two
 * inputs, then the output. */
struct forward {
  typedef cudnnConvolutionFwdAlgo_t algorithm;
  typedef cudnnConvolutionFwdAlgoPerf_t result;
  static const int count = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
  static constexpr auto guess = &functions::cudnnGetConvolutionForwardAlgorithm_v7;
  static constexpr auto measure = &functions::cudnnFindConvolutionForwardAlgorithmEx;
  static constexpr auto workspace = &functions::cudnnGetConvolutionForwardWorkspaceSize;
  template <typename F> static cudnnStatus_t with(const plan *p, const operands &o, F f) {
    return f(p->in, o.in, p->weight, o.weight, p->out, o.out);
  }
};
struct backward_data {
  typedef cudnnConvolutionBwdDataAlgo_t algorithm;
  typedef cudnnConvolutionBwdDataAlgoPerf_t result;
  static const int count = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
  static constexpr auto guess = &functions::cudnnGetConvolutionBackwardDataAlgorithm_v7;
  static constexpr auto measure = &functions::cudnnFindConvolutionBackwardDataAlgorithmEx;
  static constexpr auto workspace = &functions::cudnnGetConvolutionBackwardDataWorkspaceSize;
  template <typename F> static cudnnStatus_t with(const plan *p, const operands &o, F f) {
    return f(p->weight, o.weight, p->out, o.out, p->in, o.in);
  }
};
struct backward_weight {
  typedef cudnnConvolutionBwdFilterAlgo_t algorithm;
  typedef cudnnConvolutionBwdFilterAlgoPerf_t result;
  static const int count = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
  static constexpr auto guess = &functions::cudnnGetConvolutionBackwardFilterAlgorithm_v7;
  static constexpr auto measure = &functions::cudnnFindConvolutionBackwardFilterAlgorithmEx;
  static constexpr auto workspace = &functions::cudnnGetConvolutionBackwardFilterWorkspaceSize;
  template <typename F> static cudnnStatus_t with(const plan *p, const operands &o, F f) {
    return f(p->in, o.in, p->out, o.out, p->weight, o.weight);
  }
};

template <typename Pass>
cudnnStatus_t workspace(const functions *f, cudnnHandle_t handle, const plan *p,
                        typename Pass::algorithm algorithm, size_t *bytes) {
  return Pass::with(p, operands(), [&](auto x, void *, auto y, void *, auto r, void *) {
    return (f->*Pass::workspace)(handle, x, y, p->conv, r, algorithm, bytes);
  });
}

/* ---- the choice ---- */

bool short_floats(const dpt__conv_key *key) { return key->type != DPT_F32 || key->tf32; }

/* Returns the math type that permits all allowed algorithms. */
cudnnMathType_t math_of(const dpt__conv_key *key) {
  if (dpt__is_reduced((int)key->type)) return CUDNN_TENSOR_OP_MATH;
  return short_floats(key) ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

/* Picks the first allowed algorithm of a list that is sorted best first. If float arithmetic is
 * required and an entry has the default math type, its math type is set to FMA and the size of its
 * workspace is queried again, because it may differ. */
template <typename Pass>
int pick(const dpt__cudnn_functions *f, cudnnHandle_t handle, dpt__cudnn_conv_plan *plan,
         const typename Pass::result *list, int n, size_t limit) {
  bool exact = !short_floats(&plan->key);
  plan->works = false;
  for (int i = 0; i < n && !plan->works; i++) {
    size_t bytes = list[i].memory;
    if (list[i].status != CUDNN_STATUS_SUCCESS || list[i].determinism != CUDNN_DETERMINISTIC ||
        (exact && list[i].mathType != CUDNN_FMA_MATH && list[i].mathType != CUDNN_DEFAULT_MATH))
      continue;
    DPT__CUDNN(
        f->cudnnSetConvolutionMathType(plan->conv, exact ? CUDNN_FMA_MATH : list[i].mathType));
    if (exact && list[i].mathType != CUDNN_FMA_MATH &&
        workspace<Pass>(f, handle, plan, list[i].algo, &bytes) != CUDNN_STATUS_SUCCESS)
      continue;
    if (bytes > limit) continue;
    plan->works = true;
    plan->algorithm = (int)list[i].algo;
    plan->memory = bytes;
  }
  return 0;
}

/* Computes the limit of a workspace in bytes. */
int limit_of(const dpt__conv_key *key, size_t *limit) {
  size_t available, total;
  DPT__CUDA(cudaMemGetInfo(&available, &total));
  *limit = available - available / 10;
  if (key->search & DPT_SEARCH_FASTEST) return 0;
  if (*limit > available / 2) *limit = available / 2;
  if (*limit > USUAL_WORKSPACE) *limit = USUAL_WORKSPACE;
  return 0;
}

/* Returns the workspace of the most demanding algorithm within the limit. */
template <typename Pass>
size_t wanted(const dpt__cudnn_functions *f, cudnnHandle_t handle, const dpt__cudnn_conv_plan *plan,
              size_t limit) {
  size_t most = 0, bytes;
  for (int i = 0; i < Pass::count; i++) {
    cudnnStatus_t status = workspace<Pass>(f, handle, plan, (typename Pass::algorithm)i, &bytes);
    if (status == CUDNN_STATUS_SUCCESS && bytes <= limit && bytes > most) most = bytes;
  }
  return most;
}

/* Picks an algorithm by benchmarking. */
template <typename Pass>
int measure(const dpt__cudnn_functions *f, cudnnHandle_t handle, dpt__cudnn_conv_plan *plan,
            const operands &o) {
  typename Pass::result list[MOST];
  int n = 0;
  size_t bytes = wanted<Pass>(f, handle, plan, o.capacity);
  cudnnStatus_t status =
      Pass::with(plan, o, [&](auto x, void *x_at, auto y, void *y_at, auto r, void *r_at) {
        return (f->*Pass::measure)(handle, x, x_at, y, y_at, plan->conv, r, r_at, MOST, &n, list,
                                   o.workspace, bytes);
      });
  if (!dpt__cudnn_rejected(status)) DPT__CUDNN(status);
  return pick<Pass>(f, handle, plan, list, n, bytes);
}

/* Picks an algorithm by cuDNN's heuristics. */
template <typename Pass>
int guess(const dpt__cudnn_functions *f, cudnnHandle_t handle, dpt__cudnn_conv_plan *plan,
          size_t limit) {
  typename Pass::result list[MOST];
  int n = 0;
  cudnnStatus_t status =
      Pass::with(plan, operands(), [&](auto x, void *, auto y, void *, auto r, void *) {
        return (f->*Pass::guess)(handle, x, y, plan->conv, r, MOST, &n, list);
      });
  if (!dpt__cudnn_rejected(status)) DPT__CUDNN(status);
  return pick<Pass>(f, handle, plan, list, n, limit);
}

/* Picks an algorithm of the legacy interface. measures: tries benchmarking first. *most: see
 * choose. */
template <typename Pass>
int choose_of(const dpt__cudnn_functions *f, cudnnHandle_t handle, dpt__cudnn_conv_plan *plan,
              const operands &o, bool measures, size_t *most) {
  DPT__CUDNN(f->cudnnSetConvolutionMathType(plan->conv, math_of(&plan->key)));
  if (most) *most = wanted<Pass>(f, handle, plan, o.capacity);
  if (measures && measure<Pass>(f, handle, plan, o)) return 1;
  return measures && plan->works ? 0 : guess<Pass>(f, handle, plan, o.capacity);
}

/* Picks the fastest of n engines. */
int measure(dpt__context *context, const dpt__cudnn_functions *f, cudnnHandle_t handle,
            const dpt__conv_graph *list, int n, const operands &o, int *best) {
  float shortest = INFINITY, milliseconds;
  *best = -1;
  for (int i = 0; i < n; i++) {
    cudnnStatus_t status = dpt__graph_run(f, handle, &list[i], o);
    if (dpt__cudnn_rejected(status)) continue;
    DPT__CUDNN(status);
    auto once = [&] {
      return dpt__cudnn_status(dpt__graph_run(f, handle, &list[i], o), "cudnnBackendExecute");
    };
    if (dpt__conv_time(context, once, &milliseconds)) return 1;
    if (milliseconds < shortest) shortest = milliseconds, *best = i;
  }
  return 0;
}

/* Picks an engine of the graph interface; plan->graph is NULL if there is none. The parameters are
 * those of choose. */
int choose_engine(dpt__context *queue, const dpt__cudnn_functions *f, cudnnHandle_t handle,
                  dpt__cudnn_conv_plan *plan, const operands &o, size_t *most) {
  dpt__conv_graph list[ENGINES];
  int n = dpt__graph_find(f, handle, &plan->key, o.capacity, list, queue || most ? ENGINES : 1);
  int best = n ? 0 : -1;
  delete plan->graph;
  plan->graph = NULL;
  if (queue && measure(queue, f, handle, list, n, o, &best)) return 1;
  for (int i = 0; most && i < n; i++)
    if ((size_t)list[i].memory > *most) *most = (size_t)list[i].memory;
  if (best < 0) return 0;
  plan->graph = new dpt__conv_graph(std::move(list[best]));
  plan->works = true;
  plan->aside = plan->key.pass == DPT__PASS_WEIGHT;
  plan->memory = (size_t)plan->graph->memory;
  return 0;
}

/* Picks an engine or an algorithm. queue: benchmarks on these operands; NULL: takes cuDNN's choice.
 * *most, unless NULL: set to the bytes within the capacity that benchmarking may use. */
int choose(dpt__context *queue, const dpt__cudnn_functions *f, cudnnHandle_t handle,
           dpt__cudnn_conv_plan *plan, const operands &o, size_t *most) {
  bool measures = queue != NULL;
  if (most) *most = 0;
  if (plan->key.graph && choose_engine(queue, f, handle, plan, o, most)) return 1;
  if (plan->graph) return 0;
  if (plan->key.pass == DPT__PASS_FORWARD)
    return choose_of<forward>(f, handle, plan, o, measures, most);
  if (plan->key.pass == DPT__PASS_DATA)
    return choose_of<backward_data>(f, handle, plan, o, measures, most);
  return choose_of<backward_weight>(f, handle, plan, o, measures, most);
}

void print(const dpt__cudnn_conv_plan *plan) {
  static const char *const names[] = {"forward", "backward data", "backward weight"};
  const dpt__conv_key *k = &plan->key;
  const int64_t *in = k->slide.in, *kernel = k->slide.kernel;
  fprintf(stderr, "cudnn: %s, %lld images of %lldx%lldx%lldx%lld, %lld planes by %lldx%lldx%lld: ",
          names[k->pass], (long long)k->N, (long long)k->I, (long long)in[0], (long long)in[1],
          (long long)in[2], (long long)k->O, (long long)kernel[0], (long long)kernel[1],
          (long long)kernel[2]);
  if (plan->graph)
    fprintf(stderr, "engine %lld with %zu bytes\n", (long long)plan->graph->engine, plan->memory);
  else if (plan->works)
    fprintf(stderr, "algorithm %d with %zu bytes\n", plan->algorithm, plan->memory);
  else
    fprintf(stderr, "no algorithm, computed by columns and products\n");
}

/* ---- descriptors ---- */

void narrow(int n, const int64_t *from, int *to) {
  for (int i = 0; i < n; i++) to[i] = (int)from[i];
}

/* Sets a descriptor to a dense tensor. */
cudnnStatus_t set_tensor(const dpt__cudnn_functions *f, cudnnTensorDescriptor_t tensor,
                         cudnnDataType_t type, int n, const int64_t *sizes) {
  int dims[5], strides[5];
  narrow(n, sizes, dims);
  strides[n - 1] = 1;
  for (int d = n - 2; d >= 0; d--) strides[d] = strides[d + 1] * dims[d + 1];
  return f->cudnnSetTensorNdDescriptor(tensor, type, n, dims, strides);
}

cudnnStatus_t fill(const dpt__cudnn_functions *f, dpt__cudnn_conv_plan *plan) {
  const dpt__conv_key *k = &plan->key;
  cudnnDataType_t type = dpt__cudnn_type(k->type);
  dpt__conv_shape shape = dpt__conv_shape_of(k);
  int ndim = (int)k->ndim, n = ndim + 2, weight[5], pad[3], stride[3], dilation[3];
  narrow(n, shape.weight, weight);
  narrow(ndim, shape.pad, pad);
  narrow(ndim, shape.stride, stride);
  narrow(ndim, shape.dilation, dilation);
  cudnnStatus_t status = set_tensor(f, plan->in, type, n, shape.in);
  if (!status) status = set_tensor(f, plan->out, type, n, shape.out);
  if (!status)
    status = f->cudnnSetFilterNdDescriptor(plan->weight, type, CUDNN_TENSOR_NCHW, n, weight);
  if (!status)
    status = f->cudnnSetConvolutionNdDescriptor(plan->conv, ndim, pad, stride, dilation,
                                                CUDNN_CROSS_CORRELATION, dpt__conv_sum_type(k));
  if (!status) status = f->cudnnSetConvolutionGroupCount(plan->conv, (int)k->groups);
  return status;
}

int create(const dpt__cudnn_functions *f, dpt__cudnn_conv_plan *plan) {
  DPT__CUDNN(f->cudnnCreateTensorDescriptor(&plan->in));
  DPT__CUDNN(f->cudnnCreateTensorDescriptor(&plan->out));
  DPT__CUDNN(f->cudnnCreateFilterDescriptor(&plan->weight));
  DPT__CUDNN(f->cudnnCreateConvolutionDescriptor(&plan->conv));
  cudnnStatus_t status = fill(f, plan);
  if (!dpt__cudnn_rejected(status)) DPT__CUDNN(status);
  plan->works = status == CUDNN_STATUS_SUCCESS;
  return 0;
}

int destroy(const dpt__cudnn_functions *f, dpt__cudnn_conv_plan *plan) {
  delete plan->graph;
  plan->graph = NULL;
  if (plan->in) DPT__CUDNN(f->cudnnDestroyTensorDescriptor(plan->in));
  if (plan->out) DPT__CUDNN(f->cudnnDestroyTensorDescriptor(plan->out));
  if (plan->weight) DPT__CUDNN(f->cudnnDestroyFilterDescriptor(plan->weight));
  if (plan->conv) DPT__CUDNN(f->cudnnDestroyConvolutionDescriptor(plan->conv));
  return 0;
}

} // namespace

dpt__conv_key dpt__conv_key_of(const struct dpt__convolution_args *a) {
  dpt__conv_key key;
  memset(&key, 0, sizeof key);
  key.type = a->type;
  key.param_type = a->pass == DPT__PASS_WEIGHT ? a->param_type : a->type;
  key.tf32 = a->tf32;
  key.search = a->search & ~DPT_SEARCH_VERBOSE;
  key.pass = a->pass;
  key.graph = dpt__graph_enabled() ? dpt__graph_alignment(a->in, a->weight, a->out) : 0;
  key.ndim = a->ndim < 2 ? 2 : a->ndim;
  key.N = a->N;
  key.I = a->I;
  key.O = a->O;
  key.groups = a->groups;
  key.slide = a->slide;
  return key;
}

dpt__conv_shape dpt__conv_shape_of(const dpt__conv_key *k) {
  dpt__conv_shape shape = {{k->N, k->I}, {k->O, k->I / k->groups}, {k->N, k->O}, {}, {}, {}};
  for (int d = 0, from = 3 - (int)k->ndim; from < 3; d++, from++) {
    shape.in[2 + d] = k->slide.in[from];
    shape.weight[2 + d] = k->slide.kernel[from];
    shape.out[2 + d] = k->slide.out[from];
    shape.pad[d] = k->slide.pad[from];
    shape.stride[d] = k->slide.stride[from];
    shape.dilation[d] = k->slide.dilation[from];
  }
  return shape;
}

cudnnDataType_t dpt__conv_sum_type(const dpt__conv_key *key) {
  return dpt__cudnn_type(dpt__compute_dtype((int)key->type));
}

int dpt__conv_describe(const dpt__cudnn_functions *f, const dpt__conv_key *key,
                       dpt__cudnn_conv_plan **result) {
  dpt__cudnn_conv_plan *plan = (dpt__cudnn_conv_plan *)calloc(1, sizeof *plan);
  if (!plan) return dpt__cuda_fail("no host memory for a plan");
  plan->key = *key;
  plan->aside = key->param_type != key->type; /* cuDNN has one type for all tensors */
  if (create(f, plan)) {
    dpt__conv_drop(f, plan);
    return 1;
  }
  *result = plan;
  return 0;
}

void dpt__conv_drop(const dpt__cudnn_functions *f, dpt__cudnn_conv_plan *plan) {
  if (destroy(f, plan)) return; /* on failure the plan is leaked and not touched again */
  free(plan);
}

bool dpt__conv_competes(const dpt__conv_key *key) {
  int64_t image = key->I * dpt__volume(key->slide.kernel) * dpt__volume(key->slide.out);
  return key->groups == 1 && image <= DPT__COLUMNS;
}

size_t dpt__conv_weight_bytes(const dpt__conv_key *key) {
  return (size_t)(key->O * (key->I / key->groups) * dpt__volume(key->slide.kernel)) *
         dpt__dtype_size((int)key->param_type);
}

/* Creates a plan for the native stream. */
static int plan_make(dpt__context *context, const dpt__cudnn_functions *f, cudnnHandle_t handle,
                     const dpt__conv_key *key, const operands &o, dpt__cudnn_conv_plan **plan) {
  /* while a graph is recorded nothing can be measured: that would wait for the native stream */
  bool measures = (key->search & DPT_SEARCH_BENCHMARK) && !dpt__native_stream_of(context)->captures;
  if (dpt__conv_describe(f, key, plan)) return 1;
  if (!(*plan)->works) return 0;
  /* a graph's plan is not measured later, so the desk reserves no memory for that */
  bool found = (key->search & DPT_SEARCH_BENCHMARK) && !measures;
  if (choose(measures ? context : NULL, f, handle, *plan, o, NULL) ||
      (found && dpt__conv_found(context, *plan))) {
    dpt__conv_drop(f, *plan);
    return 1;
  }
  (*plan)->fresh = measures;
  return 0;
}

int dpt__cudnn_conv_plan_of(dpt__context *context, const dpt__conv_key *key, bool verbose,
                            operands o, dpt__cudnn_conv_plan **result) {
  const dpt__cudnn_functions *f;
  dpt__cudnn *cudnn;
  if (dpt__cudnn_begin(context, &f, &cudnn)) return 1;
  dpt__cudnn_conv_plan *plan = *result = cudnn->convolutions.find(*key);
  if (plan)
    return plan->works && plan->memory > o.capacity ? choose(NULL, f, cudnn->handle, plan, o, NULL)
                                                    : 0;
  if (plan_make(context, f, cudnn->handle, key, o, &plan)) return 1;
  if (verbose) print(plan);
  cudnn->convolutions.keep(plan, [&](dpt__cudnn_conv_plan *old) { dpt__conv_drop(f, old); });
  *result = plan;
  return 0;
}

/* ---- the desk ---- */

/* tight: memory for the preferred algorithm cannot be allocated. */
static int plan_decide(const dpt__cudnn_functions *f, cudnnHandle_t handle, bool tight,
                       dpt__conv_need *need) {
  operands none = {};
  dpt__cudnn_conv_plan *plan;
  size_t most = 0;
  if ((!tight && limit_of(&need->key, &none.capacity)) || dpt__conv_describe(f, &need->key, &plan))
    return 1;
  bool measures = need->key.search & DPT_SEARCH_BENCHMARK;
  int failed = plan->works && choose(NULL, f, handle, plan, none, measures ? &most : NULL);
  need->works = plan->works;
  need->memory = plan->works ? plan->memory : 0;
  need->columns = plan->works && !tight && measures && dpt__conv_competes(&need->key);
  if (most > need->memory) need->memory = most;
  dpt__conv_drop(f, plan);
  return failed;
}

int dpt__conv_need_of(const dpt__context *context, const dpt__conv_key *key, dpt__conv_need *need) {
  const dpt__cudnn_functions *f;
  dpt__cudnn_desk *desk;
  std::unique_lock<std::mutex> guard;
  if (dpt__cudnn_acquire(context->unit, &f, &desk, &guard)) return 1;
  dpt__conv_need *found = desk->convolutions.find(*key);
  bool tight = context->measures == DPT__MEASURES_LEAST;
  if (!found || tight) {
    dpt__visit visit(context->unit);
    need->key = *key;
    if (visit.failed || plan_decide(f, desk->handle, tight, need)) return 1;
    if (!found) {
      found = (dpt__conv_need *)malloc(sizeof *found);
      if (!found) return dpt__cuda_fail("no host memory for the memory needs of a convolution");
      found->key = *key;
      desk->convolutions.keep(found, [](dpt__conv_need *old) { free(old); });
    }
    found->works = need->works;
    found->memory = need->memory;
    found->columns = need->columns;
  }
  *need = *found;
  return 0;
}

int dpt__conv_found(const dpt__context *context, const dpt__cudnn_conv_plan *plan) {
  const dpt__cudnn_functions *f;
  dpt__cudnn_desk *desk;
  std::unique_lock<std::mutex> guard;
  if (dpt__cudnn_acquire(context->unit, &f, &desk, &guard)) return 1;
  dpt__conv_need *need = desk->convolutions.find(plan->key);
  if (!need) return 0;
  need->works = plan->works;
  need->columns = plan->works && plan->columns;
  need->memory = plan->works ? plan->memory : 0;
  return 0;
}
