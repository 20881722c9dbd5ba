/* pool.c: max and average pooling and unpooling: shapes and checks, then the backend's kernels. */
#include "nn/window.h"

/* Computes Torch7's output sizes; with ceil the last window begins inside the image or its left
 * padding. */
static void pool_sizes(dpt__call *call, const dpt_tensor *in, const dpt__images *images, int ceil,
                       struct dpt__slide *s) {
  for (int d = 0; d < 3 && !call->status; d++) {
    int64_t reach = s->dilation[d] * (s->kernel[d] - 1) + 1;
    int64_t slack = images->size[d] + 2 * s->pad[d] - reach;
    s->in[d] = images->size[d];
    if (2 * s->pad[d] > s->kernel[d]) {
      call->status = dpt__fail("%s: padding %lld, wanted at most half of kernel %lld", call->fn,
                               (long long)s->pad[d], (long long)s->kernel[d]);
      return;
    }
    int64_t up = ceil ? s->stride[d] - 1 : 0;
    s->out[d] = slack + up < 0 ? 0 : (slack + up) / s->stride[d] + 1;
    if ((s->out[d] - 1) * s->stride[d] >= images->size[d] + s->pad[d]) s->out[d]--;
    int bare = 0; /* a window entirely in the padding */
    if (s->dilation[d] > 1)
      for (int64_t first = -s->pad[d]; first < 0; first += s->stride[d])
        bare |= dpt__slide_first(first, s->dilation[d]) >= images->size[d];
    if (s->out[d] < 1 || images->size[d] < 1 || bare)
      call->status = dpt__fail(
          "%s: argument 'input' is a %s, too small for a kernel of %lld with padding %lld",
          call->fn, dpt__describe(in), (long long)s->kernel[d], (long long)s->pad[d]);
  }
}

static void pool_adaptive_sizes(dpt__call *call, const char *name, const dpt_tensor *in,
                                const dpt__images *images, int ndim, const int64_t *size,
                                struct dpt__slide *s) {
  if (call->status) return;
  dpt__sizes3(ndim, size, s->out);
  for (int d = 0; d < 3; d++) {
    s->in[d] = images->size[d];
    s->dilation[d] = 1;
    if (s->out[d] < 1 || s->in[d] < 1) {
      call->status = dpt__fail("%s: argument '%s' is a %s and the output has size %lld in one "
                               "dimension, wanted at least 1 in both",
                               call->fn, name, dpt__describe(in), (long long)s->out[d]);
      return;
    }
  }
}

/* Runs max pooling of any kind; the three kinds differ only in their windows. */
static int pool_max(dpt__call *call, dpt_tensor *out, dpt_tensor *idx, const dpt__images *images,
                    int ndim, struct dpt__maxpool_args *args) {
  int64_t size[5];
  if (call->status) return dpt__call_end(call);
  int n = dpt__images_size(images, ndim, images->C, args->slide.out, size);
  dpt_tensor *y = dpt__call_out(call, "output", out, n, size, &args->out);
  dpt__call_out_index(call, "indices", idx, n, size, &args->idx);
  args->planes = images->N * images->C;
  return dpt__call_run(call, dpt__call_some(y), maxpool, args);
}

