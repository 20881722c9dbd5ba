/* resample_spec.c: compares upsampling and padding with plain loops. Gradients are checked by dot
 * products: both are linear, so sum(forward(x) * g) = sum(x * backward(g)) for all x and g.
 */
#include "layer.h"

static double dot(array a, array b) {
  double sum = 0;
  for (int64_t i = 0; i < a.n; i++) sum += a.v[i] * b.v[i];
  return sum;
}

/* Compares the dot products, and frees gin. */
static void adjoint(dpt_tensor *gin, array x, array y, array g, double tolerance,
                    const char *what) {
  double limit = dpt__type(gin) == DPT_F64 ? tolerance : dpt__type(gin) == DPT_F32 ? 1e-3 : 0.5;
  array gx = array_of(gin);
  if (!CHECK(gx.n == x.n && fabs(dot(x, gx) - dot(y, g)) < limit)) printf("%s\n", what);
  free(gx.v);
}

static void compare_upsample(int kind, int ndim, int64_t factor) {
  int64_t s[3] = {ndim > 2 ? whole(1, 3) : 1, ndim > 1 ? whole(1, 4) : 1, whole(1, 5)};
  int64_t f[3] = {ndim > 2 ? factor : 1, ndim > 1 ? factor : 1, factor}, size[5] = {2, 3};
  for (int d = 0; d < ndim; d++) size[2 + d] = s[3 - ndim + d];
  array x = array_fill(array_new(ndim + 2, size), -1, 1);
  for (int d = 0; d < ndim; d++) size[2 + d] *= factor;
  array y = array_new(ndim + 2, size);
  for (int64_t i = 0; i < y.n; i++) {
    int64_t w = i % (s[2] * f[2]), h = i / (s[2] * f[2]) % (s[1] * f[1]);
    int64_t t = i / (s[2] * f[2] * s[1] * f[1]), plane = t / (s[0] * f[0]);
    t %= s[0] * f[0];
    y.v[i] = x.v[((plane * s[0] + t / f[0]) * s[1] + h / f[1]) * s[2] + w / f[2]];
  }
  array g = array_fill(array_like(y), -1, 1);
  dpt_tensor tx = tensor_of(x, kind, 1), tg = tensor_of(g, kind, 1);
  dpt_tensor out = empty(kind), gin = empty(kind);
  OK(dpt_upsample_nearest_forward(&out, &tx, ndim, factor));
  OK(dpt_upsample_nearest_backward(&gin, &tg, &tx, ndim, factor));
  same(&out, y, 0, "nearest");
  adjoint(&gin, x, y, g, 1e-10, "nearest gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tg);
  free(x.v), free(y.v), free(g.v);
}

static void compare_linear(int kind) {
  int64_t H = whole(1, 5), W = whole(1, 5), size[2] = {whole(1, 9), whole(1, 9)};
  array x = array_fill(ARRAY(2, H, W), -1, 1), y = ARRAY(2, size[0], size[1]);
  for (int64_t i = 0; i < y.n; i++) {
    double v = size[0] > 1 ? (double)(i / size[1] % size[0] * (H - 1)) / (double)(size[0] - 1) : 0;
    double u = size[1] > 1 ? (double)(i % size[1] * (W - 1)) / (double)(size[1] - 1) : 0;
    const double *plane = x.v + i / size[1] / size[0] * H * W;
    for (int64_t h = 0; h < H; h++)
      for (int64_t w = 0; w < W; w++) {
        double a = 1 - fabs(v - (double)h), b = 1 - fabs(u - (double)w);
        if (a > 0 && b > 0) y.v[i] += a * b * plane[h * W + w];
      }
  }
  array g = array_fill(array_like(y), -1, 1);
  dpt_tensor tx = tensor_of(x, kind, 1), tg = tensor_of(g, kind, 0);
  dpt_tensor out = empty(kind), gin = empty(kind);
  OK(dpt_upsample_linear_forward(&out, &tx, 2, size));
  OK(dpt_upsample_linear_backward(&gin, &tg, &tx, 2));
  same(&out, y, 1e-5, "linear"); /* positions are floats */
  adjoint(&gin, x, y, g, 1e-4, "linear gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tg);
  free(x.v), free(y.v), free(g.v);
}

static int64_t source(int64_t at, int64_t n, int mode) {
  if (mode == DPT_PAD_REFLECT) return at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
  if (mode == DPT_PAD_REPLICATE) return at < 0 ? 0 : at >= n ? n - 1 : at;
  return at < 0 || at >= n ? -1 : at;
}

static void compare_pad(int kind, int mode) {
  int64_t H = whole(1, 5), W = whole(1, 5), b[2], a[2];
  for (int d = 0; d < 2; d++) {
    int64_t n = (d ? W : H) + 1, most = mode == DPT_PAD_REFLECT ? n - 1 : n + 2;
    int64_t least = mode == DPT_PAD_ZERO ? -n : -n - 2;
    do b[d] = whole(least, most), a[d] = whole(least, most);
    while (n + b[d] + a[d] < 1);
  }
  array x = array_fill(ARRAY(2, 3, H + 1, W + 1), -1, 1);
  int64_t h = H + 1 + b[0] + a[0], w = W + 1 + b[1] + a[1];
  array y = ARRAY(2, 3, h, w), g = array_fill(array_like(y), -1, 1);
  for (int64_t i = 0; i < y.n; i++) {
    int64_t r = source(i / w % h - b[0], H + 1, mode), c = source(i % w - b[1], W + 1, mode);
    y.v[i] = r < 0 || c < 0 ? 0 : x.v[(i / w / h * (H + 1) + r) * (W + 1) + c];
  }
  dpt_tensor tx = tensor_of(x, kind, 1), tg = tensor_of(g, kind, 0);
  dpt_tensor out = empty(kind), gin = empty(kind);
  OK(dpt_pad_forward(&out, &tx, mode, 2, b, a));
  OK(dpt_pad_backward(&gin, &tg, &tx, mode, 2, b, a));
  same(&out, y, 0, "pad");
  adjoint(&gin, x, y, g, 1e-10, "pad gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tg);
  free(x.v), free(y.v), free(g.v);
}

static void refusals(void) {
  array a = ARRAY(1, 3, 3);
  int64_t three[2] = {3, 3}, none[2] = {0, 0}, gone[2] = {-2, -2}, wild[2] = {INT64_MIN, INT64_MAX};
  dpt_tensor x = tensor_of(a, F32, 0), y = empty(F32);
  FAILS(dpt_pad_forward(&y, &x, DPT_PAD_REFLECT, 2, three, none), "reflection");
  FAILS(dpt_pad_forward(&y, &x, DPT_PAD_ZERO, 2, gone, gone), "do not fit");
  FAILS(dpt_pad_forward(&y, &x, DPT_PAD_REPLICATE, 2, gone, gone), "do not fit");
  FAILS(dpt_pad_forward(&y, &x, DPT_PAD_ZERO, 2, wild, none), "do not fit"); /* must not overflow */
  FAILS(dpt_pad_forward(&y, &x, DPT_PAD_REPLICATE, 2, none, wild), "do not fit");
  FAILS(dpt_pad_forward(&y, &x, 7, 2, none, none), "'mode' is 7");
  FAILS(dpt_upsample_nearest_forward(&y, &x, 2, 0), "'factor' is 0");
  FAILS(dpt_upsample_nearest_forward(&y, &x, 2, INT64_MIN), "'factor' is -9");
  FAILS(dpt_upsample_linear_forward(&y, &x, 2, none), "size 0");
  dpt_tensor_free(&x), dpt_tensor_free(&y);
  free(a.v);
}

int main(void) {
  layer_start();
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < torture(100); i++) {
      compare_upsample(kinds[k], i % 3 + 1, i % 2 + 2);
      compare_linear(kinds[k]);
      compare_pad(kinds[k], i % 3);
    }
  refusals();
  return check_end();
}
