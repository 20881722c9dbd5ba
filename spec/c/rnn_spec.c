/* rnn_spec.c: compares recurrent networks of every cell and shape with a plain computation, one
 * sequence and one step at a time, with numerical gradients. */
#include "base/philox.h"
#include "layer.h"

enum { WIDE = 24 }; /* capacity for the values of a step */

/* A network with its operands. Weights are ordered by (pseudo-layer, id): matrix, then bias. */
typedef struct problem {
  dpt_rnn net;
  int64_t T, B, I, H, O, S; /* S: pseudo-layers */
  int64_t *lengths;         /* NULL: each is T */
  array x, h0, c0, w;
  int states; /* true if h0 and c0 are given */
  int trained;
} problem;

static int64_t gates(const dpt_rnn *n) {
  return n->cell == DPT_RNN_LSTM ? 4 : n->cell == DPT_RNN_GRU ? 3 : 1;
}
static int ids(const dpt_rnn *n) { return (int)gates(n) * 2 + (n->projection > 0); }

/* Returns dpt's description of a part of the weights. */
static dpt_rnn_part part_of(const dpt_rnn *n, const dpt_tensor *like, int layer, int id) {
  dpt_rnn_part part = {0};
  OK(dpt_rnn_find(n, like, layer, id, &part));
  return part;
}

/* Copies the plain weights into dpt's vector (to 0), or the vector into the plain order (to 1). */
static void move(const dpt_rnn *n, const dpt_tensor *like, double *plain, double *vector, int to) {
  int64_t layers = n->layers * n->directions;
  for (int l = 0; l < layers; l++)
    for (int id = 0; id < ids(n); id++) {
      dpt_rnn_part part = part_of(n, like, l, id);
      for (int64_t i = 0; i < part.rows * part.columns; i++, plain++)
        *(to ? plain : vector + part.matrix + i) = to ? vector[part.matrix + i] : *plain;
      for (int64_t i = 0; i < part.biases; i++, plain++)
        *(to ? plain : vector + part.bias + i) = to ? vector[part.bias + i] : *plain;
    }
}

static int64_t plain_count(const dpt_rnn *n) {
  dpt_tensor like = {.kind_ = DPT_F64};
  int64_t count = 0;
  for (int l = 0; l < n->layers * n->directions; l++)
    for (int id = 0; id < ids(n); id++) {
      dpt_rnn_part part = part_of(n, &like, l, id);
      count += part.rows * part.columns + part.biases;
    }
  return count;
}

/* Smallest |sum| of a RELU so far: near the kink, differences do not approximate the gradient. */
static double nearest_kink = 1;

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/* Computes sum[j] of one id: matrix times v (or v itself if the matrix is skipped) plus bias. */
static const double *sums(const problem *p, const double *w, int l, int id, const double *v,
                          double *sum) {
  dpt_tensor like = {.kind_ = DPT_F64};
  dpt_rnn_part part = part_of(&p->net, &like, l, id);
  for (int64_t j = 0; j < p->H; j++) {
    sum[j] = part.rows ? 0 : v[j];
    for (int64_t i = 0; i < part.columns; i++) sum[j] += w[j * part.columns + i] * v[i];
  }
  w += part.rows * part.columns;
  for (int64_t j = 0; j < part.biases; j++) sum[j] += w[j];
  return w + part.biases;
}

