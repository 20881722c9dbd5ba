/* columns.cu: convolution by columns of patches and matrix products, for cases without cuDNN.
 *
 * Invariant: in deterministic mode an image's bits do not depend on the other images. WEIGHT sums
 * images in order; images computed together are summed together first. One thread sums the
 * contributions to an element of `in`, in the order of the kernel's elements. Sums of reduced types
 * are floats, rounded once: columns of DATA, and weights' gradients.
 */
#include "cuda/element.h"
#include "cuda/gemm.h"
#include "cuda/nn/convolution.h"
#include "cuda/walk.h"
extern "C" {
#include "nn/products.h"
}

namespace {

/* From this many positions on, the weights' gradient of one image is enough work for a GPU. */
enum : int64_t { MANY = 1 << 12 };

/* Copies patches: col (planes, K, S') from in (planes, S); `count` elements of col. */
template <typename T, typename Index>
__global__ void columns(dpt__slide s, const T *in, T *col, Index count) {
  Index i = dpt__thread<Index>();
  if (i >= count) return;
  dpt__plane_index<Index> o = dpt__plane_index_of(i, s.out),
                          k = dpt__plane_index_of(o.plane, s.kernel);
  Index x[3];
  bool inside = true;
  for (int d = 0; d < 3; d++) {
    x[d] = o.at[d] * (Index)s.stride[d] + k.at[d] * (Index)s.dilation[d] - (Index)s.pad[d];
    inside = inside && x[d] >= 0 && x[d] < (Index)s.in[d];
  }
  in += (int64_t)k.plane * (s.in[0] * s.in[1] * s.in[2]);
  col[i] = inside ? in[(x[0] * s.in[1] + x[1]) * s.in[2] + x[2]] : T();
}

/* Sums the contributions of col (planes, K, S') to each element of in (planes, S); `count` elements
 * of in. */
template <typename T, typename Col, typename Index>
__global__ void uncolumns(dpt__slide s, const Col *col, T *in, Index count) {
  Index i = dpt__thread<Index>();
  if (i >= count) return;
  dpt__plane_index<Index> x = dpt__plane_index_of(i, s.in);
  int64_t S = s.out[0] * s.out[1] * s.out[2], K = s.kernel[0] * s.kernel[1] * s.kernel[2];
  col += (int64_t)x.plane * K * S;
  Col sum = 0;
  for (Index k0 = 0; k0 < (Index)s.kernel[0]; k0++)
    for (Index k1 = 0; k1 < (Index)s.kernel[1]; k1++)
      for (Index k2 = 0; k2 < (Index)s.kernel[2]; k2++, col += S) {
        Index k[3] = {k0, k1, k2}, o[3];
        bool inside = true;
        for (int d = 0; d < 3; d++) {
          Index from = x.at[d] + (Index)s.pad[d] - k[d] * (Index)s.dilation[d];
          o[d] = from / (Index)s.stride[d];
          inside =
              inside && from >= 0 && from == o[d] * (Index)s.stride[d] && o[d] < (Index)s.out[d];
        }
        if (inside) sum += col[(o[0] * s.out[1] + o[1]) * s.out[2] + o[2]];
      }
  in[i] = dpt__store<T>::from(sum);
}

/* Adds the gradients of n images to weight; `count` elements. */
template <typename T>
__global__ void add_images(T *weight, const T *parts, int64_t n, int64_t count) {
  int64_t i = dpt__thread<int64_t>();
  if (i >= count) return;
  double sum = 0;
  for (int64_t k = 0; k < n; k++) sum += parts[k * count + i];
  weight[i] = (T)(weight[i] + sum);
}

/* Returns the largest number in the kernels' index arithmetic. */
int64_t most_of(const dpt__slide *s, int64_t planes) {
  int64_t in = planes * dpt__volume(s->in);
  int64_t col = planes * dpt__volume(s->kernel) * dpt__volume(s->out), most = in > col ? in : col;
  for (int d = 0; d < 3; d++) {
    int64_t reach = s->in[d] + 2 * s->pad[d] + s->kernel[d] * s->dilation[d];
    if (reach > most) most = reach;
  }
  return most;
}

template <typename T>
int to_columns(dpt__context *context, const dpt__slide *s, int64_t planes, const T *in, T *col) {
  return dpt__of_index(most_of(s, planes), [&](auto index) {
    typedef decltype(index) Index;
    int64_t count = planes * dpt__volume(s->kernel) * dpt__volume(s->out);
    auto kernel = columns<T, Index>;
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *s, in, col,
                      (Index)count);
  });
}

template <typename T, typename Col>
int from_columns(dpt__context *context, const dpt__slide *s, int64_t planes, const Col *col,
                 T *in) {
  return dpt__of_index(most_of(s, planes), [&](auto index) {
    typedef decltype(index) Index;
    int64_t count = planes * dpt__volume(s->in);
    auto kernel = uncolumns<T, Col, Index>;
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *s, col, in,
                      (Index)count);
  });
}

/* Returns true if the columns of an image are the image itself. */
bool pointwise(const dpt__slide *s) {
  for (int d = 0; d < 3; d++)
    if (s->kernel[d] != 1 || s->stride[d] != 1 || s->pad[d] != 0) return false;
  return true;
}

