/* convolution.c: convolution and transposed convolution: shapes and checks, then the backend's
 * kernels.
 *
 * Invariant: a transposed convolution from I to O planes is the ordinary one from O to I planes
 * with its passes exchanged (forward is DATA, backward data is FORWARD). Kernels implement the
 * ordinary one only: in their args, `in` is the large side and `out` the small one.
 */
#include "nn/window.h"

#include <string.h>

/* One convolution as the caller sees it: from planes I to planes O, images of size `plane`. */
struct conv {
  int64_t I, O, plane[3];
  dpt__images images;      /* `in` */
  struct dpt__slide slide; /* of the ordinary convolution */
};

/* Computes the numbers of planes from weight's first size and element count. */
static void conv_planes(dpt__call *call, const char *name, const dpt_tensor *weight,
                        const dpt_window *window, struct conv *conv) {
  const int64_t *kernel = conv->slide.kernel;
  int64_t groups = window->groups ? window->groups : 1, K = kernel[0] * kernel[1] * kernel[2];
  int64_t first = weight->ndim_ ? weight->size_[0] : 0;
  int64_t other = first ? dpt__count(weight) / first / K * groups : 0;
  if (weight->ndim_ < 2 || first < 1 || other < 1 || groups < 1 || first % groups ||
      first * (other / groups) * K != dpt__count(weight))
    call->status = dpt__fail(
        "%s: argument '%s' is a %s, wanted planes x planes x %lld kernel elements in %lld groups",
        call->fn, name, dpt__describe(weight), (long long)K, (long long)groups);
  conv->O = window->transposed ? other : first;
  conv->I = window->transposed ? first : other;
}

/* Computes the output's size in dimension d. */
static void conv_slide(dpt__call *call, const dpt_tensor *in, const dpt_window *window, int d,
                       struct conv *conv) {
  struct dpt__slide *s = &conv->slide;
  int64_t size = conv->images.size[d], *out = &conv->plane[d];
  int64_t adjust = d >= 3 - window->ndim ? window->adjust[d - (3 - window->ndim)] : 0;
  int64_t reach = s->dilation[d] * (s->kernel[d] - 1) + 1;
  if (window->transposed) {
    if (adjust < 0 || (adjust && adjust >= s->stride[d])) {
      call->status = dpt__fail("%s: output adjustment is %lld, wanted less than stride %lld",
                               call->fn, (long long)adjust, (long long)s->stride[d]);
      return;
    }
    *out = (size - 1) * s->stride[d] - 2 * s->pad[d] + reach + adjust;
  } else {
    int64_t steps = size + 2 * s->pad[d] - reach;
    *out = steps < 0 ? 0 : steps / s->stride[d] + 1;
  }
  s->in[d] = window->transposed ? *out : size;
  s->out[d] = window->transposed ? size : *out;
  if (*out < 1 || size < 1)
    call->status = dpt__fail("%s: argument 'input' is a %s, too small for a kernel that spans %lld "
                             "elements with padding %lld",
                             call->fn, dpt__describe(in), (long long)reach, (long long)s->pad[d]);
}

/* Fills conv, except for tensors' contents; of `in` only the sizes are used. */
static void conv_start(dpt__call *call, const char *name, const dpt_tensor *weight,
                       const dpt_tensor *in, const dpt_window *window, struct conv *conv) {
  dpt__slide_start(call, window, &conv->slide);
  if (!call->status) conv_planes(call, name, weight, window, conv);
  dpt__images_of(call, "input", in, window->ndim, &conv->images);
  if (!call->status && conv->images.C != conv->I)
    call->status = dpt__fail("%s: argument 'input' is a %s with %lld planes, wanted %lld", call->fn,
                             dpt__describe(in), (long long)conv->images.C, (long long)conv->I);
  for (int d = 0; d < 3 && !call->status; d++) conv_slide(call, in, window, d, conv);
}

/* Fills the arguments of a pass. `in` and `out` are the caller's two sides; a transposed
 * convolution exchanges them, and the passes. */