/* Runs one step of pseudo-layer l, whose weights begin at w, and updates h and c. */
static const double *cell(const problem *p, const double *w, int l, const double *v, double *h,
                          double *c) {
  int n = (int)gates(&p->net);
  double s[8][WIDE];
  for (int id = 0; id < 2 * n; id++) w = sums(p, w, l, id, id < n ? v : h, s[id]);
  double whole[WIDE];
  for (int64_t j = 0; j < p->H; j++) {
    if (p->net.cell == DPT_RNN_LSTM) {
      c[j] = logistic(s[1][j] + s[5][j]) * c[j] +
             logistic(s[0][j] + s[4][j]) * tanh(s[2][j] + s[6][j]);
      whole[j] = logistic(s[3][j] + s[7][j]) * tanh(c[j]);
    } else if (p->net.cell == DPT_RNN_GRU) {
      double z = logistic(s[1][j] + s[4][j]);
      whole[j] = (1 - z) * tanh(s[2][j] + logistic(s[0][j] + s[3][j]) * s[5][j]) + z * h[j];
    } else {
      double a = s[0][j] + s[1][j];
      if (p->net.cell == DPT_RNN_RELU && fabs(a) < nearest_kink) nearest_kink = fabs(a);
      whole[j] = p->net.cell == DPT_RNN_TANH ? tanh(a) : a > 0 ? a : 0;
    }
  }
  for (int64_t o = 0; o < p->O; o++) {
    h[o] = p->net.projection ? 0 : whole[o];
    for (int64_t j = 0; j < p->H && p->net.projection; j++) h[o] += *w++ * whole[j];
  }
  return w;
}

static double mask(const problem *p, int layer, int64_t t, int64_t b, int64_t column) {
  const dpt_rnn *n = &p->net;
  if (!p->trained || n->dropout == 0 || layer + 1 == n->layers) return 1;
  int64_t place = (layer * p->T + t) * n->directions * p->O + column;
  uint32_t words[4];
  uint32_t counter[4] = {(uint32_t)(place / 4), (uint32_t)(n->draw.first_row + b),
                         (uint32_t)n->draw.offset, (uint32_t)(n->draw.offset >> 32)};
  dpt__philox(n->draw.seed, counter, words);
  return words[place % 4] < (uint64_t)((1 - n->dropout) * 4294967296.0) ? 1 / (1 - n->dropout) : 0;
}

static int64_t at(const problem *p, int64_t t, int64_t b, int64_t columns) {
  return (p->net.batch_first ? b * p->T + t : t * p->B + b) * columns;
}

/* Returns y, hn and (of an LSTM) cn, concatenated. */
static array plain_forward(const problem *p) {
  int64_t D = p->net.directions, columns = D * p->O, wide = p->T * p->B * columns;
  array all = ARRAY(wide + p->S * p->B * (p->O + (p->net.cell == DPT_RNN_LSTM ? p->H : 0)));
  double *hn = all.v + wide, *cn = hn + p->S * p->B * p->O;
  for (int64_t b = 0; b < p->B; b++) {
    int64_t length = p->lengths ? p->lengths[b] : p->T;
    array in = ARRAY(p->T, 2 * WIDE), out = ARRAY(p->T, 2 * WIDE);
    for (int64_t t = 0; t < length; t++)
      memcpy(in.v + t * 2 * WIDE, p->x.v + at(p, t, b, p->I), (size_t)p->I * sizeof(double));
    const double *w = p->w.v, *next = w;
    for (int l = 0; l < p->S; l++, w = next) {
      double h[WIDE] = {0}, c[WIDE] = {0};
      for (int64_t j = 0; j < p->O && p->states; j++) h[j] = p->h0.v[(l * p->B + b) * p->O + j];
      for (int64_t j = 0; j < p->H && p->states; j++) c[j] = p->c0.v[(l * p->B + b) * p->H + j];
      for (int64_t k = 0; k < length; k++) {
        int64_t t = l % D ? length - 1 - k : k, first = l % D * p->O;
        next = cell(p, w, l, in.v + t * 2 * WIDE, h, c);
        for (int64_t j = 0; j < p->O; j++)
          out.v[t * 2 * WIDE + first + j] = h[j] * mask(p, l / (int)D, t, b, first + j);
      }
      memcpy(hn + (l * p->B + b) * p->O, h, (size_t)p->O * sizeof *h);
      if (p->net.cell == DPT_RNN_LSTM)
        memcpy(cn + (l * p->B + b) * p->H, c, (size_t)p->H * sizeof *c);
      if (l % D == D - 1) memcpy(in.v, out.v, (size_t)in.n * sizeof *in.v);
    }
    for (int64_t t = 0; t < length; t++)
      memcpy(all.v + at(p, t, b, columns), in.v + t * 2 * WIDE, (size_t)columns * sizeof(double));
    free(in.v), free(out.v);
  }
  return all;
}
static array forward_again(array x, const void *context) { return plain_forward(context); }

