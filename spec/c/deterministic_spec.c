/* deterministic_spec.c: tests that in deterministic mode the output and gradInput of a row have the
 * same bits in a batch of any size, at any position in it, on the host and on devices: every split
 * of B = 0 .. 24 rows among n = 1 .. 8 devices. Without the mode the same test should fail; it
 * prints a note if it does not.
 */
#include "layer.h"

enum { MOST = 24, DEVICES = 8 };

typedef struct layer {
  const char *name;
  dpt_tensor weight, bias;
  dpt_window window; /* ndim 0: nn.Linear */
  array in;          /* MOST rows */
  int64_t step;
} layer;

static int64_t row_of(array a) { return a.n / a.size[0]; }

/* Returns rows first .. first + n of a as a tensor of the kind. */
static dpt_tensor rows(array a, int64_t first, int64_t n, int kind) {
  array part = a;
  part.size[0] = n, part.n = n * row_of(a), part.v = a.v + first * row_of(a);
  return tensor_of(part, kind, 0);
}

/* Runs both passes on n rows and writes their results to y and gx from row `first` on. */
static void run(const layer *l, array y, array gy, array gx, int64_t first, int64_t n, int kind) {
  dpt_tensor x = rows(l->in, first, n, kind), g = rows(gy, first, n, kind);
  dpt_tensor out = empty(kind), gin = empty(kind), w = empty(kind), b = empty(kind);
  OK(dpt_tensor_new(&w, kind, l->weight.ndim_, l->weight.size_));
  OK(dpt_tensor_new(&b, kind, l->bias.ndim_, l->bias.size_));
  OK(dpt_copy(&w, &l->weight)), OK(dpt_copy(&b, &l->bias));
  if (l->window.ndim) {
    OK(dpt_conv_forward(&out, &x, &w, &b, &l->window));
    OK(dpt_conv_backward_data(&gin, &g, &x, &w, &l->window));
  } else {
    OK(dpt_linear_forward(&out, &x, &w, &b));
    OK(dpt_linear_backward_data(&gin, &g, &w));
  }
  array got = array_of(&out), back = array_of(&gin);
  CHECK(got.n == n * row_of(y) && back.n == n * row_of(gx));
  memcpy(y.v + first * row_of(y), got.v, (size_t)got.n * sizeof *got.v);
  memcpy(gx.v + first * row_of(gx), back.v, (size_t)back.n * sizeof *back.v);
  free(got.v), free(back.v);
  dpt_tensor_free(&x), dpt_tensor_free(&g), dpt_tensor_free(&w), dpt_tensor_free(&b);
}

/* Returns the number of elements that differ between one run and all balanced splits of every
 * `step`-th B. */
static int64_t differences(const layer *l, array y, int kind, int device, int64_t step) {
  int64_t bad = 0;
  array gy = array_fill(array_like(y), -1, 1), gx = array_like(l->in);
  array y1 = array_like(y), gx1 = array_like(gx);
  for (int64_t B = 0; B <= MOST; B += step) {
    run(l, y1, gy, gx1, 0, B, kind);
    for (int n = 1; n <= DEVICES; n++) {
      for (int64_t part = 0, first = 0; part < n; part++) {
        int64_t size = B / n + (part < B % n);
        if (device) OK(dpt_device_set((int)part % 2 + 1));
        run(l, y, gy, gx, first, size, device ? kind | DPT_ON_DEVICE : kind);
        first += size;
      }
      for (int64_t i = 0; i < B * row_of(y); i++) bad += y.v[i] != y1.v[i];
      for (int64_t i = 0; i < B * row_of(gx); i++) bad += gx.v[i] != gx1.v[i];
    }
  }
  free(gy.v), free(gx.v), free(y1.v), free(gx1.v);
  return bad;
}

static int64_t compare(layer *l, array weight, array y, int kind) {
  int64_t bad = 0;
  array bias = array_fill(ARRAY(weight.size[0]), -1, 1);
  array_fill(weight, -1, 1), array_fill(l->in, -1, 1);
  for (int64_t i = 0; i < weight.n; i++) weight.v[i] += uniform(0, 1.0 / 64);
  for (int64_t i = 0; i < l->in.n; i++) l->in.v[i] += uniform(0, 1.0 / 64);
  l->weight = tensor_of(weight, kind, 0), l->bias = tensor_of(bias, kind, 0);
  for (int device = 0; device < 2; device++) bad += differences(l, y, kind, device, l->step);
  dpt_tensor_free(&l->weight), dpt_tensor_free(&l->bias);
  free(bias.v), free(weight.v), free(y.v), free(l->in.v);
  return bad;
}

/* Returns the step between batch sizes. all: 1; otherwise only with DPT_TORTURE=full. */
static int64_t step(int all) { return all || torture(10) == 10 ? 1 : 6; }

static int64_t linear(int all, int64_t I, int64_t O, int kind) {
  layer l = {.name = "linear", .in = ARRAY(MOST, I), .step = step(all)};
  return compare(&l, ARRAY(O, I), ARRAY(MOST, O), kind);
}

static int64_t convolution(int all, int64_t I, int64_t O, int64_t size, int64_t pad, int64_t stride,
                           int kind) {
  layer l = {.name = "convolution", .in = ARRAY(MOST, I, size, size), .step = step(all)};
  int64_t out = (size + 2 * pad - 3) / stride + 1;
  l.window =
      (dpt_window){.ndim = 2, .kernel = {3, 3}, .stride = {stride, stride}, .pad = {pad, pad}};
  return compare(&l, ARRAY(O, I, 3, 3), ARRAY(MOST, O, out, out), kind);
}

int main(void) {
  layer_start();
  dpt_deterministic_set(1);
  CHECK(dpt_deterministic_get() == 1);
  CHECK(linear(1, 37, 19, F32) == 0);
  CHECK(linear(0, 37, 19, F64) == 0);
  CHECK(linear(0, 200, 10, F32) == 0);
  CHECK(linear(0, 10, 300, F32) == 0);
  CHECK(linear(0, 1, 1, F32) == 0);
  CHECK(convolution(1, 1, 8, 8, 1, 1, F32) == 0);
  CHECK(convolution(0, 3, 5, 7, 0, 2, F32) == 0);
  CHECK(convolution(0, 16, 16, 6, 1, 1, F32) == 0);
  CHECK(convolution(0, 2, 3, 5, 1, 1, F64) == 0);
  dpt_deterministic_set(0);
  CHECK(dpt_deterministic_get() == 0);
  if (linear(0, 37, 19, F32) + linear(0, 200, 10, F32) == 0)
    printf("note: this machine gives the same bits without the mode\n");
  return check_end();
}
