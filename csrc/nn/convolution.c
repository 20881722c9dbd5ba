/* convolution.c: convolution and transposed convolution: shapes and checks, then the backend's
 * kernels.
 *
 * Invariant: a transposed convolution from I to O planes is the ordinary one from O to I planes
 * with its passes exchanged (forward is DATA, backward data is FORWARD), so kernels know the
 * ordinary one only: in their args, `in` is the large side and `out` the small one.
 */
#include "nn/window.h"

/* One convolution as the caller sees it: from planes I to planes O. */
struct conv {
  int64_t I, O;
  struct dpt__slide slide; /* of the ordinary convolution */
};

static int64_t kernel_count(const struct dpt__slide *s) {
  return s->kernel[0] * s->kernel[1] * s->kernel[2];
}

/* Planes and window; weight's first size and count say the planes. */
static void start(dpt__call *call, const char *name, const dpt_tensor *weight,
                  const dpt_window *window, struct conv *conv) {
  if (call->status) return;
  int64_t groups = window->groups ? window->groups : 1;
  dpt__slide_start(call, window, &conv->slide);
  if (call->status) return;
  int64_t K = kernel_count(&conv->slide), first = weight->ndim_ ? weight->size_[0] : 0;
  int64_t other = first ? dpt__count(weight) / first / K * groups : 0;
  if (weight->ndim_ < 2 || first < 1 || other < 1 || groups < 1 || first % groups ||
      first * (other / groups) * K != dpt__count(weight)) {
    call->status = dpt__fail(
        "%s: argument '%s' is a %s, wanted planes x planes x %lld kernel elements in %lld groups",
        call->fn, name, dpt__describe(weight), (long long)K, (long long)groups);
    return;
  }
  conv->O = window->transposed ? other : first;
  conv->I = window->transposed ? first : other;
}

/* Reads `in` and computes the output sizes into out[3]. */
static void shape(dpt__call *call, const dpt_tensor *in, const dpt_window *window,
                  struct conv *conv, dpt__images *images, int64_t out[3]) {
  dpt__images_of(call, "input", in, window->ndim, images);
  if (call->status) return;
  if (images->C != conv->I) {
    call->status = dpt__fail("%s: argument 'input' is a %s with %lld planes, wanted %lld", call->fn,
                             dpt__describe(in), (long long)images->C, (long long)conv->I);
    return;
  }
  struct dpt__slide *s = &conv->slide;
  for (int d = 0; d < 3; d++) {
    int64_t adjust = d >= 3 - window->ndim ? window->adjust[d - (3 - window->ndim)] : 0;
    int64_t reach = s->dilation[d] * (s->kernel[d] - 1) + 1;
    if (window->transposed) {
      if (adjust < 0 || (adjust && adjust >= s->stride[d])) {
        call->status = dpt__fail("%s: adjustment of the output by %lld, wanted less than stride "
                                 "%lld",
                                 call->fn, (long long)adjust, (long long)s->stride[d]);
        return;
      }
      out[d] = (images->size[d] - 1) * s->stride[d] - 2 * s->pad[d] + reach + adjust;
      s->in[d] = out[d];
      s->out[d] = images->size[d];
    } else {
      int64_t room = images->size[d] + 2 * s->pad[d] - reach;
      out[d] = room < 0 ? 0 : room / s->stride[d] + 1;
      s->in[d] = images->size[d];
      s->out[d] = out[d];
    }
    if (out[d] < 1 || images->size[d] < 1) {
      call->status = dpt__fail("%s: argument 'input' is a %s, too small for a kernel that reaches "
                               "over %lld elements with padding %lld",
                               call->fn, dpt__describe(in), (long long)reach, (long long)s->pad[d]);
      return;
    }
  }
}

/* The arguments of all passes: `in` and `out` are the caller's two sides, whose roles a transposed
 * convolution exchanges; so are the passes. */