static void conv_fill(dpt__call *call, struct dpt__convolution_args *args, int pass,
                      const dpt_window *window, const struct conv *conv, const dpt_tensor *in,
                      const dpt_tensor *out, const dpt_tensor *weight) {
  static const int exchanged[] = {[DPT__PASS_FORWARD] = DPT__PASS_DATA,
                                  [DPT__PASS_DATA] = DPT__PASS_FORWARD,
                                  [DPT__PASS_WEIGHT] = DPT__PASS_WEIGHT};
  int transposed = window->transposed;
  *args = (struct dpt__convolution_args){.deterministic = dpt_deterministic_get(),
                                         .tf32 = dpt_tf32_get(),
                                         .search = window->search,
                                         .pass = transposed ? exchanged[pass] : pass,
                                         .ndim = window->ndim,
                                         .N = conv->images.N,
                                         .I = transposed ? conv->O : conv->I,
                                         .O = transposed ? conv->I : conv->O,
                                         .groups = window->groups ? window->groups : 1,
                                         .slide = conv->slide};
  dpt__call_at(call, transposed ? out : in, &args->in);
  dpt__call_at(call, transposed ? in : out, &args->out);
  dpt__call_at(call, weight, &args->weight);
}

int dpt_conv_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                     const dpt_tensor *bias, const dpt_window *window) {
  dpt__call call;
  struct dpt__convolution_args args;
  struct conv conv;
  int64_t size[5];
  dpt__call_begin(&call, DPT__KERNEL_convolution, "convolution", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, NULL);
  const dpt_tensor *b = dpt__call_in_optional(&call, "bias", bias, &args.bias);
  conv_start(&call, "weight", w, x, window, &conv);
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "bias", b, conv.O, "one for each output plane");
  int ndim = dpt__images_size(&conv.images, window->ndim, conv.O, conv.plane, size);
  dpt_tensor *y = dpt__call_out(&call, "output", out, ndim, size, NULL);
  conv_fill(&call, &args, DPT__PASS_FORWARD, window, &conv, x, y, w);
  return dpt__call_run(&call, conv.images.N, convolution, &args);
}

/* Checks that a gradient has the output's sizes. */
static void conv_check_gradient(dpt__call *call, const dpt_tensor *gout, const dpt_window *window,
                                const struct conv *conv) {
  int64_t size[5];
  if (call->status) return;
  int ndim = dpt__images_size(&conv->images, window->ndim, conv->O, conv->plane, size);
  dpt__call_same(call, "gradOutput", gout, ndim, size);
}

int dpt_conv_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                           const dpt_tensor *weight, const dpt_window *window) {
  dpt__call call;
  struct dpt__convolution_args args;
  struct conv conv;
  dpt__call_begin(&call, DPT__KERNEL_convolution, "convolution", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, NULL);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, NULL);
  conv_start(&call, "weight", w, in, window, &conv);
  conv_check_gradient(&call, gy, window, &conv);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, in->ndim_, in->size_, NULL);
  conv_fill(&call, &args, DPT__PASS_DATA, window, &conv, gx, gy, w);
  return dpt__call_run(&call, conv.images.N, convolution, &args);
}

int dpt_conv_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                             const dpt_tensor *gout, const dpt_window *window, double scale) {
  dpt__call call;
  struct dpt__convolution_args args;
  struct dpt__plane_sum_args sum = {.scale = scale};
  struct conv conv = {0};
  dpt__call_begin(&call, DPT__KERNEL_convolution, "convolution", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &sum.gout);
  dpt_tensor *w = dpt__call_param_update(&call, "gradWeight", gw, NULL);
  dpt_tensor *b = dpt__call_param_update(&call, "gradBias", gb, &sum.gb);
  if (w) {
    conv_start(&call, "gradWeight", w, x, window, &conv);
    conv_check_gradient(&call, gy, window, &conv);
  } else { /* the bias only: gout gives the planes */
    dpt__images_of(&call, "gradOutput", gy, window->ndim, &conv.images);
    conv.O = conv.images.C;
    memcpy(conv.plane, conv.images.size, sizeof conv.plane);
  }
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "gradBias", b, conv.O, "one for each output plane");
  sum.N = conv.images.N, sum.C = conv.O;
  sum.S = conv.plane[0] * conv.plane[1] * conv.plane[2];
  if (w) conv_fill(&call, &args, DPT__PASS_WEIGHT, window, &conv, x, gy, w);
  args.scale = scale;
  args.param_type = sum.param_type = dpt__call_param_type(&call);
  if (w && sum.N) dpt__call_launch(&call, convolution, &args);
  return dpt__call_run(&call, b && sum.N, plane_sum, &sum);
}