/* Multiplies n images: all at once if there is one group, otherwise all groups of one image. */
template <typename T, typename Col>
int products(dpt__context *context, const struct dpt__convolution_args *a, int64_t n, Col *col,
             T *out) {
  int64_t S = dpt__volume(a->slide.out), K = a->I * dpt__volume(a->slide.kernel);
  int64_t of_weight = a->O / a->groups * (K / a->groups);
  bool images = a->groups == 1 && a->pass != DPT__PASS_WEIGHT;
  int64_t col_stride = images ? K * S : K / a->groups * S;
  int64_t out_stride = images ? a->O * S : a->O / a->groups * S;
  int64_t weight_stride = images ? 0 : of_weight;
  for (int64_t i = 0; i < n; i += images ? n : 1) {
    dpt__gemm_args g = dpt__convolution_product(a, a->deterministic && a->pass != DPT__PASS_WEIGHT,
                                                0, col + i * K * S, out + i * a->O * S, a->weight);
    if (sizeof(Col) != sizeof(T)) g.c_dtype = dpt__compute_dtype(a->type);
    g.batch = images ? n : a->groups;
    g.a_batch = a->pass == DPT__PASS_WEIGHT ? out_stride : weight_stride;
    g.b_batch = a->pass == DPT__PASS_DATA ? out_stride : col_stride;
    g.c_batch = a->pass == DPT__PASS_FORWARD ? out_stride
                : a->pass == DPT__PASS_DATA  ? col_stride
                                             : weight_stride;
    if (dpt__cuda_gemm(context, &g)) return 1;
  }
  return 0;
}

/* Computes the weights' gradient from n images of one group, in batches of at most `most`
 * images. */
template <typename T, typename Sum>
int gradient(dpt__context *context, const struct dpt__convolution_args *a, int64_t n, int64_t most,
             T *col, T *out, Sum *parts) {
  int64_t S = dpt__volume(a->slide.out), K = a->I * dpt__volume(a->slide.kernel), count = a->O * K;
  auto kernel = add_images<Sum>;
  for (int64_t i = 0; i < n; i += most) {
    dpt__gemm_args g =
        dpt__convolution_product(a, 0, 0, col + i * K * S, out + i * a->O * S, parts);
    g.beta = 0;
    g.batch = n - i < most ? n - i : most;
    g.a_batch = a->O * S;
    g.b_batch = K * S;
    g.c_batch = count;
    if (dpt__cuda_gemm(context, &g) ||
        DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, (Sum *)a->weight,
                   (const Sum *)parts, g.batch, count))
      return 1;
  }
  return 0;
}

/* The type of WEIGHT's gradients is the one that kernels compute in. */
template <typename T> int convolve(dpt__context *context, const struct dpt__convolution_args *a) {
  typedef typename dpt__wide<T>::type wide;
  int64_t image = a->I * dpt__volume(a->slide.in), S = dpt__volume(a->slide.out);
  int64_t each = a->I * dpt__volume(a->slide.kernel) * S, chunk = DPT__COLUMNS / each;
  bool straight = pointwise(&a->slide);
  if (chunk < 1) chunk = 1;
  if (chunk > a->N || straight) chunk = a->N;
  size_t width = a->pass == DPT__PASS_DATA ? sizeof(wide) : sizeof(T);
  void *col = straight ? NULL : dpt__scratch(context, (size_t)(chunk * each) * width);
  /* batch several images if the product of one is small */
  int64_t of_weight = a->O * a->I * dpt__volume(a->slide.kernel), most = DPT__COLUMNS / of_weight;
  if (most > chunk) most = chunk;
  bool together = a->pass == DPT__PASS_WEIGHT && a->groups == 1 && most > 1 && S < MANY;
  wide *parts = NULL;
  if (together) parts = (wide *)dpt__scratch(context, (size_t)(most * of_weight) * sizeof *parts);
  if (context->measures) return 0; /* products of dense matrices need no temporary memory */
  for (int64_t i = 0; i < a->N; i += chunk) {
    int64_t n = a->N - i < chunk ? a->N - i : chunk;
    T *in = (T *)a->in + i * image, *out = (T *)a->out + i * a->O * S;
    if (!straight && a->pass == DPT__PASS_DATA) {
      if (products(context, a, n, (wide *)col, out) ||
          from_columns(context, &a->slide, n * a->I, (const wide *)col, in))
        return 1;
      continue;
    }
    T *from = straight ? in : (T *)col;
    if (!straight && to_columns(context, &a->slide, n * a->I, in, from)) return 1;
    if (together ? gradient(context, a, n, most, from, out, parts)
                 : products(context, a, n, from, out))
      return 1;
  }
  return 0;
}

} // namespace

int dpt__cuda_conv_columns(dpt__context *context, const struct dpt__convolution_args *a) {
  if (a->pass == DPT__PASS_WEIGHT && dpt__is_reduced(a->param_type)) {
    int64_t count = a->O * (a->I / a->groups) * dpt__volume(a->slide.kernel), one = 1;
    int type = a->param_type, wide = dpt__compute_dtype(type);
    struct dpt__convolution_args sums = *a;
    sums.param_type = wide;
    sums.weight = dpt__scratch(context, (size_t)count * dpt__dtype_size(wide));
    return dpt__cuda_copy(context, 1, &count, wide, sums.weight, &one, type, a->weight, &one) ||
           dpt__cuda_conv_columns(context, &sums) ||
           dpt__cuda_copy(context, 1, &count, type, a->weight, &one, wide, sums.weight, &one);
  }
  return dpt__of_stored_real(a->type,
                             [&](auto zero) { return convolve<decltype(zero)>(context, a); });
}
