/* empty_spec.c: runs every layer forward and backward on batches without rows, on the host and on
 * devices: results have the right sizes; nothing is added to the gradients of parameters or to
 * losses.
 */
#include "layer.h"

static int is(const dpt_tensor *t, array like) {
  int good = t->ndim_ == like.ndim;
  for (int d = 0; d < like.ndim && good; d++) good = t->size_[d] == like.size[d];
  return good;
}

static void layers(int kind) {
  array in = ARRAY(0, 2, 4, 4), flat = ARRAY(0, 8), w4 = ARRAY(3, 2, 3, 3), out = ARRAY(0, 3, 2, 2);
  array w2 = ARRAY(5, 8), rows = ARRAY(0, 5), planes = ARRAY(2), pooled = ARRAY(0, 2, 2, 2);
  array ones = array_fill(ARRAY(5, 8), 1, 2), padded = ARRAY(0, 2, 5, 4), twice = ARRAY(0, 2, 8, 8);
  dpt_tensor x = tensor_of(in, kind, 0), f = tensor_of(flat, kind, 0), w = tensor_of(w4, kind, 0);
  dpt_tensor lw = tensor_of(ones, kind, 0), p = tensor_of(planes, kind, 0), y = empty(kind);
  dpt_tensor gin = empty(kind), gw = tensor_of(w2, kind, 0), idx = empty(index_kind(kind));
  dpt_tensor m = empty(kind), s = empty(kind);
  dpt_window k3 = {.ndim = 2, .kernel = {3, 3}},
             k2 = {.ndim = 2, .kernel = {2, 2}, .stride = {2, 2}};
  int64_t size[2] = {8, 8}, below[2] = {1, 0}, above[2] = {0, 0};

  OK(dpt_linear_forward(&y, &f, &lw, NULL)), CHECK(is(&y, rows));
  OK(dpt_linear_backward_data(&gin, &y, &lw)), CHECK(is(&gin, flat));
  OK(dpt_linear_backward_weight(&gw, NULL, &f, &y, 1));
  OK(dpt_conv_forward(&y, &x, &w, NULL, &k3)), CHECK(is(&y, out));
  OK(dpt_conv_backward_data(&gin, &y, &x, &w, &k3)), CHECK(is(&gin, in));
  OK(dpt_conv_backward_weight(&w, NULL, &x, &y, &k3, 1));
  OK(dpt_maxpool_forward(&y, &idx, &x, &k2)), CHECK(is(&y, pooled)), CHECK(is(&idx, pooled));
  OK(dpt_maxpool_backward(&gin, &y, &x, &idx, 2)), CHECK(is(&gin, in));
  OK(dpt_avgpool_forward(&y, &x, &k2)), CHECK(is(&y, pooled));
  OK(dpt_avgpool_backward(&gin, &y, &x, &k2)), CHECK(is(&gin, in));
  OK(dpt_softmax_forward(&y, &f, 1, 0)), CHECK(is(&y, flat));
  OK(dpt_softmax_backward(&gin, &y, &y, 1, 0)), CHECK(is(&gin, flat));
  OK(dpt_batchnorm_forward(&y, &m, &s, &p, &p, &x, NULL, NULL, 1, 0.1, 1e-5)), CHECK(is(&y, in));
  OK(dpt_batchnorm_backward(&gin, &p, &p, &x, &y, NULL, &p, &p, &m, &s, 1, 1, 1e-5));
  CHECK(is(&gin, in));
  OK(dpt_prelu_forward(&y, &x, &p)), CHECK(is(&y, in));
  OK(dpt_prelu_backward_weight(&p, &y, &x, 1));
  OK(dpt_lrn_forward(&y, &m, &x, 3, 1, 1, 1)), CHECK(is(&y, in));
  OK(dpt_upsample_nearest_forward(&y, &x, 2, 2)), CHECK(is(&y, twice));
  OK(dpt_upsample_linear_forward(&y, &x, 2, size)), CHECK(is(&y, twice));
  OK(dpt_upsample_linear_backward(&gin, &y, &x, 2)), CHECK(is(&gin, in));
  OK(dpt_pad_forward(&y, &x, DPT_PAD_ZERO, 2, below, above)), CHECK(is(&y, padded));
  OK(dpt_pad_backward(&gin, &y, &x, DPT_PAD_ZERO, 2, below, above)), CHECK(is(&gin, in));
  OK(dpt_dropout_mask(&x, &(dpt_draw){0}, 0.5, 2));
  same(&gw, w2, 0, "empty gw");
  same(&w, w4, 0, "empty conv gw");
  same(&p, planes, 0, "empty planes");
  dpt_tensor *own[] = {&x, &f, &lw, &y, &gin, &idx, &m, &s};
  for (int i = 0; i < 8; i++) dpt_tensor_free(own[i]);
  double *data[] = {in.v,     flat.v,   w4.v,   out.v,    w2.v,   rows.v,
                    planes.v, pooled.v, ones.v, padded.v, twice.v};
  for (int i = 0; i < 11; i++) free(data[i]);
}

