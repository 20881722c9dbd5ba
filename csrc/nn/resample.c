/* resample.c: upsampling and padding of planes: shapes and checks, then the backend's kernels. */
#include "nn/window.h"

static void resample_check_factor(dpt__call *call, int64_t factor) {
  if (!call->status && (factor < 1 || factor > INT32_MAX))
    call->status =
        dpt__fail("%s: argument 'factor' is %lld, wanted 1 or more", call->fn, (long long)factor);
}

/* Launches forward (operand: in) or backward (operand: gout) once both sizes are known. */
static int resample_up(dpt__call *call, dpt_tensor *result, const dpt_tensor *operand,
                       const dpt__images *images, int ndim, struct dpt__upsample_args *args) {
  dpt_tensor *r = dpt__images_out_side(call, args->backward, result, operand, images, ndim,
                                       args->insize, args->outsize, &args->in, &args->out);
  args->planes = images->N * images->C;
  return dpt__call_run(call, dpt__call_some(r) && dpt__call_some(operand), upsample, args);
}

static int resample_nearest(dpt_tensor *result, const dpt_tensor *operand, const dpt_tensor *in,
                            int ndim, int64_t factor, int backward) {
  dpt__call call;
  dpt__images images = {0};
  struct dpt__upsample_args args = {.backward = backward};
  dpt__call_begin(&call, DPT__KERNEL_upsample, "upsampling", backward ? "gradOutput" : "input",
                  operand);
  operand = dpt__call_in(&call, backward ? "gradOutput" : "input", operand, NULL);
  dpt__images_of(&call, "input", in, ndim, &images);
  resample_check_factor(&call, factor);
  for (int d = 0; d < 3 && !call.status; d++) {
    args.insize[d] = images.size[d];
    args.outsize[d] = images.size[d] * (d < 3 - ndim ? 1 : factor);
  }
  return resample_up(&call, result, operand, &images, ndim, &args);
}

int dpt_upsample_nearest_forward(dpt_tensor *out, const dpt_tensor *in, int ndim, int64_t factor) {
  return resample_nearest(out, in, in, ndim, factor, 0);
}

int dpt_upsample_nearest_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim, int64_t factor) {
  return resample_nearest(gin, gout, in, ndim, factor, 1);
}

int dpt_upsample_linear_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                const int64_t *size) {
  dpt__call call;
  dpt__images images = {0};
  struct dpt__upsample_args args = {.linear = 1};
  dpt__call_begin(&call, DPT__KERNEL_upsample, "upsampling", "input", in);
  const dpt_tensor *x = dpt__call_in(&call, "input", in, NULL);
  dpt__images_of(&call, "input", x, ndim, &images);
  if (!call.status) dpt__sizes3(ndim, size, args.outsize);
  for (int d = 0; d < 3 && !call.status; d++) {
    args.insize[d] = images.size[d];
    if (args.outsize[d] < 1 || args.insize[d] < 1)
      call.status = dpt__fail("upsampling: argument 'input' is a %s and the output has size %lld "
                              "in one dimension, wanted at least 1 in both",
                              dpt__describe(x), (long long)args.outsize[d]);
  }
  return resample_up(&call, out, x, &images, ndim, &args);
}

int dpt_upsample_linear_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                 int ndim) {
  dpt__call call;
  dpt__images images = {0}, large = {0};
  struct dpt__upsample_args args = {.linear = 1, .backward = 1};
  dpt__call_begin(&call, DPT__KERNEL_upsample, "upsampling", "gradOutput", gout);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, NULL);
  dpt__images_of(&call, "input", in, ndim, &images);
  dpt__images_of(&call, "gradOutput", gy, ndim, &large);
  for (int d = 0; d < 3; d++) {
    args.insize[d] = images.size[d];
    args.outsize[d] = large.size[d];
  }
  return resample_up(&call, gin, gy, &images, ndim, &args);
}

/* Pads (negative: crops) the last ndim dimensions; the others are planes. */
static int resample_pad(dpt_tensor *result, const dpt_tensor *operand, const dpt_tensor *in,
                        int mode, int ndim, const int64_t *below, const int64_t *above,
                        int backward) {
  dpt__call call;
  int64_t size[DPT_MAXDIM], after[3] = {0};
  struct dpt__pad_args args = {.mode = mode, .backward = backward, .planes = 1};
  dpt__call_begin(&call, DPT__KERNEL_pad, "padding", backward ? "gradOutput" : "input", operand);
  const dpt_tensor *x = dpt__call_in(&call, backward ? "gradOutput" : "input", operand, NULL);
  dpt__call_present(&call, "input", in);
  if (!call.status && (mode < DPT_PAD_ZERO || mode > DPT_PAD_REPLICATE))
    call.status = dpt__fail("padding: argument 'mode' is %d, wanted one of DPT_PAD_", mode);
  if (!call.status && (ndim < 1 || ndim > 3 || in->ndim_ < ndim))
    call.status = dpt__fail("padding: argument 'input' is a %s, wanted %d dimensions or more",
                            dpt__describe(in), ndim);
  if (call.status) return dpt__call_end(&call);
  int first = in->ndim_ - ndim;
  for (int d = 0; d < in->ndim_; d++) size[d] = in->size_[d];
  for (int d = 0; d < first; d++) args.planes *= size[d];
  dpt__sizes3(ndim, size + first, args.insize);
  for (int d = 0; d < ndim; d++) {
    args.below[3 - ndim + d] = below[d];
    after[3 - ndim + d] = above[d];
  }
  for (int d = 0; d < 3 && !call.status; d++) {
    int64_t n = args.insize[d], most = mode == DPT_PAD_REFLECT ? n - 1 : INT32_MAX;
    int64_t least = mode == DPT_PAD_ZERO ? -n : -INT32_MAX;
    int fits = args.below[d] <= most && after[d] <= most && args.below[d] >= least &&
               after[d] >= least && (n >= 1 || mode == DPT_PAD_ZERO);
    if (fits) args.outsize[d] = n + args.below[d] + after[d];
    if (!fits || args.outsize[d] < 1)
      call.status = dpt__fail(
          "padding: argument 'input' is a %s, which paddings %lld and %lld do not fit%s",
          dpt__describe(in), (long long)args.below[d], (long long)after[d],
          mode == DPT_PAD_REFLECT ? "; reflection requires each to be less than the size" : "");
    if (d >= 3 - ndim) size[first + d - (3 - ndim)] = args.outsize[d];
  }
  if (call.status) return dpt__call_end(&call);
  dpt_tensor *r = dpt__call_out_side(&call, backward, result, x, in->ndim_, in->size_, size,
                                     &args.in, &args.out);
  return dpt__call_run(&call, dpt__call_some(r) && (dpt__call_some(x) || !backward), pad, &args);
}

int dpt_pad_forward(dpt_tensor *out, const dpt_tensor *in, int mode, int ndim, const int64_t *below,
                    const int64_t *above) {
  return resample_pad(out, in, in, mode, ndim, below, above, 0);
}

int dpt_pad_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in, int mode,
                     int ndim, const int64_t *below, const int64_t *above) {
  return resample_pad(gin, gout, in, mode, ndim, below, above, 1);
}
