/* linear_spec.c: compares nn.Linear's products with plain loops. */
#include "layer.h"

enum { MATRIX, VECTOR, THREE };

static void products(int kind, int strided, int64_t B, int64_t I, int64_t O, int form) {
  array x = form == VECTOR ? ARRAY(I) : form == MATRIX ? ARRAY(B, I) : ARRAY(B, 3, I);
  array y = form == VECTOR ? ARRAY(O) : form == MATRIX ? ARRAY(B, O) : ARRAY(B, 3, O);
  array w = array_fill(ARRAY(O, I), -1, 1), b = array_fill(ARRAY(O), -1, 1);
  array gx = array_like(x), gw = array_fill(ARRAY(O, I), -1, 1), gb = array_fill(ARRAY(O), -1, 1);
  array gw0 = array_like(gw), gb0 = array_like(gb);
  memcpy(gw0.v, gw.v, (size_t)gw.n * sizeof *gw.v);
  memcpy(gb0.v, gb.v, (size_t)gb.n * sizeof *gb.v);
  array_fill(x, -1, 1);
  array gy = array_fill(array_like(y), -1, 1);
  double scale = 0.5;
  for (int64_t r = 0; r < x.n / I; r++)
    for (int64_t o = 0; o < O; o++) {
      y.v[r * O + o] = b.v[o];
      gb.v[o] += scale * gy.v[r * O + o];
      for (int64_t i = 0; i < I; i++) {
        y.v[r * O + o] += x.v[r * I + i] * w.v[o * I + i];
        gx.v[r * I + i] += gy.v[r * O + o] * w.v[o * I + i];
        gw.v[o * I + i] += scale * gy.v[r * O + o] * x.v[r * I + i];
      }
    }
  dpt_tensor tx = tensor_of(x, kind, strided), tw = tensor_of(w, kind, strided);
  dpt_tensor tb = tensor_of(b, kind, strided), tgy = tensor_of(gy, kind, strided);
  dpt_tensor tgw = tensor_of(gw0, kind, strided), tgb = tensor_of(gb0, kind, strided);
  dpt_tensor out = empty(kind), gin = empty(kind);
  OK(dpt_linear_forward(&out, &tx, &tw, &tb));
  OK(dpt_linear_backward_data(&gin, &tgy, &tw));
  OK(dpt_linear_backward_weight(&tgw, &tgb, &tx, &tgy, scale));
  same(&out, y, 1e-12, "linear out");
  same(&gin, gx, 1e-12, "linear gin");
  same(&tgw, gw, 1e-12, "linear gw");
  same(&tgb, gb, 1e-12, "linear gb");
  dpt_tensor_free(&tx), dpt_tensor_free(&tw), dpt_tensor_free(&tb), dpt_tensor_free(&tgy);
  double *own[] = {x.v, y.v, w.v, b.v, gx.v, gw.v, gb.v, gw0.v, gb0.v, gy.v};
  for (int i = 0; i < 10; i++) free(own[i]);
}

static void refusals(void) {
  array a = ARRAY(3, 4), v = ARRAY(4);
  dpt_tensor x = tensor_of(a, F32, 0), w = tensor_of(a, F32, 0), b = tensor_of(v, F32, 0);
  dpt_tensor d = tensor_of(a, F64, 0), k = tensor_of(a, DPT_I64, 0), c = tensor_of(a, CUDA, 0);
  dpt_tensor out = empty(F32), none = empty(F32);
  FAILS(dpt_linear_forward(&out, &x, &b, NULL), "'weight' is a torch.FloatTensor of size 4");
  FAILS(dpt_linear_forward(&out, &x, &w, &b), "'bias' is a torch.FloatTensor of size 4, wanted 3");
  FAILS(dpt_linear_forward(&out, &d, &w, NULL), "'weight' is a torch.FloatTensor, wanted");
  FAILS(dpt_linear_forward(&out, &k, &w, NULL), "'input' is a torch.LongTensor");
  FAILS(dpt_linear_forward(&out, &x, &c, NULL), "torch.CudaTensor");
  FAILS(dpt_linear_forward(&out, &none, &w, NULL), "'input'");
  FAILS(dpt_linear_backward_data(&out, &x, &w), "wanted 3 or Bx3 elements");
  OK(dpt_linear_forward(&out, &x, &w, NULL));
  dpt_tensor *own[] = {&x, &w, &b, &d, &k, &c, &out};
  for (int i = 0; i < 7; i++) dpt_tensor_free(own[i]);
  free(a.v), free(v.v);
}

int main(void) {
  layer_start();
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < 12; i++)
      products(kinds[k], i % 2, whole(0, 40), whole(1, 50), whole(1, 50), i % 3);
  products(F32, 0, 200, 300, 100, MATRIX);
  refusals();
  return check_end();
}