static void losses(int kind) {
  array in = ARRAY(0, 3), t1 = ARRAY(0), zero = ARRAY(1);
  dpt_tensor x = tensor_of(in, kind, 0), t = tensor_of(t1, index_kind(kind), 0), y = empty(kind);
  dpt_tensor total = empty(kind), gin = empty(kind), i2 = tensor_of(in, index_kind(kind), 0);
  for (int average = 0; average < 2; average++) {
    OK(dpt_nll_forward(&y, &total, &x, &t, NULL, average, -100));
    OK(dpt_nll_backward(&gin, &x, &t, NULL, &total, average, -100)), CHECK(is(&gin, in));
    same(&y, zero, 0, "empty nll");
    OK(dpt_loss_forward(dpt_loss("mse"), &y, &x, &x, NULL, average, 0));
    OK(dpt_loss_backward(dpt_loss("mse"), &gin, &x, &x, NULL, average, 0)), CHECK(is(&gin, in));
    same(&y, zero, 0, "empty mse");
    OK(dpt_multimargin_forward(&y, &x, &t, NULL, average, 1, 1));
    same(&y, zero, 0, "empty multimargin");
    OK(dpt_multilabel_forward(&y, &x, &i2, average));
    same(&y, zero, 0, "empty multilabel");
  }
  dpt_tensor *own[] = {&x, &t, &total, &gin, &i2};
  for (int i = 0; i < 5; i++) dpt_tensor_free(own[i]);
  free(in.v), free(t1.v), free(zero.v);
}

static void lookups(int kind) {
  array none = ARRAY(0), table = array_fill(ARRAY(4, 3), -1, 1), rows = ARRAY(0, 3);
  dpt_tensor w = tensor_of(table, kind, 0), i = tensor_of(none, index_kind(kind), 0);
  dpt_tensor y = empty(kind), x = tensor_of(none, kind, 0);
  OK(dpt_lookup_forward(&y, &w, &i)), CHECK(is(&y, rows));
  OK(dpt_lookup_backward(&w, &i, &y, 0, 1, 1));
  OK(dpt_lookup_renorm(&w, &i, 1, 2));
  same(&w, table, 0, "empty lookup");
  OK(dpt_sgd_step(&x, &x, NULL, NULL, NULL, 1, 0, 0, 0, 0, 1));
  dpt_tensor_free(&i), dpt_tensor_free(&y), dpt_tensor_free(&x);
  free(none.v), free(table.v), free(rows.v);
}

static void missing(void) {
  array in = ARRAY(1, 2, 3, 3), two = ARRAY(2, 2);
  dpt_tensor x = tensor_of(in, F32, 0), m = tensor_of(two, F32, 0), y = empty(F32);
  dpt_window k = {.ndim = 2, .kernel = {1, 1}};
  int64_t size[2] = {1, 1};
  FAILS(dpt_linear_forward(&y, NULL, &m, NULL), "'input' is missing");
  FAILS(dpt_linear_forward(&y, &m, NULL, NULL), "'weight' is missing");
  FAILS(dpt_linear_forward(NULL, &m, &m, NULL), "'output' is missing");
  FAILS(dpt_linear_backward_weight(NULL, NULL, &m, &m, 1), "'gradWeight' is missing");
  FAILS(dpt_conv_forward(&y, &x, NULL, NULL, &k), "'weight' is missing");
  FAILS(dpt_conv_backward_data(&y, &x, NULL, &m, &k), "'input' is missing");
  FAILS(dpt_maxpool_forward(&y, NULL, &x, &k), "'indices' is missing");
  FAILS(dpt_maxpool_backward(&y, &x, NULL, &m, 2), "'input' is missing");
  FAILS(dpt_avgpool_backward(&y, &x, NULL, &k), "'input' is missing");
  FAILS(dpt_adaptive_avgpool_forward(&y, NULL, 2, size), "'input' is missing");
  FAILS(dpt_softmax_backward(&y, NULL, &m, 0, 0), "'gradOutput' is missing");
  FAILS(dpt_batchnorm_forward(&y, NULL, NULL, NULL, NULL, &x, NULL, NULL, 1, 0, 1), "'save_mean'");
  FAILS(dpt_batchnorm_forward(&y, &y, &y, NULL, NULL, &x, NULL, NULL, 0, 0, 1), "'running_mean'");
  FAILS(dpt_batchnorm_backward(&y, NULL, NULL, &x, &x, NULL, NULL, NULL, NULL, NULL, 1, 1, 1),
        "'save_mean' is missing");
  FAILS(dpt_nll_forward(&y, NULL, &m, &m, NULL, 1, 0), "'target'");
  FAILS(dpt_nll_forward(&y, &y, &m, NULL, NULL, 1, 0), "'target' is missing");
  FAILS(dpt_loss_backward(0, NULL, &m, &m, NULL, 1, 0), "'gradInput' is missing");
  FAILS(dpt_lookup_forward(&y, &m, NULL), "'indices' is missing");
  FAILS(dpt_pad_backward(&y, &x, NULL, 0, 2, size, size), "'input' is missing");
  FAILS(dpt_upsample_nearest_backward(&y, &x, NULL, 2, 2), "'input' is missing");
  FAILS(dpt_prelu_forward(&y, NULL, &m), "'input' is missing");
  FAILS(dpt_lrn_forward(&y, NULL, &x, 1, 1, 1, 1), "'denom' is missing");
  FAILS(dpt_dropout_mask(NULL, &(dpt_draw){0}, 0.5, 1), "'mask' is missing");
  FAILS(dpt_dropout_mask(&x, NULL, 0.5, 1), "'draw' is missing");
  FAILS(dpt_sgd_step(NULL, &m, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0), "'x' is missing");
  FAILS(dpt_adam_step(&m, &m, NULL, &m, NULL, NULL, 1, 0, 0, 0, 1), "'m' is missing");
  dpt_tensor_free(&x), dpt_tensor_free(&m), dpt_tensor_free(&y);
  free(in.v), free(two.v);
}

int main(void) {
  layer_start();
  for (int k = 0; k < KINDS; k++) {
    layers(kinds[k]);
    losses(kinds[k]);
    lookups(kinds[k]);
  }
  missing();
  OK(dpt_device_synchronize(0));
  return check_end();
}
