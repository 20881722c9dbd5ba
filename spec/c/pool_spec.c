/* pool_spec.c: compares max and average pooling with plain loops. */
#include "layer.h"

typedef struct problem {
  dpt_window window;
  int64_t N, C, in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
} problem;

static problem random_problem(int ndim, int average) {
  problem p = {.N = whole(1, 2), .C = whole(1, 3)};
  int ceil_mode = (int)whole(0, 1);
  p.window = (dpt_window){.ndim = ndim, .ceil = ceil_mode, .count_pad = (int)whole(0, 1)};
  for (int d = 0; d < 3; d++) {
    int used = d >= 3 - ndim, i = d - (3 - ndim);
    p.kernel[d] = used ? whole(1, 4) : 1;
    p.stride[d] = used ? whole(1, 3) : 1;
    p.pad[d] = used ? whole(0, p.kernel[d] / 2) : 0;
    p.dilation[d] = used && !average && !p.pad[d] ? whole(1, 2) : 1;
    int64_t reach = p.dilation[d] * (p.kernel[d] - 1) + 1;
    p.in[d] = used ? whole(reach, reach + 6) : 1;
    double room = (double)(p.in[d] + 2 * p.pad[d] - reach) / (double)p.stride[d];
    p.out[d] = (int64_t)(ceil_mode ? ceil(room) : floor(room)) + 1;
    /* the last window must begin inside the image or its left padding */
    if ((p.out[d] - 1) * p.stride[d] >= p.in[d] + p.pad[d]) p.out[d]--;
    if (!used) continue;
    p.window.kernel[i] = p.kernel[d], p.window.stride[i] = p.stride[d];
    p.window.pad[i] = p.pad[d], p.window.dilation[i] = p.dilation[d];
  }
  return p;
}

static array image(const problem *p, const int64_t size[3]) {
  int64_t all[5] = {p->N, p->C};
  for (int d = 0; d < p->window.ndim; d++) all[2 + d] = size[3 - p->window.ndim + d];
  return array_new(2 + p->window.ndim, all);
}

/* Returns the largest element of one window of a plane, and its position from 1; *sum and *count
 * are the sum and the divisor of the average. */
static double window_of(const problem *p, const double *plane, const int64_t o[3], int64_t *place,
                        double *sum, double *count) {
  double best = -INFINITY;
  int64_t k[3], x[3], inside_count = 0, padded = 1;
  *sum = 0;
  for (k[0] = 0; k[0] < p->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < p->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < p->kernel[2]; k[2]++) {
        int inside = 1;
        for (int d = 0; d < 3; d++) {
          x[d] = o[d] * p->stride[d] - p->pad[d] + k[d] * p->dilation[d];
          inside = inside && x[d] >= 0 && x[d] < p->in[d];
        }
        if (!inside) continue;
        int64_t at = (x[0] * p->in[1] + x[1]) * p->in[2] + x[2];
        inside_count++;
        *sum += plane[at];
        if (plane[at] > best) best = plane[at], *place = at + 1;
      }
  for (int d = 0; d < 3; d++) {
    int64_t first = o[d] * p->stride[d] - p->pad[d], end = first + p->kernel[d];
    if (end > p->in[d] + p->pad[d]) end = p->in[d] + p->pad[d];
    padded *= end - first;
  }
  *count = (double)(p->window.count_pad ? padded : inside_count);
  return best;
}

static void add_window(const problem *p, double *plane, const int64_t o[3], double value) {
  for (int64_t i = 0; i < p->in[0] * p->in[1] * p->in[2]; i++) {
    int64_t x[3] = {i / p->in[2] / p->in[1], i / p->in[2] % p->in[1], i % p->in[2]};
    int inside = 1;
    for (int d = 0; d < 3; d++) {
      int64_t first = o[d] * p->stride[d] - p->pad[d];
      inside = inside && x[d] >= first && x[d] < first + p->kernel[d];
    }
    if (inside) plane[i] += value;
  }
}

