/* scan.c: cumulative sums and products, and cross products, along a dimension. */
#include "device/launch.h"
#include "ops/create.h"
#include "tensor/tensor.h"

static int scan_run(const char *fn, dpt_tensor *r, const dpt_tensor *in, int dim, int product) {
  const dpt_tensor view = *in, *a = &view; /* a copy: r may be `in`, and is resized */
  dpt__launch l;
  DPT__TRY(dpt__check_kind(fn, r, a) || dpt__check_dim(fn, a, dim));
  DPT__TRY(dpt__result(r, a->ndim_, a->size_, dpt_tensor_device(a)));
  dpt__scan_args g = {.product = product, .dtype = dpt__type(a), .n = a->size_[dim]};
  g.a_stride = a->stride_[dim], g.r_stride = r->stride_[dim];
  dpt__slices_start(&g.slices, a, dim, 2, (const dpt_tensor *const[]){a, r});
  if (g.n == 0 || g.slices.count == 0) return 0;
  dpt__launch_begin(&l, fn);
  dpt__launch_operand(&l, dpt_is_set_to(r, a) ? DPT__IN_PLACE : DPT__IN, a, &g.a);
  dpt__launch_out(&l, r, &g.r);
  return dpt__launch_run(&l, scan, &g);
}

int dpt_cumsum(dpt_tensor *r, const dpt_tensor *a, int dim) {
  return scan_run("cumsum", r, a, dim, 0);
}

int dpt_cumprod(dpt_tensor *r, const dpt_tensor *a, int dim) {
  return scan_run("cumprod", r, a, dim, 1);
}

static int cross_launch(dpt_tensor *r, dpt_tensor view_a, dpt_tensor view_b, int dim) {
  const dpt_tensor *a = &view_a, *b = &view_b; /* copies: r may be one of the operands */
  dpt__launch l;
  DPT__TRY(dpt__result(r, a->ndim_, a->size_, dpt_tensor_device(a)));
  dpt__cross_args g = {.dtype = dpt__type(a)};
  g.a_stride = a->stride_[dim], g.b_stride = b->stride_[dim], g.r_stride = r->stride_[dim];
  dpt__slices_start(&g.slices, a, dim, 3, (const dpt_tensor *const[]){a, b, r});
  if (g.slices.count == 0) return 0;
  dpt__launch_begin(&l, "cross");
  dpt__launch_in(&l, a, &g.a);
  dpt__launch_in(&l, b, &g.b);
  dpt__launch_out(&l, r, &g.r);
  return dpt__launch_run(&l, cross, &g);
}

int dpt_cross(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, int dim) {
  DPT__TRY(dpt__check_kind("cross", r, a) || dpt__check_kind("cross", r, b));
  if (!dpt__same_size(a, b))
    return dpt__fail("cross: got a %s and a %s, wanted the same size", dpt__describe(a),
                     dpt__describe(b));
  for (int d = 0; d < a->ndim_ && dim < 0; d++)
    if (a->size_[d] == 3) dim = d;
  if (dim < 0) return dpt__fail("cross: no dimension of a %s has size 3", dpt__describe(a));
  DPT__TRY(dpt__check_dim("cross", a, dim));
  if (a->size_[dim] != 3)
    return dpt__fail("cross: dimension %d of a %s has size %lld, wanted 3", dim + 1,
                     dpt__describe(a), (long long)a->size_[dim]);
  return cross_launch(r, *a, *b, dim);
}
