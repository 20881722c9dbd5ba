/* convolution.cu: convolutions by cuDNN.
 *
 * Invariant: cuDNN counts elements in 32 bits, so a batch is split into parts with fewer. WEIGHT
 * accumulates into the gradient, part after part in order.
 */
#include "cuda/cudnn/graph.h"

#include <cstdio>

namespace {

/* Adds a gradient that cuDNN wrote to temporary memory. */
template <typename To, typename T>
__global__ void add_to(To *to, const T *from, typename dpt__wide<T>::type scale, int64_t count) {
  int64_t i = dpt__thread<int64_t>();
  if (i < count) to[i] = dpt__store<To>::from(dpt__load(to[i]) + scale * dpt__load(from[i]));
}

/* Calls cuDNN; beta scales the output's previous values. An engine of the graph interface has alpha
 * 1 and beta 0. */
cudnnStatus_t call_pass(const dpt__cudnn_functions *f, cudnnHandle_t handle,
                        const dpt__cudnn_conv_plan *plan, double alpha, double beta,
                        const dpt__conv_operands &o) {
  if (plan->graph) return dpt__graph_run(f, handle, plan->graph, o);
  float narrow[2] = {(float)alpha, (float)beta};
  double wide[2] = {alpha, beta};
  bool floats = plan->key.type != DPT_F64;
  const void *a = floats ? (void *)&narrow[0] : &wide[0];
  const void *b = floats ? (void *)&narrow[1] : &wide[1];
  switch (plan->key.pass) {
  case DPT__PASS_FORWARD:
    return f->cudnnConvolutionForward(handle, a, plan->in, o.in, plan->weight, o.weight, plan->conv,
                                      (cudnnConvolutionFwdAlgo_t)plan->algorithm, o.workspace,
                                      plan->memory, b, plan->out, o.out);
  case DPT__PASS_DATA:
    return f->cudnnConvolutionBackwardData(handle, a, plan->weight, o.weight, plan->out, o.out,
                                           plan->conv,
                                           (cudnnConvolutionBwdDataAlgo_t)plan->algorithm,
                                           o.workspace, plan->memory, b, plan->in, o.in);
  default:
    return f->cudnnConvolutionBackwardFilter(handle, a, plan->in, o.in, plan->out, o.out,
                                             plan->conv,
                                             (cudnnConvolutionBwdFilterAlgo_t)plan->algorithm,
                                             o.workspace, plan->memory, b, plan->weight, o.weight);
  }
}

/* Accumulates weight += scale * gradient through temporary memory. */
int add_aside(dpt__context *context, const struct dpt__convolution_args *a, const void *part) {
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) To;
    int64_t count = a->O * (a->I / a->groups) * dpt__volume(a->slide.kernel);
    auto kernel = add_to<To, T>;
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, (To *)a->weight,
                      (const T *)part, (typename dpt__wide<T>::type)a->scale, count);
  });
}

/* Runs a plan. If cuDNN rejects the call after all, marks the plan as not working. o.weight of
 * WEIGHT: temporary memory for a gradient. */
int run(dpt__context *context, const struct dpt__convolution_args *a, dpt__cudnn_conv_plan *plan,
        const dpt__conv_operands &o) {
  const dpt__cudnn_functions *f;
  dpt__cudnn *cudnn;
  if (dpt__cudnn_begin(context, &f, &cudnn)) return 1;
  bool adds = a->pass == DPT__PASS_WEIGHT;
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
  if (adds && !plan->aside) {
    dpt__conv_operands direct = o;
    direct.weight = a->weight;
    status = call_pass(f, cudnn->handle, plan, a->scale, 1, direct);
    plan->aside = dpt__cudnn_rejected(status);
  }
  if (!adds || plan->aside) status = call_pass(f, cudnn->handle, plan, 1, 0, o);
  if (plan->aside && status == CUDNN_STATUS_SUCCESS && add_aside(context, a, o.weight)) return 1;
  plan->works = !dpt__cudnn_rejected(status);
  if (plan->works) DPT__CUDNN(status);
  return 0;
}

/* Sets *fit to true if the available memory is enough for columns. */
int columns_fit(const dpt__context *context, const struct dpt__convolution_args *a, bool *fit) {
  dpt__context asks = *context;
  asks.measures = 1;
  if (dpt__cuda_conv_columns(&asks, a)) return 1;
  *fit = asks.capacity <= context->capacity;
  return 0;
}

/* Sets plan->columns if columns are faster than the plan's algorithm. Both write to outputs that
 * measuring may overwrite. */
