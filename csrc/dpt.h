/* dpt.h: the public C interface of libdpt.
 *
 * What must stay true: the text between the two marks is plain C declarations, no macros, since
 * LuaJIT's FFI reads this very text (the build compiles it into the library, dpt_cdef() gives it).
 * Every function that can fail returns 0, or nonzero and leaves one sentence in dpt_message() of
 * the calling thread: the sentence names the function, the argument, what it got and what it
 * wanted. Dimensions and indices are counted from 0 here; Lua's 1-based numbers are translated in
 * lua/dpt. Tensor arguments named r, out, gin, gw ... are results; `const` ones are only read.
 */
#ifndef DPT_H
#define DPT_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* ---- base ---------------------------------------------------------------------------------- */

/* The sentence of the last failure on this thread; "" if there was none. */
const char *dpt_message(void);
/* "0.1.0", and the text between the marks of this header. */
const char *dpt_version(void);
const char *dpt_cdef(void);

/* Element types, in the order of the one list in base/dtype.h. */
enum { DPT_U8, DPT_I8, DPT_I16, DPT_I32, DPT_I64, DPT_F16, DPT_F32, DPT_F64, DPT_NDTYPE };

/* ---- tensor -------------------------------------------------------------------------------- */

enum { DPT_MAXDIM = 12, DPT_ON_DEVICE = 8 };

/* Counted memory of one element type on the host or on one device; device/storage.h has its rules.
 */
typedef struct dpt_storage dpt_storage;

/* A view of a storage, by value: whoever made it owns one reference to store_ (dpt_tensor_free
 * gives it back). Field names end in _ so that none hides a Lua method. kind_ is the element type,
 * plus DPT_ON_DEVICE for device memory; it never changes after birth. ndim_ 0 means no elements
 * (Torch7's empty tensor), whatever store_ is. Strides count elements. */
typedef struct dpt_tensor {
  dpt_storage *store_;
  int64_t first_; /* offset of the first element in the storage, from 0 */
  int32_t kind_;
  int32_t ndim_;
  int64_t size_[12];
  int64_t step_[12];
} dpt_tensor;

/* Views and sizes. Dimensions and indices are from 0. `out` is a zeroed tensor whose kind_ is set,
 * an older tensor of the same kind (its reference is given back), or the very tensor that is looked
 * at. A view shares the storage. Nothing is changed where a function fails. */

/* r: a fresh contiguous tensor, elements not set; on devices: on the current one. Whatever r held
 * is not looked at. ndim 0: empty, without storage. */
int dpt_tensor_new(dpt_tensor *r, int kind, int ndim, const int64_t *size);
/* Gives the reference back; the tensor is empty afterwards and may be used again. */
void dpt_tensor_free(dpt_tensor *t);
/* r becomes another view of a's elements. */
int dpt_tensor_set(dpt_tensor *r, const dpt_tensor *a);
/* r becomes a view of storage (NULL: empty) from element first; step NULL or negative entries:
 * contiguous. A storage that is too small grows, as in Torch7. */
int dpt_set_storage(dpt_tensor *r, dpt_storage *storage, int64_t first, int ndim,
                    const int64_t *size, const int64_t *step);
/* Torch7's resize: the same sizes (and steps, where given) change nothing; else r is contiguous (or
 * has the given steps; negative ones: contiguous) and its storage grows where it is too small. */
