/* convolution.cu: chooses the implementation of a convolution, and adds the bias.
 *
 * Invariant: in deterministic mode an image's bits do not depend on the other images, which cuDNN
 * does not guarantee, and gradients of weights have no rounding errors except those of their sums;
 * cuDNN's algorithms may transform the operands.
 */
#include "cuda/element.h"
#include "cuda/nn/convolution.h"
#include "cuda/pack.h"
#include "cuda/walk.h"

namespace {

/* Adds bias (C) to planes (N * C, S); a thread's adjacent elements may be in several planes. */
template <typename T, typename Index>
__global__ void add_bias(T *planes, const T *bias, Index C, Index S, Index count, int aligned) {
  Index first = dpt__thread<Index>() * DPT__PACK;
  if (first >= count) return;
  int n = count - first < DPT__PACK ? (int)(count - first) : (int)DPT__PACK;
  bool whole = aligned && n == DPT__PACK;
  dpt__pack<T> pack = dpt__pack_load(planes + first, n, whole);
  Index plane = first / S, position = first - plane * S, c = plane % C;
  DPT_UNROLL
  for (int k = 0; k < DPT__PACK; k++) {
    pack.v[k] = dpt__store<T>::from(dpt__load(pack.v[k]) + dpt__load(bias[c]));
    if (++position < S) continue;
    position = 0;
    if (++c == C) c = 0;
  }
  dpt__pack_store(planes + first, pack, n, whole);
}

int bias_all(dpt__context *context, const struct dpt__convolution_args *a) {
  bool forward = a->pass == DPT__PASS_FORWARD;
  int64_t C = forward ? a->O : a->I, S = dpt__volume(forward ? a->slide.out : a->slide.in);
  int64_t count = a->N * C * S;
  void *planes = forward ? a->out : a->in;
  return dpt__of_stored_real_index(a->type, count, [&](auto zero, auto index) {
    typedef decltype(zero) T;
    typedef decltype(index) Index;
    auto kernel = add_bias<T, Index>;
    return DPT_LAUNCH(kernel, dpt__blocks((count + DPT__PACK - 1) / DPT__PACK), DPT__BLOCK, 0,
                      context, (T *)planes, (const T *)a->bias, (Index)C, (Index)S, (Index)count,
                      (int)dpt__packs_at<T>(planes));
  });
}

} // namespace

int dpt__cuda_convolution(dpt__context *context, const void *args) {
  const struct dpt__convolution_args *a = (const struct dpt__convolution_args *)args;
  int done = 0;
  if (!a->deterministic && dpt__cuda_conv_cudnn(context, a, &done)) return 1;
  if (!done && dpt__cuda_conv_columns(context, a)) return 1;
  return a->bias && a->pass != DPT__PASS_WEIGHT ? bias_all(context, a) : 0;
}