/* Returns the elements of a from `first` on, with the sizes of `like`. */
static array piece(array a, int64_t first, array like) {
  array b = array_like(like);
  memcpy(b.v, a.v + first, (size_t)b.n * sizeof *b.v);
  return b;
}

static array gradient(const problem *p, array by, array g) {
  array r = array_like(by);
  for (int64_t i = 0; i < by.n; i++) r.v[i] = numeric(forward_again, by, g, i, p);
  return r;
}

static problem make(dpt_rnn net, int64_t T, int64_t B, int ragged, int states) {
  problem p = {.net = net, .T = T, .B = B, .states = states, .trained = 1};
  p.I = net.input, p.H = net.hidden, p.O = net.projection ? net.projection : net.hidden;
  p.S = net.layers * net.directions;
  p.x = array_fill(net.batch_first ? ARRAY(B, T, p.I) : ARRAY(T, B, p.I), -1, 1);
  p.h0 = array_fill(ARRAY(p.S, B, p.O), -1, 1);
  p.c0 = array_fill(ARRAY(p.S, B, p.H), -1, 1);
  p.w = array_fill(ARRAY(plain_count(&net)), -0.7, 0.7);
  if (ragged) {
    p.lengths = calloc((size_t)B, sizeof *p.lengths);
    for (int64_t b = 0; b < B; b++) p.lengths[b] = whole(1, T);
  }
  return p;
}

static void drop(problem *p) {
  free(p->x.v), free(p->h0.v), free(p->c0.v), free(p->w.v), free(p->lengths);
}

static dpt_tensor lengths_of(const problem *p) {
  dpt_tensor t = {0};
  OK(dpt_tensor_new(&t, DPT_I64, 1, &p->B));
  memcpy(t.storage_->data, p->lengths, (size_t)p->B * sizeof *p->lengths);
  return t;
}

/* Returns dpt's vector of weights as a tensor of the kind. */
static dpt_tensor weight_of(const problem *p, array plain, int kind, int strided) {
  dpt_tensor like = {.kind_ = kind};
  int64_t n = 0;
  OK(dpt_rnn_size(&p->net, &like, &n));
  array vector = ARRAY(n);
  move(&p->net, &like, plain.v, vector.v, 0);
  dpt_tensor t = tensor_of(vector, kind, strided);
  free(vector.v);
  return t;
}

