/* convolution_spec.c: compares convolution and transposed convolution with plain loops. */
#include "layer.h"

/* A random convolution; `large` is the size of the side over which the window slides. */
typedef struct problem {
  dpt_window window;
  int64_t N, I, O, groups, large[3], small[3], kernel[3], stride[3], pad[3], dilation[3];
} problem;

static problem random_problem(int ndim, int transposed) {
  problem p = {.N = whole(1, 3), .groups = whole(1, 2)};
  p.I = p.groups * whole(1, 7);
  p.O = p.groups * whole(1, 4);
  p.window = (dpt_window){.ndim = ndim, .groups = (int32_t)p.groups, .transposed = transposed};
  for (int d = 0; d < 3; d++) {
    int used = d >= 3 - ndim, i = d - (3 - ndim);
    p.kernel[d] = used ? whole(1, 3) : 1;
    p.stride[d] = used ? whole(1, 3) : 1;
    p.dilation[d] = used ? whole(1, 2) : 1;
    p.pad[d] = used ? whole(0, 2) : 0;
    int64_t reach = p.dilation[d] * (p.kernel[d] - 1) + 1, adjust = 0;
    if (transposed) {
      p.small[d] = used ? whole(1, 4) : 1;
      adjust = used ? whole(0, p.stride[d] - 1) : 0;
      p.large[d] = (p.small[d] - 1) * p.stride[d] - 2 * p.pad[d] + reach + adjust;
      while (p.large[d] < 1) p.small[d]++, p.large[d] += p.stride[d];
    } else {
      p.large[d] = used ? whole(1, 7) : 1;
      while (p.large[d] + 2 * p.pad[d] < reach) p.large[d]++;
      p.small[d] = (p.large[d] + 2 * p.pad[d] - reach) / p.stride[d] + 1;
    }
    if (!used) continue;
    p.window.kernel[i] = p.kernel[d], p.window.stride[i] = p.stride[d];
    p.window.pad[i] = p.pad[d], p.window.dilation[i] = p.dilation[d];
    p.window.adjust[i] = adjust;
  }
  return p;
}

/* Calls f(large, small, weight), three indices, for every product large * small * weight. */
typedef void visit_fn(int64_t large, int64_t small, int64_t weight, void *context);
static void visit(const problem *p, visit_fn *f, void *context) {
  int64_t i = p->I / p->groups, o = p->O / p->groups, k[3], y[3], w;
  for (int64_t n = 0; n < p->N; n++)
    for (int64_t out = 0; out < p->O; out++)
      for (int64_t in = 0; in < i; in++)
        for (k[0] = 0; k[0] < p->kernel[0]; k[0]++)
          for (k[1] = 0; k[1] < p->kernel[1]; k[1]++)
            for (k[2] = 0; k[2] < p->kernel[2]; k[2]++)
              for (y[0] = 0; y[0] < p->small[0]; y[0]++)
                for (y[1] = 0; y[1] < p->small[1]; y[1]++)
                  for (y[2] = 0; y[2] < p->small[2]; y[2]++) {
                    int64_t large = n * p->I + out / o * i + in, small = n * p->O + out;
                    int inside = 1;
                    w = out * i + in;
                    for (int d = 0; d < 3; d++) {
                      int64_t x = y[d] * p->stride[d] + k[d] * p->dilation[d] - p->pad[d];
                      inside = inside && x >= 0 && x < p->large[d];
                      large = large * p->large[d] + x;
                      small = small * p->small[d] + y[d];
                      w = w * p->kernel[d] + k[d];
                    }
                    if (inside) f(large, small, w, context);
                  }
}

struct sums {
  int transposed;
  array x, y, w, gx, gy, gw;
  double scale;
};

static void add(int64_t large, int64_t small, int64_t w, void *context) {
  struct sums *s = context;
  int64_t x = s->transposed ? small : large, y = s->transposed ? large : small;
  s->y.v[y] += s->x.v[x] * s->w.v[w];
  s->gx.v[x] += s->gy.v[y] * s->w.v[w];
  s->gw.v[w] += s->scale * s->x.v[x] * s->gy.v[y];
}