int dpt_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                        const dpt_window *window) {
  dpt__call call;
  dpt__images images;
  struct dpt__maxpool_args args = {0};
  dpt__call_begin(&call, DPT__KERNEL_maxpool, "max pooling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  dpt__images_of(&call, "input", x, window->ndim, &images);
  dpt__slide_start(&call, window, &args.slide);
  pool_sizes(&call, x, &images, window->ceil, &args.slide);
  return pool_max(&call, out, idx, &images, window->ndim, &args);
}

int dpt_adaptive_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in, int ndim,
                                 const int64_t *size) {
  dpt__call call;
  dpt__images images;
  struct dpt__maxpool_args args = {.adaptive = 1};
  dpt__call_begin(&call, DPT__KERNEL_maxpool, "adaptive max pooling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  dpt__images_of(&call, "input", x, ndim, &images);
  pool_adaptive_sizes(&call, "input", x, &images, ndim, size, &args.slide);
  return pool_max(&call, out, idx, &images, ndim, &args);
}

int dpt_fractional_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                                   const dpt_tensor *samples, const dpt_window *window,
                                   const int64_t *size) {
  dpt__call call;
  dpt__images images;
  struct dpt__maxpool_args args = {.fractional = window->ndim};
  dpt__call_begin(&call, DPT__KERNEL_maxpool, "fractional max pooling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.in);
  const dpt_tensor *u = dpt__call_in(&call, "samples", samples, &args.samples);
  dpt__images_of(&call, "input", x, window->ndim, &images);
  dpt__slide_start(&call, window, &args.slide);
  pool_adaptive_sizes(&call, "input", x, &images, window->ndim, size, &args.slide);
  if (!call.status)
    dpt__call_count(&call, "samples", u, images.N * images.C * window->ndim,
                    "one for each plane and dimension");
  for (int d = 0; d < 3 && !call.status; d++)
    if (args.slide.out[d] + args.slide.kernel[d] - 1 > args.slide.in[d])
      call.status = dpt__fail(
          "%s: argument 'input' is a %s, too small for an output of %lld with a "
          "kernel of %lld",
          call.fn, dpt__describe(x), (long long)args.slide.out[d], (long long)args.slide.kernel[d]);
  return pool_max(&call, out, idx, &images, window->ndim, &args);
}

/* Adds indices of maxima in their planes. */
static const dpt_tensor *pool_take_indices(dpt__call *call, const dpt_tensor *idx, void *field) {
  int32_t type;
  const dpt_tensor *i = dpt__call_index(call, "indices", idx, field, &type);
  if (i && type != DPT_I64) dpt__call_wrong(call, "indices", i, "a tensor of 64-bit integers");
  return i;
}

/* Checks that t has the planes of `large`, called `of`. */
static void pool_check_planes(dpt__call *call, const char *name, const dpt__images *t,
                              const char *of, const dpt__images *large) {
  if (!call->status && t->N * t->C != large->N * large->C)
    call->status = dpt__fail("%s: argument '%s' has %lldx%lld planes, wanted %lldx%lld as '%s'",
                             call->fn, name, (long long)t->N, (long long)t->C, (long long)large->N,
                             (long long)large->C, of);
}

int dpt_maxpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_tensor *idx, int ndim) {
  dpt__call call;
  struct dpt__unpool_args args = {.scatters = 1, .adds = 1};
  dpt__images large, small;
  dpt__call_begin(&call, DPT__KERNEL_unpool, "max pooling", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.from);
  dpt__images_of(&call, "input", in, ndim, &large);
  const dpt_tensor *i = pool_take_indices(&call, idx, &args.idx);
  dpt__images_of(&call, "gradOutput", gy, ndim, &small);
  if (!call.status)
    dpt__call_count(&call, "indices", i, dpt__count(gy), "one for each element of gradOutput");
  pool_check_planes(&call, "gradOutput", &small, "input", &large);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out(&call, "gradInput", gin, in->ndim_, in->size_, &args.to);
  args.planes = large.N * large.C, args.small = dpt__volume(small.size),
  args.large = dpt__volume(large.size);
  return dpt__call_run(&call, dpt__call_some(gx), unpool, &args);
}