static void fill_args(dpt__call *call, struct dpt__convolution_args *args, int pass,
                      const dpt_window *window, const struct conv *conv, int64_t N,
                      const dpt_tensor *in, const dpt_tensor *out, const dpt_tensor *weight) {
  static const int exchanged[] = {[DPT__CONV_FORWARD] = DPT__CONV_DATA,
                                  [DPT__CONV_DATA] = DPT__CONV_FORWARD,
                                  [DPT__CONV_WEIGHT] = DPT__CONV_WEIGHT};
  int transposed = window->transposed;
  *args = (struct dpt__convolution_args){.deterministic = dpt_deterministic_get(),
                                         .tf32 = dpt_tf32_get(),
                                         .search = window->search,
                                         .pass = transposed ? exchanged[pass] : pass,
                                         .ndim = window->ndim,
                                         .N = N,
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
  dpt__images images;
  int64_t plane[3], size[5];
  dpt__call_begin(&call, "convolution", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, NULL);
  const dpt_tensor *b = dpt__call_in_maybe(&call, "bias", bias, &args.bias);
  start(&call, "weight", w, window, &conv);
  shape(&call, x, window, &conv, &images, plane);
  if (call.status) return dpt__call_end(&call);
  dpt__call_count(&call, "bias", b, conv.O, "one for each output plane");
  int ndim = dpt__images_size(&images, window->ndim, conv.O, plane, size);
  dpt_tensor *y = dpt__call_out(&call, "output", out, ndim, size, NULL);
  fill_args(&call, &args, DPT__CONV_FORWARD, window, &conv, images.N, x, y, w);
  return dpt__call_run(&call, images.N, convolution, &args);
}

int dpt_conv_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                           const dpt_tensor *weight, const dpt_window *window) {
  dpt__call call;
  struct conv conv;
  dpt__images images;
  int64_t plane[3], size[5];
  dpt__call_begin(&call, "convolution", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, NULL);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, NULL);
  start(&call, "weight", w, window, &conv);
  shape(&call, in, window, &conv, &images, plane);
  if (call.status) return dpt__call_end(&call);
  int ndim = dpt__images_size(&images, window->ndim, conv.O, plane, size);
  dpt__call_same(&call, "gradOutput", gy, ndim, size);
  ndim = dpt__images_size(&images, window->ndim, conv.I, images.size, size);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, ndim, size, NULL);
  struct dpt__convolution_args args;
  fill_args(&call, &args, DPT__CONV_DATA, window, &conv, images.N, gx, gy, w);
  return dpt__call_run(&call, images.N, convolution, &args);
}

int dpt_conv_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                             const dpt_tensor *gout, const dpt_window *window, double scale) {
  dpt__call call;
  struct conv conv;
  dpt__images images;
  int64_t plane[3], size[5];
  dpt__call_begin(&call, "convolution", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, NULL);
  dpt_tensor *w = dpt__call_update_maybe(&call, "gw", gw, NULL);
  dpt_tensor *b = dpt__call_update_maybe(&call, "gb", gb, NULL);
  if (!call.status && !w) { /* the bias alone: planes are gout's */
    dpt__images_of(&call, "gradOutput", gy, window->ndim, &images);
    conv.O = call.status ? 0 : images.C;
    for (int d = 0; d < 3 && !call.status; d++) plane[d] = images.size[d];
  } else {
    start(&call, "gw", w, window, &conv);
    shape(&call, x, window, &conv, &images, plane);
    if (call.status) return dpt__call_end(&call);
    int ndim = dpt__images_size(&images, window->ndim, conv.O, plane, size);
    dpt__call_same(&call, "gradOutput", gy, ndim, size);
  }
  dpt__call_count(&call, "gb", b, conv.O, "one for each output plane");
  if (call.status || !images.N) return dpt__call_end(&call);
  struct dpt__convolution_args args;
  struct dpt__plane_sum_args sum = {
      .N = images.N, .C = conv.O, .S = plane[0] * plane[1] * plane[2], .scale = scale};
  if (w) {
    fill_args(&call, &args, DPT__CONV_WEIGHT, window, &conv, images.N, x, gy, w);
    args.scale = scale;
  }
  if (b) dpt__call_at(&call, gy, &sum.gout);
  if (b) dpt__call_at(&call, b, &sum.gb);
  if (w) dpt__call_launch(&call, convolution, &args);
  return dpt__call_run(&call, b, plane_sum, &sum);
}