static void against_plain(problem p, int kind, int strided) {
  int lstm = p.net.cell == DPT_RNN_LSTM;
  int64_t wide = p.T * p.B * p.net.directions * p.O;
  array all = plain_forward(&p), g = array_fill(array_like(all), -1, 1);
  array like_y = p.net.batch_first ? ARRAY(p.B, p.T, p.net.directions * p.O)
                                   : ARRAY(p.T, p.B, p.net.directions * p.O);
  array y = piece(all, 0, like_y), gy = piece(g, 0, like_y);
  array hn = piece(all, wide, p.h0), ghn = piece(g, wide, p.h0);
  array cn = lstm ? piece(all, wide + hn.n, p.c0) : array_like(p.c0);
  array gcn = lstm ? piece(g, wide + hn.n, p.c0) : array_like(p.c0);
  array gx = gradient(&p, p.x, g), gh0 = gradient(&p, p.h0, g), gc0 = gradient(&p, p.c0, g);
  array gw = gradient(&p, p.w, g), base = array_fill(array_like(p.w), -1, 1);
  dpt_tensor tx = tensor_of(p.x, kind, strided), th = tensor_of(p.h0, kind, strided);
  dpt_tensor tc = tensor_of(p.c0, kind, strided), tw = weight_of(&p, p.w, kind, strided);
  dpt_tensor tgy = tensor_of(gy, kind, strided), tghn = tensor_of(ghn, kind, strided);
  dpt_tensor tgcn = tensor_of(gcn, kind, strided), tgw = weight_of(&p, base, kind, strided);
  dpt_tensor ty = empty(kind), thn = empty(kind), tcn = empty(kind);
  dpt_tensor tgx = empty(kind), tgh = empty(kind), tgc = empty(kind);
  dpt_tensor reserve = empty(DPT_U8 | (kind & DPT_ON_DEVICE)), n = {0}, *lengths = NULL;
  if (p.lengths) n = lengths_of(&p), lengths = &n;
  dpt_tensor *h0 = p.states ? &th : NULL, *c0 = p.states && lstm ? &tc : NULL;
  OK(dpt_rnn_forward(&ty, &thn, lstm ? &tcn : NULL, &reserve, &p.net, &tx, h0, c0, &tw, lengths));
  OK(dpt_rnn_backward_data(&tgx, &tgh, lstm ? &tgc : NULL, &reserve, &p.net, &ty, &tgy, &tghn,
                           lstm ? &tgcn : NULL, h0, c0, &tw, lengths));
  OK(dpt_rnn_backward_weight(&tgw, &p.net, &tx, h0, &ty, lengths, &reserve, 0.5));
  same(&ty, y, 1e-12, "rnn y");
  same(&thn, hn, 1e-12, "rnn hn");
  same(&tgx, gx, 1e-6, "rnn gx");
  if (p.states) same(&tgh, gh0, 1e-6, "rnn gh0");
  if (lstm) same(&tcn, cn, 1e-12, "rnn cn");
  if (lstm && p.states) same(&tgc, gc0, 1e-6, "rnn gc0");
  for (int64_t i = 0; i < gw.n; i++) gw.v[i] = base.v[i] + 0.5 * gw.v[i];
  array vector = array_of(&tgw), got = array_like(gw);
  move(&p.net, &tw, got.v, vector.v, 1);
  dpt_tensor tgot = tensor_of(got, dpt__is_device(kind) ? DPT_F32 : kind, 0);
  if (!dpt__is_reduced(dpt__dtype(kind))) same(&tgot, gw, 1e-6, "rnn gw");
  dpt_tensor *own[] = {&tx, &th, &tc, &tw, &tgy, &tghn, &tgcn, &reserve, &n, &tgh, &tgc, &tgot};
  for (int i = 0; i < 12; i++) dpt_tensor_free(own[i]);
  array arrays[] = {all, g, like_y, y, gy, hn, ghn, cn, gcn, gx, gh0, gc0, gw, base, vector, got};
  for (int i = 0; i < 16; i++) free(arrays[i].v);
}

static dpt_rnn network(int cell) {
  dpt_rnn n = {.cell = cell,
               .bias = (int32_t)whole(0, 3),
               .directions = (int32_t)whole(1, 2),
               .layers = (int32_t)whole(1, 3),
               .batch_first = (int32_t)whole(0, 1),
               .input = (int32_t)whole(1, 7),
               .hidden = (int32_t)whole(2, 7),
               .draw = {.seed = 17, .offset = (uint64_t)whole(0, 9), .first_row = whole(0, 5)}};
  if (whole(0, 3) == 0) n.skip_input = 1, n.input = n.hidden;
  if (whole(0, 2) == 0) n.dropout = 0.4;
  if (cell == DPT_RNN_LSTM && whole(0, 2) == 0) n.projection = (int32_t)whole(1, n.hidden - 1);
  return n;
}

/* Tests more columns than a panel has, and more rows than a tile or chunk has. */
static void wide(int cell) {
  dpt_rnn net = {.cell = cell, .bias = 2, .directions = 1, .layers = 1, .input = 3, .hidden = 19};
  problem p = make(net, 9, 8, 0, 1);
  if (cell != DPT_RNN_RELU) against_plain(p, DPT_F64, 0), against_plain(p, DPT_F32, 0);
  drop(&p);
}

/* Tests more rows than the gradient of a weight processes at once. */
static void many_rows(void) {
  dpt_rnn net = {.cell = DPT_RNN_TANH, .directions = 1, .layers = 1, .input = 1, .hidden = 2};
  problem p = make(net, 9, 60, 0, 0);
  against_plain(p, DPT_F64, 0);
  drop(&p);
}

