/* convolution.cu: convolutions by cuDNN.
 *
 * Invariant: cuDNN counts elements in 32 bits, so images are taken in parts that have fewer. WEIGHT
 * adds to what is there, part by part in their order.
 */
#include "cuda/cudnn/plan.h"

#include <cstdio>

namespace {

/* An addend that cuDNN wrote aside. */
template <typename T> __global__ void add_to(T *to, const T *from, int64_t count) {
  int64_t i = dpt__thread<int64_t>();
  if (i < count) to[i] += from[i];
}

size_t width_of(const struct dpt__convolution_args *a) {
  return a->type == DPT_F32 ? sizeof(float) : sizeof(double);
}

/* The call itself; beta: what becomes of what is there. */
cudnnStatus_t call_pass(const dpt__cudnn_functions *f, cudnnHandle_t handle,
                        const dpt__cudnn_conv_plan *plan, int type, double alpha, double beta,
                        void *in, void *weight, void *out, void *workspace) {
  float narrow[2] = {(float)alpha, (float)beta};
  double wide[2] = {alpha, beta};
  const void *a = type == DPT_F32 ? (void *)&narrow[0] : &wide[0];
  const void *b = type == DPT_F32 ? (void *)&narrow[1] : &wide[1];
  switch (plan->key.pass) {
  case DPT__CONV_FORWARD:
    return f->cudnnConvolutionForward(handle, a, plan->in, in, plan->weight, weight, plan->conv,
                                      (cudnnConvolutionFwdAlgo_t)plan->algorithm, workspace,
                                      plan->memory, b, plan->out, out);
  case DPT__CONV_DATA:
    return f->cudnnConvolutionBackwardData(
        handle, a, plan->weight, weight, plan->out, out, plan->conv,
        (cudnnConvolutionBwdDataAlgo_t)plan->algorithm, workspace, plan->memory, b, plan->in, in);
  default:
    return f->cudnnConvolutionBackwardFilter(handle, a, plan->in, in, plan->out, out, plan->conv,
                                             (cudnnConvolutionBwdFilterAlgo_t)plan->algorithm,
                                             workspace, plan->memory, b, plan->weight, weight);
  }
}

/* weight += scale * gradient, by way of temporary memory. */
cudnnStatus_t add_aside(dpt__context *context, const struct dpt__convolution_args *a,
                        const dpt__cudnn_functions *f, cudnnHandle_t handle,
                        const dpt__cudnn_conv_plan *plan, void *in, void *out, void *workspace,
                        int *failed) {
  size_t bytes = dpt__conv_weight_bytes(&plan->key);
  void *part = dpt__cuda_services->scratch(context, bytes);
  *failed = part == NULL;
  if (*failed) return CUDNN_STATUS_SUCCESS;
  cudnnStatus_t status = call_pass(f, handle, plan, a->type, a->scale, 0, in, part, out, workspace);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  *failed = dpt__of_real(a->type, [&](auto zero) {
    typedef decltype(zero) T;
    int64_t count = (int64_t)(bytes / sizeof zero);
    auto kernel = add_to<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, (T *)a->weight,
                      (const T *)part, count);
  });
  return CUDNN_STATUS_SUCCESS;
}

/* One part of the images; the plan does not work any more where cuDNN refuses after all. */
int run(dpt__context *context, const struct dpt__convolution_args *a, dpt__cudnn_conv_plan *plan,
        void *in, void *out) {
  const dpt__cudnn_functions *f;
  dpt__cudnn *cudnn;
  if (dpt__cudnn_begin(context, &f, &cudnn)) return 1;
  void *workspace = plan->workspace;
  if (plan->memory && !workspace) {
    workspace = dpt__cuda_services->scratch(context, plan->memory);
    /* what was free when this algorithm was chosen is in use now */
    if (!workspace && dpt__conv_choose_small(context, plan)) return 1;
    if (!plan->works) return 0;
  }
  bool adds = a->pass == DPT__CONV_WEIGHT;
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
  int failed = 0;
  if (!plan->aside)
    status = call_pass(f, cudnn->handle, plan, a->type, adds ? a->scale : 1, adds ? 1 : 0, in,
                       a->weight, out, workspace);
  if (adds && dpt__cudnn_refused(status)) {
    plan->aside = true;
    status = add_aside(context, a, f, cudnn->handle, plan, in, out, workspace, &failed);
    if (failed) return 1;
  }
  plan->works = !dpt__cudnn_refused(status);
  if (plan->works) DPT__CUDNN(status);
  return 0;
}

/* As many images as have fewer than 2^31 elements on either side. */
int64_t part_of(const struct dpt__convolution_args *a) {
  int64_t in = a->I * dpt__volume(a->slide.in), out = a->O * dpt__volume(a->slide.out);
  int64_t part = INT32_MAX / (in > out ? in : out);
  return part < a->N ? part : a->N;
}

/* One line for the process: that it is slow should not be a riddle. */
void tell_missing(void) {
  static bool warned;
  if (__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED)) return;
  fprintf(stderr, "dpt: convolutions are computed without cuDNN, slowly: %s\n",
          dpt__cuda_services->message());
}

} // namespace

int dpt__cuda_conv_cudnn(dpt__context *context, const struct dpt__convolution_args *a, int *done) {
  *done = 0;
  if (!dpt__cudnn_open()) {
    tell_missing();
    return 0;
  }
  int64_t each = part_of(a), image = a->I * dpt__volume(a->slide.in);
  int64_t small = a->O * dpt__volume(a->slide.out);
  if (each < 1) return 0;
  for (int64_t i = 0; i < a->N; i += each) {
    int64_t n = a->N - i < each ? a->N - i : each;
    char *in = (char *)a->in + (size_t)(i * image) * width_of(a);
    char *out = (char *)a->out + (size_t)(i * small) * width_of(a);
    dpt__conv_key key = dpt__conv_key_of(a, n);
    if (dpt__conv_weight_bytes(&key) / width_of(a) > INT32_MAX) return 0;
    dpt__cudnn_conv_plan *plan;
    if (dpt__cudnn_conv_plan_of(context, &key, a->search & DPT_SEARCH_VERBOSE, {in, a->weight, out},
                                &plan))
      return 1;
    if (plan->works && run(context, a, plan, in, out)) return 1;
    if (!plan->works) {
      struct dpt__convolution_args rest = *a;
      rest.in = in;
      rest.out = out;
      rest.N = n;
      if (dpt__cuda_conv_columns(context, &rest)) return 1;
    }
  }
  *done = 1;
  return 0;
}