static array image(const problem *p, int64_t planes, const int64_t size[3]) {
  int64_t all[5] = {p->N, planes};
  for (int d = 0; d < p->window.ndim; d++) all[2 + d] = size[3 - p->window.ndim + d];
  return array_new(2 + p->window.ndim, all);
}

static void compare(const problem *p, int kind, int strided, int flat) {
  int t = p->window.transposed;
  int64_t K = p->kernel[0] * p->kernel[1] * p->kernel[2], other = p->I / p->groups;
  int64_t planes = t ? p->I : p->O;
  array large = image(p, p->I, p->large), small = image(p, p->O, p->small);
  struct sums s = {.transposed = t, .scale = 0.5};
  s.x = array_fill(t ? small : large, -1, 1);
  s.y = t ? large : small;
  s.w = array_fill(flat ? ARRAY(p->O, other * K) : ARRAY(p->O, other, K), -1, 1);
  s.gx = array_like(s.x);
  s.gy = array_fill(array_like(s.y), -1, 1);
  s.gw = array_like(s.w);
  array b = array_fill(ARRAY(planes), -1, 1), gb = ARRAY(planes);
  int64_t plane = s.y.n / p->N / planes;
  visit(p, add, &s);
  for (int64_t i = 0; i < s.y.n; i++) {
    s.y.v[i] += b.v[i / plane % planes];
    gb.v[i / plane % planes] += s.scale * s.gy.v[i];
  }
  dpt_tensor x = tensor_of(s.x, kind, strided), w = tensor_of(s.w, kind, strided);
  dpt_tensor tb = tensor_of(b, kind, 0), gy = tensor_of(s.gy, kind, strided);
  array zero = array_like(s.w), zeros = array_like(b);
  dpt_tensor gw = tensor_of(zero, kind, strided), tgb = tensor_of(zeros, kind, strided);
  dpt_tensor y = empty(kind), gx = empty(kind);
  OK(dpt_conv_forward(&y, &x, &w, &tb, &p->window));
  OK(dpt_conv_backward_data(&gx, &gy, &x, &w, &p->window));
  OK(dpt_conv_backward_weight(&gw, &tgb, &x, &gy, &p->window, s.scale));
  int good = same(&y, s.y, 1e-12, "conv out") & same(&gx, s.gx, 1e-12, "conv gin") &
             same(&gw, s.gw, 1e-12, "conv gw") & same(&tgb, gb, 1e-12, "conv gb");
  if (!good)
    printf("ndim %d transposed %d groups %d N %lld I %lld O %lld\n", p->window.ndim, t,
           p->window.groups, (long long)p->N, (long long)p->I, (long long)p->O);
  dpt_tensor_free(&x), dpt_tensor_free(&w), dpt_tensor_free(&tb), dpt_tensor_free(&gy);
  double *own[] = {s.x.v, s.y.v, s.w.v, s.gx.v, s.gy.v, s.gw.v, b.v, gb.v, zero.v, zeros.v};
  for (int i = 0; i < 10; i++) free(own[i]);
}

/* A sample without a batch dimension gives the same result as a batch of one. */
static void single(void) {
  array x = array_fill(ARRAY(2, 5, 4), -1, 1), w = array_fill(ARRAY(3, 2, 2, 2), -1, 1);
  dpt_window window = {.ndim = 2, .kernel = {2, 2}};
  dpt_tensor tx = tensor_of(x, F64, 0), tw = tensor_of(w, F64, 0), y = empty(F64), gx = empty(F64);
  dpt_tensor batch = empty(F64), yb = empty(F64);
  OK(dpt_unsqueeze(&batch, &tx, 0));
  OK(dpt_conv_forward(&y, &tx, &tw, NULL, &window));
  OK(dpt_conv_forward(&yb, &batch, &tw, NULL, &window));
  CHECK(y.ndim_ == 3 && y.size_[0] == 3 && y.size_[1] == 4 && y.size_[2] == 3);
  OK(dpt_conv_backward_data(&gx, &y, &tx, &tw, &window));
  CHECK(dpt_is_same_size(&gx, &tx));
  array wanted = array_of(&y);
  wanted.ndim = 4, wanted.size[3] = 3, wanted.size[2] = 4, wanted.size[1] = 3, wanted.size[0] = 1;
  same(&yb, wanted, 0, "single");
  dpt_tensor *own[] = {&tx, &tw, &gx, &batch};
  for (int i = 0; i < 4; i++) dpt_tensor_free(own[i]);
  free(x.v), free(w.v), free(wanted.v);
}