/* Rejects each invalid network, and each operand that does not fit, with an error message. */
static void refusals(void) {
  dpt_rnn net = {
      .cell = DPT_RNN_LSTM, .bias = 2, .directions = 1, .layers = 2, .input = 3, .hidden = 4};
  problem p = make(net, 5, 2, 1, 1);
  dpt_tensor x = tensor_of(p.x, F32, 0), w = weight_of(&p, p.w, F32, 0), n = lengths_of(&p);
  dpt_tensor h = tensor_of(p.h0, F32, 0), y = empty(F32), hn = empty(F32), gx = empty(F32);
  dpt_tensor reserve = empty(DPT_U8), none = empty(F32), bytes = empty(DPT_U8),
             device = empty(CUDA);
  dpt_tensor k = tensor_of(p.x, DPT_I64, 0);
  dpt_rnn_part part;
  int64_t count;
#define REJECTED(change, text)                                                                     \
  net = p.net, change, FAILS(dpt_rnn_forward(&y, &hn, 0, 0, &net, &x, 0, 0, &w, 0), text)
  REJECTED(net.cell = 4, "'cell' of the network is 4, wanted 0 to 3");
  REJECTED(net.bias = -1, "'bias' of the network is -1");
  REJECTED(net.directions = 3, "'directions' of the network is 3, wanted 1 to 2");
  REJECTED(net.layers = 0, "'layers' of the network is 0");
  REJECTED(net.hidden = 0, "'hidden' of the network is 0");
  REJECTED(net.projection = 4, "'projection' of the network is 4, wanted 0 to 3");
  REJECTED((net.projection = 2, net.cell = DPT_RNN_GRU), "only an LSTM has one: this is a GRU");
  REJECTED(net.skip_input = 1, "'input' 3 must be 'hidden' 4");
  REJECTED(net.dropout = 1, "'dropout' of the network is 1, wanted 0 <= dropout < 1");
  REJECTED(net.input = 5,
           "'input' is a torch.FloatTensor of size 5x2x3, wanted steps x sequences of 5");
  REJECTED(net.hidden = 5, "'weight' is a torch.FloatTensor of size 304, wanted 440 elements");
  net = p.net;
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, NULL, &x, 0, 0, &w, 0), "'rnn' is missing");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, NULL, 0, 0, &w, 0), "'input' is missing");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &k, 0, 0, &w, 0), "torch.LongTensor");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &none, 0, 0, &w, 0),
        "'input' is a torch.FloatTensor without dimensions");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, 0, 0, NULL, 0), "'weight' is missing");
  FAILS(dpt_rnn_forward(&device, 0, 0, 0, &net, &x, 0, 0, &w, 0), "'output' is a torch.CudaTensor");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, &x, 0, &w, 0), "size 5x2x3, wanted size 2x2x4");
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, 0, 0, &w, &h), "wanted a torch.LongTensor of 2");
  net.cell = DPT_RNN_GRU;
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, 0, &h, &w, 0), "a GRU has no cells");
  net = p.net;
  int64_t *lengths = n.storage_->data;
  lengths[1] = 6;
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, 0, 0, &w, &n),
        "has 6 for sequence 2, wanted 1 to 5");
  lengths[1] = 0;
  FAILS(dpt_rnn_forward(&y, 0, 0, 0, &net, &x, 0, 0, &w, &n), "has 0 for sequence 2");
  lengths[1] = 3;
  OK(dpt_rnn_forward(&y, 0, 0, &reserve, &net, &x, 0, 0, &w, &n));
  FAILS(dpt_rnn_backward_data(&gx, 0, 0, &bytes, &net, &y, &y, 0, 0, 0, 0, &w, &n), "that forward");
  FAILS(dpt_rnn_backward_data(&gx, 0, 0, &reserve, &net, &y, &y, 0, 0, 0, 0, &w, 0),
        "that forward");
  FAILS(dpt_rnn_backward_data(&gx, 0, 0, &reserve, &net, &y, &x, 0, 0, 0, 0, &w, &n),
        "'gradOutput' is a");
  FAILS(dpt_rnn_backward_weight(&x, &net, &x, 0, &y, &n, &reserve, 1), "'gradWeight' is a");
  FAILS(dpt_rnn_find(&net, &w, 2, 0, &part), "'pseudo_layer' is 2, wanted 0 to 1");
  FAILS(dpt_rnn_find(&net, &w, 0, 8, &part), "'id' is 8, wanted 0 to 7");
  FAILS(dpt_rnn_size(&net, &k, &count), "'weight' is a torch.LongTensor");
  dpt_tensor *own[] = {&x, &w, &n, &h, &y, &hn, &gx, &reserve, &k};
  for (int i = 0; i < 9; i++) dpt_tensor_free(own[i]);
  drop(&p);
}

