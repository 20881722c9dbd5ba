/* matrix.c: triangles, histograms, renorm and torch.conv2 with its relatives. */
#include "device/launch.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "tensor/tensor.h"

#include <math.h>

static int matrix_triangle(const char *fn, dpt_tensor *r, const dpt_tensor *a, int64_t k,
                           int upper) {
  dpt__launch l;
  DPT__TRY(dpt__check_kind(fn, r, a));
  if (a->ndim_ != 2) return dpt__fail_argument(fn, "x", a, "a matrix");
  if (!dpt_is_set_to(r, a)) {
    const dpt_tensor view = *a;
    DPT__TRY(dpt__result(r, 2, a->size_, dpt_tensor_device(a)) || dpt_copy(r, &view));
  }
  if (dpt__count(r) == 0) return 0;
  dpt__triangle_args g = {.width = (int32_t)dpt__dtype_size(dpt__type(r)),
                          .upper = upper,
                          .rows = r->size_[0],
                          .cols = r->size_[1],
                          .row_stride = r->stride_[0],
                          .col_stride = r->stride_[1],
                          .k = k};
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, r, &g.data);
  return dpt__launch_run(&l, triangle, &g);
}

int dpt_tril(dpt_tensor *r, const dpt_tensor *a, int64_t k) {
  return matrix_triangle("tril", r, a, k, 0);
}
int dpt_triu(dpt_tensor *r, const dpt_tensor *a, int64_t k) {
  return matrix_triangle("triu", r, a, k, 1);
}

/* Computes a histogram of all elements (dims 1) or of each row (dims 2). */
static int matrix_histogram(const char *fn, int dims, dpt_tensor *r, const dpt_tensor *a,
                            int64_t bins, double low, double high) {
  int type = dpt__type(a), device = dpt_tensor_device(a);
  int64_t rows = dims == 2 ? a->size_[0] : 1;
  const int64_t size[] = {rows, bins};
  if (type != DPT_F32 && type != DPT_F64)
    return dpt__fail_argument(fn, "x", a, "floats or doubles");
  if (bins < 1) return dpt__fail("%s: got %lld bins, wanted at least 1", fn, (long long)bins);
  if (dpt__count(a) == 0) return dpt__fail("%s: the tensor is empty", fn);
  if (low == high) {
    DPT__TRY(dpt_reduce_all(dpt_reduction("min"), a, 0, &low));
    DPT__TRY(dpt_reduce_all(dpt_reduction("max"), a, 0, &high));
  }
  if (low == high) low -= 1, high += 1;
  if (!(low < high) || !isfinite(low) || !isfinite(high))
    return dpt__fail("%s: got bins from %g to %g, wanted finite increasing bounds", fn, low, high);
  dpt_tensor in = {.kind_ = a->kind_}, out = {.kind_ = r->kind_};
  dpt__launch l;
  dpt__histogram_args g = {.dtype = type,
                           .rows = rows,
                           .n = dpt__count(a) / rows,
                           .bins = bins,
                           .low = low,
                           .high = high};
  const int64_t *shape = dims == 2 ? size : size + 1;
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, &out, &g.out);
  dpt__launch_in(&l, &in, &g.a);
  int failed = dpt_contiguous(&in, a) || dpt__result(&out, dims, shape, device) ||
               dpt__launch_run(&l, histogram, &g);
  dpt_tensor_free(&in);
  return dpt__copy_result(failed, r, &out);
}

int dpt_histc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max) {
  DPT__TRY(dpt__check_kind("histc", r, a));
  return matrix_histogram("histc", 1, r, a, bins, min, max);
}

int dpt_bhistc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max) {
  DPT__TRY(dpt__check_kind("bhistc", r, a));
  if (a->ndim_ != 2) return dpt__fail_argument("bhistc", "x", a, "a matrix");
  return matrix_histogram("bhistc", 2, r, a, bins, min, max);
}