int dpt_resize(dpt_tensor *r, int ndim, const int64_t *size);
int dpt_resize_step(dpt_tensor *r, int ndim, const int64_t *size, const int64_t *step);
int dpt_resize_as(dpt_tensor *r, const dpt_tensor *a);
/* Elements first .. first+n-1 of a dimension. */
int dpt_narrow(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t first, int64_t n);
/* Slice i of a dimension, which goes away; t has two dimensions or more. */
int dpt_select(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t i);
int dpt_transpose(dpt_tensor *out, const dpt_tensor *t, int dim1, int dim2);
/* Dimension d of out is dimension order[d] of t; order has t's dimension count. */
int dpt_permute(dpt_tensor *out, const dpt_tensor *t, const int32_t *order);
/* Windows of n elements every `step` of a dimension; the window is the new last dimension. */
int dpt_unfold(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t n, int64_t step);
/* Dimensions of size 1 are repeated by a step of 0; ndim must be t's. */
int dpt_expand(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Other sizes over the elements of a contiguous tensor; one of them may be -1. */
int dpt_view(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Without dimensions of size 1 (one stays if all are), or without dimension dim if its size is 1.
 */
int dpt_squeeze(dpt_tensor *out, const dpt_tensor *t);
int dpt_squeeze_dim(dpt_tensor *out, const dpt_tensor *t, int dim);
/* With a new dimension of size 1 before dimension dim. */
int dpt_unsqueeze(dpt_tensor *out, const dpt_tensor *t, int dim);
/* A view of t if it is contiguous, else of a contiguous copy. */
int dpt_contiguous(dpt_tensor *out, const dpt_tensor *t);
/* out: a contiguous copy in fresh memory on t's device. */
int dpt_clone(dpt_tensor *out, const dpt_tensor *t);

int64_t dpt_count(const dpt_tensor *t); /* elements */
int dpt_is_contiguous(const dpt_tensor *t);
int dpt_is_same_size(const dpt_tensor *a, const dpt_tensor *b);
int dpt_is_set_to(const dpt_tensor *a, const dpt_tensor *b); /* the same view of one storage */
int dpt_tensor_device(const dpt_tensor *t); /* from 1; 0: host memory or no storage */
/* The first element in host memory; NULL: a device tensor or no storage. */
void *dpt_tensor_data(const dpt_tensor *t);

/* The element `offset` places from t's first one (the sum of index * step_); refused outside the
 * storage. On devices it waits for the current stream (get) or is queued there (put). Integer types
 * truncate and wrap. */
int dpt_get(const dpt_tensor *t, int64_t offset, double *value);
int dpt_put(dpt_tensor *t, int64_t offset, double value);
/* The same by dimensions, with a check of every index. */
int dpt_get_at(const dpt_tensor *t, int n, const int64_t *index, double *value);
int dpt_put_at(dpt_tensor *t, int n, const int64_t *index, double value);

/* ---- fill, copy, pointwise ----------------------------------------------------------------- */

/* Every element becomes value (converted as in dpt_put). r is not resized. */
int dpt_fill(dpt_tensor *r, double value);
/* r = a, element by element in row-major order; equal counts, any types, any sides: host and
 * device, device and device. r is not resized. Host memory has been read or written when it
 * returns. */
int dpt_copy(dpt_tensor *r, const dpt_tensor *a);
/* The same, but page-locked host memory may still be in use when it returns: the current stream of
 * the device side orders it. */
int dpt_copy_async(dpt_tensor *r, const dpt_tensor *a);

/* Pointwise operations by name: ops/map.def lists them with their operands, numbers and types.
 * dpt_op gives the number of a name for the dpt_map calls, -1 if there is none.
 * r is resized to a's size (kept where the counts are equal); a, b and c have equal counts, not
 * necessarily equal sizes; r may be an operand. All are of one kind, except that r of a comparison
 * may be a ByteTensor kind. p and q are the operation's numbers: integer types truncate them first.
 */
int dpt_op(const char *name);
const char *dpt_op_name(int op);
int dpt_map1(int op, dpt_tensor *r, const dpt_tensor *a, double p, double q);
int dpt_map2(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, double p, double q);
int dpt_map3(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, const dpt_tensor *c,
             double p, double q);

/* ---- nn ------------------------------------------------------------------------------------ */

/* Layer operations on float and double tensors, all of one kind, on the host or on one device;
 * index and target tensors (idx, target) may be of any element type on the same device and hold
 * Torch7's numbers, counted from 1. Results (first, not const) are resized; gin has the size of in;
 * gradients of parameters (gw, gb, gweight ...) are not resized and are added to, times scale.
 * "(N) x" means that a batch dimension may be missing. Non-contiguous operands are legal. Empty
 * batches are legal: outputs are empty, sums get nothing. NULL stands where a doc comment allows.
 */

/* Layers work on one fixed block of rows (linear) or one image (convolution) at a time, so that a
 * row's output and gradInput do not depend on the other rows of its batch. Process-wide; its value
 * at the call counts, also for work that runs later. Starts as DPT_DETERMINISTIC says. */
void dpt_deterministic_set(int on);
int dpt_deterministic_get(void);

/* nn.Linear. in (N)xI, weight OxI, bias O or NULL, out (N)xO: out = in * weight^T + bias. */
int dpt_linear_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                       const dpt_tensor *bias);
int dpt_linear_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *weight);
/* gw += scale * gout^T * in; gb (may be NULL) += scale * the sum of gout's rows. */
int dpt_linear_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                               const dpt_tensor *gout, double scale);

/* How convolution and pooling slide: entries 0 .. ndim-1 from the outermost spatial dimension
 * (2-D: height, width; 3-D: time, height, width). Zeroed fields mean: groups 1, stride 1, pad 0,
 * dilation 1, adjust 0. */
