/* window.c: windows and images (see window.h). */
#include "nn/window.h"

void dpt__images_of(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    dpt__images *images) {
  static const char *const wanted[] = {"CxW or NxCxW", "CxHxW or NxCxHxW", "CxTxHxW or NxCxTxHxW"};
  dpt__call_present(call, name, t);
  if (call->status) return;
  if (ndim < 1 || ndim > 3) {
    call->status =
        dpt__fail("%s: argument 'window' has %d dimensions, wanted 1 to 3", call->fn, ndim);
    return;
  }
  dpt__call_dims(call, name, t, ndim + 1, ndim + 2, wanted[ndim - 1]);
  images->batch = t->ndim_ == ndim + 2;
  images->N = images->batch ? t->size_[0] : 1;
  images->C = t->size_[images->batch];
  dpt__sizes3(ndim, t->size_ + images->batch + 1, images->size);
}

int dpt__images_size(const dpt__images *images, int ndim, int64_t C, const int64_t size[3],
                     int64_t into[5]) {
  int n = 0;
  if (images->batch) into[n++] = images->N;
  into[n++] = C;
  for (int d = 3 - ndim; d < 3; d++) into[n++] = size[d];
  return n;
}

dpt_tensor *dpt__images_out_side(dpt__call *call, int backward, dpt_tensor *r,
                                 const dpt_tensor *operand, const dpt__images *images, int ndim,
                                 const int64_t insize[3], const int64_t outsize[3], void *in_field,
                                 void *out_field) {
  int64_t in[5], out[5];
  if (call->status) return NULL;
  int n = dpt__images_size(images, ndim, images->C, outsize, out);
  dpt__images_size(images, ndim, images->C, insize, in);
  return dpt__call_out_side(call, backward, r, operand, n, in, out, in_field, out_field);
}

void dpt__sizes3(int ndim, const int64_t *size, int64_t into[3]) {
  for (int d = 0; d < 3; d++) into[d] = d < 3 - ndim ? 1 : size[d - (3 - ndim)];
}

void dpt__slide_start(dpt__call *call, const dpt_window *window, struct dpt__slide *slide) {
  int missing = 3 - window->ndim;
  if (!call->status && (missing < 0 || missing > 2))
    call->status =
        dpt__fail("%s: argument 'window' has %d dimensions, wanted 1 to 3", call->fn, window->ndim);
  for (int d = 0; d < 3 && !call->status; d++) {
    int given = d >= missing, i = d - missing;
    slide->kernel[d] = given ? window->kernel[i] : 1;
    slide->stride[d] = given && window->stride[i] ? window->stride[i] : 1;
    slide->dilation[d] = given && window->dilation[i] ? window->dilation[i] : 1;
    slide->pad[d] = given ? window->pad[i] : 0;
    slide->in[d] = slide->out[d] = 1;
    int64_t limit = INT32_MAX;
    if (slide->kernel[d] < 1 || slide->stride[d] < 1 || slide->dilation[d] < 1 ||
        slide->pad[d] < 0 || slide->kernel[d] > limit || slide->stride[d] > limit ||
        slide->dilation[d] > limit || slide->pad[d] > limit)
      call->status = dpt__fail(
          "%s: argument 'window' has kernel %lld, stride %lld, dilation %lld, padding %lld in "
          "dimension %d, wanted kernel, stride and dilation of at least 1 and no negative padding",
          call->fn, (long long)slide->kernel[d], (long long)slide->stride[d],
          (long long)slide->dilation[d], (long long)slide->pad[d], i + 1);
  }
}