int dpt_renorm(dpt_tensor *r, const dpt_tensor *a, double p, int dim, double max_norm) {
  static const char fn[] = "renorm";
  DPT__TRY(dpt__check_kind(fn, r, a) || dpt__check_dim(fn, a, dim));
  if (!dpt__is_real(dpt__type(a))) return dpt__fail_argument(fn, "x", a, "a tensor of reals");
  if (!(p > 0)) return dpt__fail("%s: the norm's exponent is %g, wanted a positive number", fn, p);
  dpt_tensor front = {.kind_ = a->kind_}, rows = {.kind_ = a->kind_};
  dpt__launch l;
  dpt__renorm_args g = {.dtype = dpt__type(a), .rows = a->size_[dim], .p = p, .max_norm = max_norm};
  if (dpt__count(a) == 0) return dpt_resize_as(r, a);
  g.m = dpt__count(a) / g.rows;
  /* Makes a copy whose rows are the slices, scales it in place, and copies it back. */
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, &rows, &g.data);
  int failed = dpt_transpose(&front, a, 0, dim) || dpt_clone(&rows, &front) ||
               dpt__launch_run(&l, renorm, &g) || dpt_transpose(&front, &rows, 0, dim) ||
               dpt__result(r, a->ndim_, a->size_, dpt_tensor_device(a)) || dpt_copy(r, &front);
  dpt_tensor_free(&front);
  dpt_tensor_free(&rows);
  return failed;
}

static int matrix_planes(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *k, int ndim,
                         int full, int flip) {
  static const char fn[] = "conv";
  int many = a->ndim_ - ndim, summed = k->ndim_ == ndim + 2;
  int64_t size[DPT_MAXDIM];
  dpt__planes_args g = {.dtype = dpt__type(a), .flip = flip, .outputs = 1, .inputs = 1};
  if (many) g.outputs = a->size_[0], g.a_output = a->stride_[0], g.k_output = k->stride_[0];
  if (summed) {
    g.outputs = k->size_[0], g.inputs = a->size_[0];
    g.a_output = 0, g.a_input = a->stride_[0];
    g.k_input = k->stride_[1];
  }
  for (int i = 0; i < 3; i++) {
    int d = i - (3 - ndim); /* missing dimensions come first */
    g.a_size[i] = d < 0 ? 1 : a->size_[d + many];
    g.k_size[i] = d < 0 ? 1 : k->size_[d + k->ndim_ - ndim];
    g.a_stride[i] = d < 0 ? 0 : a->stride_[d + many];
    g.k_stride[i] = d < 0 ? 0 : k->stride_[d + k->ndim_ - ndim];
    g.pad[i] = full ? g.k_size[i] - 1 : 0;
    g.r_size[i] = g.a_size[i] + 2 * g.pad[i] - g.k_size[i] + 1;
    if (g.r_size[i] < 1 || (many && (summed ? k->size_[1] : k->size_[0]) != a->size_[0]))
      return dpt__fail("%s: a %s does not fit a kernel of size %s", fn, dpt__describe(a),
                       dpt__describe_size(k));
    if (d >= 0) size[d + many] = g.r_size[i];
  }
  if (many) size[0] = g.outputs;
  dpt_tensor out = {.kind_ = r->kind_};
  dpt__launch l;
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, &out, &g.r);
  dpt__launch_in(&l, a, &g.a);
  dpt__launch_in(&l, k, &g.k);
  int failed =
      dpt__result(&out, a->ndim_, size, dpt_tensor_device(a)) || dpt__launch_run(&l, planes, &g);
  return dpt__copy_result(failed, r, &out);
}

int dpt_conv(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *k, int ndim, int full,
             int flip) {
  DPT__TRY(dpt__check_kind("conv", r, a) || dpt__check_kind("conv", r, k));
  int many = a->ndim_ - ndim, more = k->ndim_ - ndim;
  if ((many == 0 && more == 0) || (many == 1 && (more == 1 || more == 2)))
    return matrix_planes(r, a, k, ndim, full, flip);
  return dpt__fail("conv%d: got a %s and a kernel of size %s, whose dimensions do not match", ndim,
                   dpt__describe(a), dpt__describe_size(k));
}