typedef struct dpt_window {
  int32_t ndim;       /* 1, 2 or 3 */
  int32_t groups;     /* convolution: I and O are cut into that many independent groups */
  int32_t transposed; /* convolution: nn.SpatialFullConvolution; weight is Ix(O/groups)xK */
  int32_t ceil;       /* pooling: round output sizes up */
  int32_t count_pad;  /* average pooling: padding counts in the divisor */
  int32_t unused_;
  int64_t kernel[3], stride[3], pad[3], dilation[3];
  int64_t adjust[3]; /* transposed convolution: added to the output size */
} dpt_window;

/* Convolution (cross-correlation), 1-D to 3-D. in (N)xIxS, weight Ox(I/groups)xK or any shape of
 * equal count and first size (SpatialConvolutionMM), bias O or NULL, out (N)xOxS'. */
int dpt_conv_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                     const dpt_tensor *bias, const dpt_window *window);
/* in gives the size of gin only. */
int dpt_conv_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                           const dpt_tensor *weight, const dpt_window *window);
/* gw or gb may be NULL. */
int dpt_conv_backward_weight(dpt_tensor *gw, dpt_tensor *gb, const dpt_tensor *in,
                             const dpt_tensor *gout, const dpt_window *window, double scale);

/* Max pooling, dilation allowed, pad at most kernel/2. in (N)xCxS; idx (a LongTensor kind) gets
 * Torch7's indices: the place of the maximum within its plane, from 1. */
int dpt_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                        const dpt_window *window);
/* The same with windows that tile the plane: sizes size[0 .. ndim-1] of the output. */
int dpt_adaptive_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
/* Windows of size window->kernel begin where the Torch7 sequence of (N)xCxndim samples in [0,1)
 * says; output sizes are size[0 .. ndim-1] (nn.SpatialFractionalMaxPooling). */
int dpt_fractional_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                                   const dpt_tensor *samples, const dpt_window *window,
                                   const int64_t *size);
/* Backward of all three: gin = 0; gin[idx] += gout, plane by plane; ndim spatial dimensions. */
int dpt_maxpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_tensor *idx, int ndim);
/* nn.SpatialMaxUnpooling: out (planes of size[0 .. ndim-1]) = 0; out[idx] = in; and its gradient.
 */
int dpt_maxunpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *idx, int ndim,
                          const int64_t *size);
int dpt_maxunpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *idx,
                           int ndim);

/* Average pooling: in (N)xCxS. count_pad as Torch7's default, 0 as setCountExcludePad. */
int dpt_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_window *window);
int dpt_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_window *window);
int dpt_adaptive_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
int dpt_adaptive_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim);

/* SoftMax (log 0) and LogSoftMax (log 1) over the first dimension of 1-D and 3-D tensors, over the
 * second of 2-D and 4-D ones. */
int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log);
int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log);

/* Batch normalization of in NxC or NxCxS over N and S. weight and bias C or both NULL. Training:
 * save_mean and save_std (resized to C) get the batch's mean and 1/sqrt(var + eps), running_mean
 * and running_var become (1-momentum)*running + momentum*batch (unbiased variance). Otherwise the
 * running values normalize and nothing else is written. */
int dpt_batchnorm_forward(dpt_tensor *out, dpt_tensor *save_mean, dpt_tensor *save_std,
                          dpt_tensor *running_mean, dpt_tensor *running_var, const dpt_tensor *in,
                          const dpt_tensor *weight, const dpt_tensor *bias, int train,
                          double momentum, double eps);
/* gin, gweight and gbias may each be NULL; weight may be NULL. */
int dpt_batchnorm_backward(dpt_tensor *gin, dpt_tensor *gweight, dpt_tensor *gbias,
                           const dpt_tensor *in, const dpt_tensor *gout, const dpt_tensor *weight,
                           const dpt_tensor *running_mean, const dpt_tensor *running_var,
                           const dpt_tensor *save_mean, const dpt_tensor *save_std, int train,
                           double scale, double eps);

/* Dropout's mask (not resized): each element becomes `value` with probability 1-p, else 0. The draw
 * depends on seed, first_row + the element's row (dimension 0), its place in the row, module and
 * step alone: Philox, the same on every kind of device and for every split of a batch. */
int dpt_dropout_mask(dpt_tensor *mask, double p, double value, uint64_t seed, int64_t first_row,
                     uint32_t module, uint32_t step);

/* nn.LookupTable. weight VxD; idx of any shape, numbers from 1; out is idx's size x D. */
int dpt_lookup_forward(dpt_tensor *out, const dpt_tensor *weight, const dpt_tensor *idx);
/* gw[idx] += scale * gout (divided by the count of the index within idx with by_frequency), in the
 * order of idx; rows of index `padding` (0: none) get nothing. */