int compete(dpt__context *context, const struct dpt__convolution_args *a,
            dpt__cudnn_conv_plan *plan, const dpt__conv_operands &o) {
  const dpt__cudnn_functions *f;
  dpt__cudnn *cudnn;
  bool fit = false;
  float by_plan = 0, by_columns = 0;
  plan->fresh = false;
  if (!dpt__conv_competes(&plan->key)) return 0;
  if (dpt__cudnn_begin(context, &f, &cudnn) || columns_fit(context, a, &fit)) return 1;
  auto once = [&] { return call_pass(f, cudnn->handle, plan, 1, 0, o); };
  cudnnStatus_t status = fit ? once() : CUDNN_STATUS_NOT_SUPPORTED;
  if (dpt__cudnn_rejected(status)) return 0; /* run handles it */
  DPT__CUDNN(status);
  struct dpt__convolution_args aside = *a;
  aside.weight = o.weight;
  auto columns = [&] {
    dpt__context there = *context;
    return dpt__cuda_conv_columns(&there, &aside);
  };
  auto algorithm = [&] { return dpt__cudnn_status(once(), "cudnnConvolution"); };
  if (dpt__conv_time(context, algorithm, &by_plan) || dpt__conv_time(context, columns, &by_columns))
    return 1;
  plan->columns = by_columns < by_plan;
  if (a->search & DPT_SEARCH_VERBOSE)
    fprintf(stderr, "cudnn: 3 calls take %.3f ms, by columns and products %.3f ms\n", by_plan,
            by_columns);
  return 0;
}

/* Computes the convolution if cuDNN has an algorithm (sets *works), or measures its memory. */
int by_cudnn(dpt__context *context, const struct dpt__convolution_args *a, const dpt__conv_key *key,
             bool *works) {
  void *part = NULL;
  if (a->pass == DPT__PASS_WEIGHT) part = dpt__scratch(context, dpt__conv_weight_bytes(key));
  if (context->measures) {
    dpt__conv_need need;
    if (dpt__conv_need_of(context, key, &need)) return 1;
    *works = need.works;
    size_t used = context->used;
    if (need.works) dpt__scratch(context, need.memory);
    context->used = used;
    return need.columns ? dpt__cuda_conv_columns(context, a) : 0;
  }
  dpt__cudnn_conv_plan *plan;
  dpt__conv_operands o = {a->in, part ? part : a->weight, a->out, context->scratch + context->used,
                          context->capacity - context->used};
  if (dpt__cudnn_conv_plan_of(context, key, a->search & DPT_SEARCH_VERBOSE, o, &plan)) return 1;
  if (plan->works && plan->fresh &&
      (compete(context, a, plan, o) || dpt__conv_found(context, plan)))
    return 1;
  bool fit = false;
  if (plan->works && plan->columns && columns_fit(context, a, &fit)) return 1;
  if (fit) {
    *works = true;
    return dpt__cuda_conv_columns(context, a);
  }
  if (plan->works && run(context, a, plan, o)) return 1;
  *works = plan->works;
  return *works ? 0 : dpt__conv_found(context, plan);
}

/* Computes a convolution that cuDNN does not compute. If the memory was allocated for cuDNN, it may
 * be too little for columns; the next call allocates enough. */
int by_columns(dpt__context *context, const struct dpt__convolution_args *a) {
  bool fit;
  if (columns_fit(context, a, &fit)) return 1;
  if (!context->measures && !fit)
    return dpt__cuda_fail("cuDNN rejected a convolution that it had accepted; further calls "
                          "compute it without cuDNN");
  return dpt__cuda_conv_columns(context, a);
}

/* Returns the number of images with fewer than 2^31 elements in both input and output. */
int64_t part_of(const struct dpt__convolution_args *a) {
  int64_t in = a->I * dpt__volume(a->slide.in), out = a->O * dpt__volume(a->slide.out);
  int64_t part = INT32_MAX / (in > out ? in : out);
  return part < a->N ? part : a->N;
}

/* Prints one line per process, to explain slow convolutions. */
void warn_missing(void) {
  static bool warned;
  if (__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED)) return;
  fprintf(stderr, "dpt: convolutions are computed without cuDNN, slowly: %s\n",
          dpt__cuda_services->message());
}

} // namespace

int dpt__cuda_conv_cudnn(dpt__context *context, const struct dpt__convolution_args *a, int *done) {
  *done = 0;
#ifdef DPT_EMULATED
  if (!dpt__graph_enabled()) return 0; /* the emulation has no algorithm of the legacy interface */
#endif
  if (!dpt__cudnn_open()) {
    warn_missing();
    return 0;
  }
  int64_t each = part_of(a), image = a->I * dpt__volume(a->slide.in);
  int64_t small = a->O * dpt__volume(a->slide.out);
  if (each < 1) return 0;
  size_t used = context->used;
  for (int64_t i = 0; i < a->N; i += each) {
    bool works;
    struct dpt__convolution_args part = *a;
    part.N = a->N - i < each ? a->N - i : each;
    part.in = (char *)a->in + (size_t)(i * image) * dpt__dtype_size(a->type);
    part.out = (char *)a->out + (size_t)(i * small) * dpt__dtype_size(a->type);
    dpt__conv_key key = dpt__conv_key_of(&part);
    if (dpt__conv_weight_bytes(&key) / dpt__dtype_size((int)key.param_type) > INT32_MAX) return 0;
    context->used = used;
    if (by_cudnn(context, &part, &key, &works)) return 1;
    context->used = used;
    if (!works && by_columns(context, &part)) return 1;
  }
  *done = 1;
  return 0;
}