/* Without a reserve, results are the same, without dropout. */
static void inference(void) {
  dpt_rnn net = {
      .cell = DPT_RNN_GRU, .bias = 2, .directions = 2, .layers = 3, .input = 3, .hidden = 4};
  net.dropout = 0.5;
  problem p = make(net, 9, 3, 1, 1);
  p.trained = 0;
  array all = plain_forward(&p), y = piece(all, 0, p.x);
  free(y.v);
  y = piece(all, 0, (array){.ndim = 3, .size = {9, 3, 8}, .n = 9 * 3 * 8});
  dpt_tensor x = tensor_of(p.x, F64, 0), w = weight_of(&p, p.w, F64, 0), n = lengths_of(&p);
  dpt_tensor h = tensor_of(p.h0, F64, 0), out = empty(F64);
  OK(dpt_rnn_forward(&out, NULL, NULL, NULL, &net, &x, &h, NULL, &w, &n));
  same(&out, y, 1e-12, "rnn without a reserve");
  dpt_tensor *own[] = {&x, &w, &n, &h};
  for (int i = 0; i < 4; i++) dpt_tensor_free(own[i]);
  free(all.v), free(y.v);
  drop(&p);
}

/* In deterministic mode, and always from a number of steps on, a sequence has the same bits whether
 * it is computed alone or in a batch. */
static void alone(int cell) {
  dpt_rnn net = {.cell = cell, .bias = 2, .directions = 2, .layers = 2, .input = 5, .hidden = 21};
  problem p = make(net, 12, 37, 1, 1);
  dpt_tensor x = tensor_of(p.x, F32, 0), w = weight_of(&p, p.w, F32, 0), n = lengths_of(&p);
  dpt_tensor all = empty(F32), one = empty(F32), x1 = empty(F32), n1 = empty(DPT_I64);
  dpt_tensor part = empty(F32);
  int equal = 0;
  OK(dpt_rnn_forward(&all, NULL, NULL, NULL, &net, &x, NULL, NULL, &w, &n));
  for (int64_t b = 0; b < 37; b += 9) {
    OK(dpt_narrow(&x1, &x, 1, b, 1));
    OK(dpt_narrow(&n1, &n, 0, b, 1));
    OK(dpt_narrow(&part, &all, 1, b, 1));
    OK(dpt_rnn_forward(&one, NULL, NULL, NULL, &net, &x1, NULL, NULL, &w, &n1));
    OK(dpt_equal(&one, &part, &equal));
    CHECK(equal);
  }
  dpt_tensor *own[] = {&x, &w, &n, &all, &one, &x1, &n1, &part};
  for (int i = 0; i < 8; i++) dpt_tensor_free(own[i]);
  drop(&p);
}

int main(void) {
  layer_start();
  many_rows();
  refusals();
  inference();
  for (int cell = 0; cell < 4; cell++) wide(cell), alone(cell);
  for (int round = 0; round < torture(120); round++)
    for (int cell = 0; cell < 4; cell++) {
      problem p =
          make(network(cell), whole(1, 10), whole(1, 5), (int)whole(0, 1), (int)whole(0, 1));
      dpt_deterministic_set((int)whole(0, 1));
      nearest_kink = 1;
      free(plain_forward(&p).v);
      if (nearest_kink > 1e-3) against_plain(p, kinds[(round + cell) % KINDS], (int)whole(0, 1));
      drop(&p);
    }
  return check_end();
}