static void compare(const problem *p, int average, int kind, int strided) {
  array x = array_fill(image(p, p->in), -1, 1), y = image(p, p->out), gx = array_like(x);
  array idx = array_like(y), gy = array_fill(array_like(y), -1, 1);
  int64_t large = x.n / p->N / p->C, small = y.n / p->N / p->C;
  for (int64_t i = 0; i < y.n; i++) {
    int64_t s = i % small, plane = i / small * large, place = 0;
    int64_t o[3] = {s / p->out[2] / p->out[1], s / p->out[2] % p->out[1], s % p->out[2]};
    double sum, count, best = window_of(p, x.v + plane, o, &place, &sum, &count);
    y.v[i] = average ? sum / count : best;
    idx.v[i] = (double)place;
    if (average)
      add_window(p, gx.v + plane, o, gy.v[i] / count);
    else
      gx.v[plane + place - 1] += gy.v[i];
  }
  dpt_tensor tx = tensor_of(x, kind, strided), tgy = tensor_of(gy, kind, strided);
  dpt_tensor out = empty(kind), gin = empty(kind), tidx = empty(index_kind(kind));
  if (average) {
    OK(dpt_avgpool_forward(&out, &tx, &p->window));
    OK(dpt_avgpool_backward(&gin, &tgy, &tx, &p->window));
  } else {
    OK(dpt_maxpool_forward(&out, &tidx, &tx, &p->window));
    OK(dpt_maxpool_backward(&gin, &tgy, &tx, &tidx, p->window.ndim));
    same(&tidx, idx, 0, "maxpool idx");
  }
  same(&out, y, 1e-12, average ? "avgpool out" : "maxpool out");
  same(&gin, gx, 1e-12, average ? "avgpool gin" : "maxpool gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy);
  free(x.v), free(y.v), free(gx.v), free(idx.v), free(gy.v);
}

/* Tests both kinds of adaptive pooling: windows tile the plane. */
static void adaptive(int kind) {
  int64_t H = whole(1, 7), W = whole(1, 7), size[2] = {whole(1, 9), whole(1, 9)};
  array x = array_fill(ARRAY(2, 3, H, W), -1, 1), y = ARRAY(2, 3, size[0], size[1]);
  array mean = array_like(y), gx = array_like(x), gm = array_like(x);
  array gy = array_fill(array_like(y), -1, 1);
  for (int64_t i = 0; i < y.n; i++) {
    int64_t c = i / size[1] / size[0], o = i / size[1] % size[0], p = i % size[1], best = -1;
    int64_t t = o * H / size[0], b = ((o + 1) * H + size[0] - 1) / size[0];
    int64_t l = p * W / size[1], r = ((p + 1) * W + size[1] - 1) / size[1];
    double count = (double)((b - t) * (r - l));
    for (int64_t k = t; k < b; k++)
      for (int64_t j = l; j < r; j++) {
        int64_t at = (c * H + k) * W + j;
        if (best < 0 || x.v[at] > x.v[best]) best = at;
        mean.v[i] += x.v[at] / count;
        gm.v[at] += gy.v[i] / count;
      }
    y.v[i] = x.v[best];
    gx.v[best] += gy.v[i];
  }
  dpt_tensor tx = tensor_of(x, kind, 0), tgy = tensor_of(gy, kind, 0),
             idx = empty(index_kind(kind));
  dpt_tensor out = empty(kind), gin = empty(kind), tm = empty(kind), tgm = empty(kind);
  OK(dpt_adaptive_maxpool_forward(&out, &idx, &tx, 2, size));
  OK(dpt_maxpool_backward(&gin, &tgy, &tx, &idx, 2));
  OK(dpt_adaptive_avgpool_forward(&tm, &tx, 2, size));
  OK(dpt_adaptive_avgpool_backward(&tgm, &tgy, &tx, 2));
  same(&out, y, 0, "adaptive max out");
  same(&gin, gx, 1e-12, "adaptive max gin");
  same(&tm, mean, 1e-12, "adaptive average out");
  same(&tgm, gm, 1e-12, "adaptive average gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&tgy), dpt_tensor_free(&idx);
  free(x.v), free(y.v), free(mean.v), free(gx.v), free(gm.v), free(gy.v);
}

/* Unpooling returns pooled values to their positions; its gradient reads them from there. */
static void unpool(int kind) {
  array x = array_fill(ARRAY(2, 2, 4, 6), 0.25, 1), wanted = array_like(x), g = array_like(x);
  int64_t size[2] = {4, 6};
  dpt_window window = {.ndim = 2, .kernel = {2, 3}, .stride = {2, 3}};
  dpt_tensor tx = tensor_of(x, kind, 0), y = empty(kind), idx = empty(index_kind(kind));
  dpt_tensor back = empty(kind), gin = empty(kind), tg;
  OK(dpt_maxpool_forward(&y, &idx, &tx, &window));
  array values = ARRAY(2, 2, 2, 2);
  for (int64_t i = 0; i < values.n; i++) {
    int64_t first = i / 4 * 24 + i / 2 % 2 * 12 + i % 2 * 3, best = first;
    for (int64_t k = 0; k < 6; k++) {
      int64_t at = first + k / 3 * 6 + k % 3;
      if (x.v[at] > x.v[best]) best = at;
    }
    wanted.v[best] = values.v[i] = x.v[best];
    g.v[best] = values.v[i] * 2;
  }
  tg = tensor_of(g, kind, 0);
  OK(dpt_maxunpool_forward(&back, &y, &idx, 2, size));
  OK(dpt_maxunpool_backward(&gin, &tg, &idx, 2));
  same(&back, wanted, 0, "unpool out");
  for (int64_t i = 0; i < values.n; i++) values.v[i] *= 2;
  same(&gin, values, 0, "unpool gin");
  dpt_tensor_free(&tx), dpt_tensor_free(&y), dpt_tensor_free(&idx), dpt_tensor_free(&tg);
  free(x.v), free(wanted.v), free(g.v), free(values.v);
}

/* Tests windows at random positions: Torch7's formula in double. */
static void fractional(int kind) {
  int64_t H = whole(5, 9), W = whole(5, 9), size[2] = {whole(1, 4), whole(1, 4)}, k = whole(1, 2);
  array x = array_fill(ARRAY(2, 3, H, W), -1, 1), u = array_fill(ARRAY(2, 3, 2), 0, 1);
  array y = ARRAY(2, 3, size[0], size[1]), idx = array_like(y);
  for (int64_t i = 0; i < y.n; i++) {
    int64_t plane = i / size[1] / size[0], o[2] = {i / size[1] % size[0], i % size[1]}, at[2];
    for (int d = 0; d < 2; d++) {
      int64_t room = x.size[2 + d] - k, n = size[d];
      double draw_ = u.v[plane * 2 + 1 - d], step = n > 1 ? (double)room / (double)(n - 1) : 0;
      at[d] = (int64_t)(((double)o[d] + draw_) * step) - (int64_t)(draw_ * step);
      if (o[d] == n - 1) at[d] = room;
    }
    int64_t best = (plane * H + at[0]) * W + at[1];
    for (int64_t h = 0; h < k; h++)
      for (int64_t w = 0; w < k; w++) {
        int64_t place = (plane * H + at[0] + h) * W + at[1] + w;
        if (x.v[place] > x.v[best]) best = place;
      }
    y.v[i] = x.v[best];
    idx.v[i] = (double)(best - plane * H * W + 1);
  }
  dpt_window window = {.ndim = 2, .kernel = {k, k}};
  dpt_tensor tx = tensor_of(x, kind, 1), tu = tensor_of(u, kind, 0), out = empty(kind);
  dpt_tensor tidx = empty(index_kind(kind));
  OK(dpt_fractional_maxpool_forward(&out, &tidx, &tx, &tu, &window, size));
  same(&out, y, 0, "fractional out");
  same(&tidx, idx, 0, "fractional idx");
  int64_t many[2] = {H, 1};
  window.kernel[0] = 2;
  FAILS(dpt_fractional_maxpool_forward(&out, &tidx, &tx, &tu, &window, many), "too small");
  dpt_tensor_free(&tx), dpt_tensor_free(&tu);
  free(x.v), free(u.v), free(y.v), free(idx.v);
}

static void refusals(void) {
  array a = array_fill(ARRAY(1, 3, 3), -1, 1), i0 = ARRAY(1, 1, 1), r = ARRAY(1, 3);
  i0.v[0] = 10;
  dpt_window pad = {.ndim = 2, .kernel = {3, 3}, .pad = {2, 0}},
             big = {.ndim = 2, .kernel = {4, 1}};
  dpt_window bare = {.ndim = 1, .kernel = {2}, .pad = {1}, .dilation = {4}};
  dpt_tensor x = tensor_of(a, F32, 0), y = empty(F32), idx = empty(DPT_I64), i32 = empty(DPT_I32);
  dpt_tensor bad = tensor_of(i0, DPT_I64, 0), one = tensor_of(i0, F32, 0), nan = empty(F32);
  FAILS(dpt_maxpool_forward(&y, &idx, &x, &pad), "padding 2, wanted at most half of kernel 3");
  FAILS(dpt_maxpool_forward(&y, &idx, &x, &big), "too small for a kernel of 4");
  FAILS(dpt_maxpool_forward(&y, &i32, &x, &(dpt_window){.ndim = 2, .kernel = {1, 1}}), "'indices'");
  FAILS(dpt_maxpool_backward(&y, &one, &x, &bad, 2),
        "max pooling: argument 'indices' has 10 at element 1, wanted 1 to 9");
  dpt_tensor row = tensor_of(r, F32, 0);
  FAILS(dpt_maxpool_forward(&y, &idx, &row, &bare), "too small");
  a.v[4] = NAN;
  nan = tensor_of(a, F32, 0);
  OK(dpt_maxpool_forward(&y, &idx, &nan, &(dpt_window){.ndim = 2, .kernel = {3, 3}}));
  double v = 0;
  OK(dpt_get(&y, 0, &v));
  CHECK(isnan(v));
  dpt_tensor *own[] = {&x, &y, &idx, &bad, &one, &nan, &row};
  for (int i = 0; i < 7; i++) dpt_tensor_free(own[i]);
  free(a.v), free(i0.v), free(r.v);
}

int main(void) {
  layer_start();
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int average = 0; average < 2; average++)
      for (int i = 0; i < torture(150); i++) {
        problem p = random_problem(ndim, average);
        for (int k = 0; k < KINDS; k++) compare(&p, average, kinds[k], i % 2);
      }
  for (int i = 0; i < torture(200); i++) fractional(F64);
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < torture(100); i++) adaptive(kinds[k]);
    unpool(kinds[k]);
  }
  refusals();
  return check_end();
}