int dpt_maxunpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *idx, int ndim,
                          const int64_t *size) {
  dpt__call call;
  struct dpt__unpool_args args = {.scatters = 1};
  dpt__images images;
  struct dpt__slide s = {.in = {0}};
  int64_t sizes5[5];
  dpt__call_begin(&call, DPT__KERNEL_unpool, "max unpooling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, &args.from);
  const dpt_tensor *i = pool_take_indices(&call, idx, &args.idx);
  dpt__images_of(&call, "input", x, ndim, &images);
  pool_adaptive_sizes(&call, "input", x, &images, ndim, size, &s);
  dpt__call_check_count(&call, "indices", i, x);
  if (call.status) return dpt__call_end(&call);
  int n = dpt__images_size(&images, ndim, images.C, s.out, sizes5);
  dpt_tensor *y = dpt__call_out(&call, "output", out, n, sizes5, &args.to);
  args.planes = images.N * images.C, args.small = dpt__volume(images.size);
  args.large = dpt__volume(s.out);
  return dpt__call_run(&call, dpt__call_some(y), unpool, &args);
}

int dpt_maxunpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *idx,
                           int ndim) {
  dpt__call call;
  struct dpt__unpool_args args = {0};
  dpt__images large, small;
  dpt__call_begin(&call, DPT__KERNEL_unpool, "max unpooling", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.from);
  const dpt_tensor *i = pool_take_indices(&call, idx, &args.idx);
  dpt__images_of(&call, "gradOutput", gy, ndim, &large);
  dpt__images_of(&call, "indices", i, ndim, &small);
  pool_check_planes(&call, "indices", &small, "gradOutput", &large);
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *gx = dpt__call_out_like(&call, "gradInput", gin, i, &args.to);
  args.planes = large.N * large.C, args.small = dpt__volume(small.size),
  args.large = dpt__volume(large.size);
  return dpt__call_run(&call, dpt__call_some(gx), unpool, &args);
}

/* Runs average pooling; result is gin or out, operand gout or in; images is the large side. */
static int pool_average(dpt__call *call, dpt_tensor *result, const dpt_tensor *operand,
                        const dpt__images *images, int ndim, struct dpt__avgpool_args *args) {
  dpt__images_out_side(call, args->backward, result, operand, images, ndim, args->slide.in,
                       args->slide.out, &args->in, &args->out);
  args->planes = call->status ? 0 : images->N * images->C;
  return dpt__call_run(call, args->planes, avgpool, args);
}

static int pool_average_window(dpt_tensor *result, const dpt_tensor *operand, const dpt_tensor *in,
                               const dpt_window *window, int backward) {
  dpt__call call;
  dpt__images images;
  struct dpt__avgpool_args args = {.count_pad = window->count_pad, .backward = backward};
  dpt__call_begin(&call, DPT__KERNEL_avgpool, "average pooling", backward ? "gradOutput" : "input",
                  operand);
  operand = dpt__call_in(&call, backward ? "gradOutput" : "input", operand, NULL);
  dpt__images_of(&call, "input", in, window->ndim, &images);
  dpt__slide_start(&call, window, &args.slide);
  for (int d = 0; d < 3; d++) args.slide.dilation[d] = 1; /* unused by average pooling */
  pool_sizes(&call, in, &images, window->ceil, &args.slide);
  return pool_average(&call, result, operand, &images, window->ndim, &args);
}

int dpt_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_window *window) {
  return pool_average_window(out, in, in, window, 0);
}

int dpt_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_window *window) {
  return pool_average_window(gin, gout, in, window, 1);
}

int dpt_adaptive_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                 const int64_t *size) {
  dpt__call call;
  dpt__images images;
  struct dpt__avgpool_args args = {.adaptive = 1};
  dpt__call_begin(&call, DPT__KERNEL_avgpool, "adaptive average pooling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  dpt__images_of(&call, "input", x, ndim, &images);
  pool_adaptive_sizes(&call, "input", x, &images, ndim, size, &args.slide);
  return pool_average(&call, out, x, &images, ndim, &args);
}

int dpt_adaptive_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim) {
  dpt__call call;
  dpt__images images, small;
  struct dpt__avgpool_args args = {.adaptive = 1, .backward = 1};
  dpt__call_begin(&call, DPT__KERNEL_avgpool, "adaptive average pooling", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, NULL);
  dpt__images_of(&call, "input", in, ndim, &images);
  dpt__images_of(&call, "gradOutput", gy, ndim, &small);
  if (!call.status)
    pool_adaptive_sizes(&call, "gradOutput", gy, &images, ndim, small.size + 3 - ndim, &args.slide);
  return pool_average(&call, gin, gy, &images, ndim, &args);
}