/* Uses more sizes than cached primitives: old ones are evicted, and created again if needed. */
static void many_sizes(void) {
  dpt_window window = {.ndim = 1, .kernel = {1}};
  array w = array_fill(ARRAY(1, 1, 1), 1, 1);
  w.v[0] = 2;
  dpt_tensor tw = tensor_of(w, F32, 0), y = empty(F32);
  for (int64_t i = 1; i <= 1040; i++) {
    array x = array_fill(ARRAY(1, 1, i % 520 + 1), -1, 1);
    dpt_tensor tx = tensor_of(x, F32, 0);
    OK(dpt_conv_forward(&y, &tx, &tw, NULL, &window));
    double got = 0;
    OK(dpt_get(&y, i % 520, &got));
    CHECK(got == 2 * x.v[i % 520]);
    dpt_tensor_free(&tx);
    free(x.v);
  }
  dpt_tensor_free(&tw), dpt_tensor_free(&y);
  free(w.v);
}

static void refusals(void) {
  array a = ARRAY(1, 2, 3, 3), k = ARRAY(4, 2, 2, 2), k3 = ARRAY(4, 3, 2, 2), v = ARRAY(3);
  dpt_window window = {.ndim = 2, .kernel = {2, 2}}, big = {.ndim = 2, .kernel = {5, 5}};
  dpt_window odd = {.ndim = 2, .kernel = {2, 2}, .groups = 3}, none = {.ndim = 2};
  dpt_window five = {.ndim = 5, .kernel = {2, 2}};
  array k5 = ARRAY(4, 2, 5, 5), nobody = ARRAY(0, 2, 3, 3);
  dpt_tensor x = tensor_of(a, F32, 0), w = tensor_of(k, F32, 0), w3 = tensor_of(k3, F32, 0);
  dpt_tensor b = tensor_of(v, F32, 0), w5 = tensor_of(k5, F32, 0), y = empty(F32);
  dpt_tensor zero = tensor_of(nobody, F32, 0);
  FAILS(dpt_conv_forward(&y, &x, &w3, NULL, &window), "with 2 planes, wanted 3");
  FAILS(dpt_conv_forward(&y, &x, &w5, NULL, &big), "too small for a kernel");
  FAILS(dpt_conv_forward(&y, &x, &w, &b, &window), "'bias'");
  FAILS(dpt_conv_forward(&y, &x, &w, NULL, &odd), "'weight'");
  FAILS(dpt_conv_forward(&y, &x, &w, NULL, &none), "kernel 0");
  FAILS(dpt_conv_forward(&y, &b, &w, NULL, &window), "wanted CxHxW or NxCxHxW");
  FAILS(dpt_conv_forward(&y, &x, &w, NULL, &five), "5 dimensions");
  FAILS(dpt_conv_backward_data(&y, &x, &x, &w, &window), "'gradOutput'");
  OK(dpt_conv_forward(&y, &zero, &w, NULL, &window));
  CHECK(y.ndim_ == 4 && y.size_[0] == 0 && y.size_[1] == 4 && y.size_[2] == 2);
  OK(dpt_conv_backward_weight(&w, NULL, &zero, &y, &window, 1));
  dpt_tensor *own[] = {&x, &w, &w3, &b, &w5, &y, &zero};
  for (int i = 0; i < 7; i++) dpt_tensor_free(own[i]);
  free(a.v), free(k.v), free(k3.v), free(v.v), free(k5.v), free(nobody.v);
}

int main(void) {
  layer_start();
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int transposed = 0; transposed < 2; transposed++)
      for (int i = 0; i < torture(80); i++) {
        problem p = random_problem(ndim, transposed);
        for (int k = 0; k < KINDS; k++) compare(&p, kinds[k], i % 2, i % 3 == 0);
      }
  single();
  many_sizes();
  refusals();
  return check_end();
}
