/* window.h: converts a caller's window to three dimensions, with every field filled.
 *
 * Invariant: dpt__slide_start leaves missing outer dimensions at size 1 (kernel 1, stride 1, no
 * padding), so that kernels have one form. Images are tensors (N)xCxS with ndim spatial dimensions,
 * in Torch7's order of dimensions.
 */
#ifndef DPT_NN_WINDOW_H
#define DPT_NN_WINDOW_H
#include "nn/call.h"
#include "nn/kernels.h"

/* Images: N x C planes of three sizes. */
typedef struct dpt__images {
  int batch; /* true if the tensor has the dimension N */
  int64_t N, C, size[3];
} dpt__images;

/* Interprets t as images of ndim spatial dimensions; fails the call if it cannot. */
void dpt__images_of(dpt__call *call, const char *name, const dpt_tensor *t, int ndim,
                    dpt__images *images);
/* Computes the sizes of a tensor of such images with C planes of size[3]; returns the number of its
 * dimensions. */
int dpt__images_size(const dpt__images *images, int ndim, int64_t C, const int64_t size[3],
                     int64_t into[5]);
/* Calls dpt__call_out_side for images with C planes, of size insize on the side `in` and outsize on
 * the side `out`. */
dpt_tensor *dpt__images_out_side(dpt__call *call, int backward, dpt_tensor *r,
                                 const dpt_tensor *operand, const dpt__images *images, int ndim,
                                 const int64_t insize[3], const int64_t outsize[3], void *in_field,
                                 void *out_field);
/* Fills kernel, stride, pad and dilation and checks them. */
void dpt__slide_start(dpt__call *call, const dpt_window *window, struct dpt__slide *slide);
/* Copies size[0 .. ndim-1] into the last entries of three. */
void dpt__sizes3(int ndim, const int64_t *size, int64_t into[3]);

#endif