int dpt_lookup_backward(dpt_tensor *gw, const dpt_tensor *idx, const dpt_tensor *gout,
                        int64_t padding, int by_frequency, double scale);
/* Rows of weight named by idx whose p-norm exceeds max_norm are scaled down to it. */
int dpt_lookup_renorm(dpt_tensor *weight, const dpt_tensor *idx, double max_norm, double p);

/* Losses leave their value in out, a tensor of one element (on a device: still in flight). */

/* ClassNLLCriterion and SpatialClassNLLCriterion: in C, NxC or NxCxHxW of log-probabilities, target
 * 1, N or NxHxW; weight C or NULL; total (resized to 1) gets the sum of weights, which average
 * divides by; targets equal to ignore (counted from 1 like them; -100 by default) do not count. A
 * class out of range is an error, on devices at the next wait. */
int dpt_nll_forward(dpt_tensor *out, dpt_tensor *total, const dpt_tensor *in,
                    const dpt_tensor *target, const dpt_tensor *weight, int average,
                    int64_t ignore);
int dpt_nll_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, const dpt_tensor *total, int average,
                     int64_t ignore);

/* Pointwise losses, by name: mse abs smoothl1 bce (weight) softmargin distkl l1 (no target) margin
 * hinge (both: p is the margin). dpt_loss gives the number of a name, -1 if there is none.
 * out = sum over elements of f(in, target) * weight; average divides by the element count.
 * target has in's element count; weight too, or it is NULL. */
int dpt_loss(const char *name);
int dpt_loss_forward(int loss, dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight, int average, double p);
int dpt_loss_backward(int loss, dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                      const dpt_tensor *weight, int average, double p);
/* MultiMarginCriterion: in (N)xC, target N, p 1 or 2, weight C or NULL. */
int dpt_multimargin_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                            const dpt_tensor *weight, int average, int p, double margin);
int dpt_multimargin_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                             const dpt_tensor *weight, int average, int p, double margin);
/* MultiLabelMarginCriterion: in (N)xC, target of in's size: labels, ended by a 0. */
int dpt_multilabel_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                           int average);
int dpt_multilabel_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                            int average);

/* Upsampling of in (N)xCxS, ndim 1 to 3: nearest by a whole factor; linear (ndim 2, corners
 * aligned) to a size. in gives the size of gin only. */
int dpt_upsample_nearest_forward(dpt_tensor *out, const dpt_tensor *in, int ndim, int64_t factor);
int dpt_upsample_nearest_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim, int64_t factor);
int dpt_upsample_linear_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                const int64_t *size);
int dpt_upsample_linear_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                 int ndim);

/* Padding of the last ndim dimensions of in, below[d] before and above[d] after (negative: crop,
 * zeros only). */
enum { DPT_PAD_ZERO, DPT_PAD_REFLECT, DPT_PAD_REPLICATE };
int dpt_pad_forward(dpt_tensor *out, const dpt_tensor *in, int mode, int ndim, const int64_t *below,
                    const int64_t *above);
int dpt_pad_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in, int mode,
                     int ndim, const int64_t *below, const int64_t *above);

/* PReLU: weight 1 (shared) or C for in C, NxC, CxHxW, NxCxHxW (Torch7's rule). */
int dpt_prelu_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight);
int dpt_prelu_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                            const dpt_tensor *weight);
int dpt_prelu_backward_weight(dpt_tensor *gw, const dpt_tensor *gout, const dpt_tensor *in,
                              double scale);

/* SpatialCrossMapLRN: in (N)xCxHxW; denom (resized) keeps k + alpha/size * the sum of squares. */
int dpt_lrn_forward(dpt_tensor *out, dpt_tensor *denom, const dpt_tensor *in, int64_t size,
                    double alpha, double beta, double k);
int dpt_lrn_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                     const dpt_tensor *out, const dpt_tensor *denom, int64_t size, double alpha,
                     double beta);

/* Optimizer steps: one pass over vectors of equal count. As in optim.*, the weight decay stays in
 * the gradient g. sgd: g += decay*x; v = momentum*v + keep*g (keep = 1 - dampening; first != 0:
 * v = g); x -= rate * v, or rate * (g += momentum*v) with nesterov. v is NULL without momentum.
 * rates and decays (vectors, or NULL) multiply rate and replace decay. */
int dpt_sgd_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v, const dpt_tensor *rates,
                 const dpt_tensor *decays, double rate, double decay, double momentum, double keep,
                 int nesterov, int first);
/* g += decay*x; m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g*g;
 * x -= rate * m / (sqrt(v) + eps); rate is the bias-corrected step size. */
int dpt_adam_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v, double rate,
                  double decay, double beta1, double beta2, double eps);

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
