/* scan.c: running sums and products, and cross products, along a dimension. */
#include "ops/apart.h"
#include "ops/create.h"

static int launch(const char *fn, dpt_tensor *r, const dpt_tensor *a, int dim, int product) {
  const dpt_tensor *const operands[] = {NULL, a, r};
  struct dpt__route route;
  DPT__TRY(dpt__result(r, a->ndim_, a->size_, dpt_tensor_device(a)) ||
           dpt__route(&route, fn, 3, operands));
  dpt__scan_args g = {.product = product, .dtype = dpt__type(a), .n = a->size_[dim]};
  g.a_step = a->step_[dim], g.r_step = r->step_[dim];
  dpt__lanes_start(&g.lanes, a, dim, 2, operands + 1);
  if (g.n == 0 || g.lanes.count == 0) return 0;
  g.a = dpt__at(a), g.r = dpt__at(r);
  return dpt__launch(&route, scan, fn, &g);
}

static int scan(const char *fn, dpt_tensor *r, const dpt_tensor *a, int dim, int product) {
  dpt__apart x;
  DPT__TRY(dpt__check_kind(fn, r, a) || dpt__check_dim(fn, a, dim));
  if (dpt_is_set_to(r, a)) return launch(fn, r, a, dim, product);
  dpt_tensor *to = dpt__apart_start(&x, r, a, NULL);
  return dpt__apart_end(&x, launch(fn, to, a, dim, product));
}

int dpt_cumsum(dpt_tensor *r, const dpt_tensor *a, int dim) { return scan("cumsum", r, a, dim, 0); }

int dpt_cumprod(dpt_tensor *r, const dpt_tensor *a, int dim) {
  return scan("cumprod", r, a, dim, 1);
}

static int launch_cross(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, int dim) {
  const dpt_tensor *const operands[] = {NULL, a, b, r};
  struct dpt__route route;
  DPT__TRY(dpt__result(r, a->ndim_, a->size_, dpt_tensor_device(a)) ||
           dpt__route(&route, "cross", 4, operands));
  dpt__cross_args g = {.dtype = dpt__type(a)};
  g.a_step = a->step_[dim], g.b_step = b->step_[dim], g.r_step = r->step_[dim];
  dpt__lanes_start(&g.lanes, a, dim, 3, operands + 1);
  if (g.lanes.count == 0) return 0;
  g.a = dpt__at(a), g.b = dpt__at(b), g.r = dpt__at(r);
  return dpt__launch(&route, cross, "cross", &g);
}

int dpt_cross(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, int dim) {
  char text[2][DPT__TEXT];
  dpt__apart x;
  DPT__TRY(dpt__check_kind("cross", r, a) || dpt__check_kind("cross", r, b));
  if (!dpt__same_size(a, b))
    return dpt__fail("cross: a %s and a %s have different sizes", dpt__describe(text[0], a),
                     dpt__describe(text[1], b));
  for (int d = 0; d < a->ndim_ && dim < 0; d++)
    if (a->size_[d] == 3) dim = d;
  if (dim < 0)
    return dpt__fail("cross: no dimension of a %s has size 3", dpt__describe(text[0], a));
  DPT__TRY(dpt__check_dim("cross", a, dim));
  if (a->size_[dim] != 3)
    return dpt__fail("cross: dimension %d of a %s has not size 3", dim + 1,
                     dpt__describe(text[0], a));
  dpt_tensor *to = dpt__apart_start(&x, r, a, b);
  return dpt__apart_end(&x, launch_cross(to, a, b, dim));
}
