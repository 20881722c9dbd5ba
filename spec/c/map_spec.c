/* map_spec.c: tests pointwise operations, fill and conversion through the public functions.
 *
 * Invariant: on views of every layout, in place and overlapping, on the host and on a device, each
 * element has the value that the row function returns for it alone. Memory beside the output's
 * elements is unchanged; rejected calls change nothing.
 */
#include "base/element.h"
#include "base/reduced.h"
#include "host/rows.h"
#include "views.h"

static uint64_t seed;

static void fill_storage(const dpt_tensor *t) {
  char *p = t->storage_->data;
  int dtype = dpt__type(t);
  for (int64_t i = 0; i < t->storage_->size; i++) {
    double v = (double)draw(&seed, 200) / (dpt__is_real(dtype) ? 16 : 1) + 1;
    if (dtype == DPT_F32) ((float *)p)[i] = (float)v;
    if (dtype == DPT_F64) ((double *)p)[i] = v;
    if (dpt__is_reduced(dtype)) dpt__put_element(dtype, (uint16_t *)p + i, v);
    if (!dpt__is_real(dtype)) {
      int64_t n = (int64_t)v; /* little-endian: copies the low bytes */
      memcpy(p + i * (int64_t)dpt__dtype_size(dtype), &n, dpt__dtype_size(dtype));
    }
  }
}

static char *at(const dpt_tensor *t, int64_t i) {
  return (char *)dpt__at(t) + place_of(t, i) * (int64_t)dpt__dtype_size(dpt__type(t));
}

/* Computes one element by the table's function. */
static void expect(int op, int dtype, int to_bytes, void *r, const void *a, const void *b,
                   const void *c, double p, double q) {
  const dpt__rows *rows = dpt__rows_pick();
  (to_bytes ? rows->compare : rows->map)[op][dtype](1, r, a, b, c, p, q);
}

static void on_views(void) {
  static const int64_t counts[] = {1, 5, 12, 24, 36, 60, 210, 256};
  static const int dtypes[] = {DPT_U8, DPT_I16, DPT_I32, DPT_I64, DPT_F32, DPT_F64};
  static const struct {
    int op, operands;
  } ops[] = {{DPT__MAP_cadd, 2}, {DPT__MAP_cmul, 2}, {DPT__MAP_addcmul, 3},    {DPT__MAP_clamp, 1},
             {DPT__MAP_cmax, 2}, {DPT__MAP_ceq, 2},  {DPT__MAP_cremainder, 2}, {DPT__MAP_gt, 1}};
  int64_t count = counts[draw(&seed, 8)], size[DPT_MAXDIM];
  int pick = (int)draw(&seed, 8), dtype = dtypes[draw(&seed, 6)], op = ops[pick].op;
  int compares = op == DPT__MAP_ceq || op == DPT__MAP_gt, bytes = compares && draw(&seed, 2);
  int n = random_size(&seed, count, size), inputs = ops[pick].operands, status = 0;
  dpt_tensor r, in[3] = {{0}};
  char want[256][8], *before;
  random_view(&seed, &r, bytes ? DPT_U8 : dtype, n, size, 0);
  fill_storage(&r);
  for (int k = 0; k < inputs; k++) {
    int how = (int)draw(&seed, 4);
    if (k && how == 0) n = random_size(&seed, count, size);
    if (how == 1 && !bytes && dpt__type(&r) == dtype) { /* the output itself */
      in[k].kind_ = dtype;
      OK(dpt_tensor_set(&in[k], &r));
    } else if (how == 2 && !bytes && n == r.ndim_ && n > 1 && r.size_[0] == r.size_[1]) {
      in[k].kind_ = dtype; /* the output transposed: its elements alias in another order */
      OK(dpt_transpose(&in[k], &r, 0, 1));
    } else {
      random_view(&seed, &in[k], dtype, n, size, 1);
      fill_storage(&in[k]);
    }
    if (k == 0) {
      n = in[0].ndim_;
      memcpy(size, in[0].size_, sizeof in[0].size_);
    }
  }
  for (int64_t i = 0; i < count; i++)
    expect(op, dtype, bytes, want[i], at(&in[0], i), inputs > 1 ? at(&in[1], i) : NULL,
           inputs > 2 ? at(&in[2], i) : NULL, 2, 9);
  size_t total = (size_t)r.storage_->size * dpt__dtype_size(dpt__type(&r));
  before = malloc(total);
  memcpy(before, r.storage_->data, total);
  if (inputs == 1) status = dpt_map1(op, &r, &in[0], 2, 9);
  if (inputs == 2) status = dpt_map2(op, &r, &in[0], &in[1], 2, 9);
  if (inputs == 3) status = dpt_map3(op, &r, &in[0], &in[1], &in[2], 2, 9);
  OK(status);
  int good = dpt_is_same_size(&r, &in[0]);
  size_t width = dpt__dtype_size(dpt__type(&r));
  for (int64_t i = 0; i < count; i++) {
    good = good && memcmp(at(&r, i), want[i], width) == 0;
    memcpy(before + (at(&r, i) - (char *)r.storage_->data), want[i], width);
  }
  if ((size_t)r.storage_->size * width == total)
    good = good && !memcmp(before, r.storage_->data, total);
  if (!CHECK(good)) printf("operation %d of %s\n", op, dpt__dtype_name(dtype));
  free(before);
  dpt_tensor_free(&r);
  for (int k = 0; k < inputs; k++) dpt_tensor_free(&in[k]);
}

/* Large enough for several threads and non-temporal stores: every layout, odd offset. */
static void large(int64_t rows, int64_t columns, int transposed, int op, int inplace) {
  dpt_tensor a = {0}, b = {0}, r = {0};
  OK(dpt_tensor_new(&a, DPT_F32, 2, (int64_t[]){rows, columns}));
  OK(dpt_tensor_new(&b, DPT_F32, 2, (int64_t[]){columns, rows}));
  OK(dpt_tensor_new(&r, DPT_F32, 2, (int64_t[]){rows + 1, columns}));
  fill_storage(&a);
  fill_storage(&b);
  OK(dpt_fill(&r, -7));
  OK(dpt_set_storage(&r, r.storage_, 3, 2, (int64_t[]){rows, columns}, NULL));
  if (transposed)
    OK(dpt_transpose(&b, &b, 0, 1));
  else
    OK(dpt_view(&b, &b, 2, (int64_t[]){rows, columns}));
  if (inplace) OK(dpt_copy(&r, &a));
  OK(dpt_map2(op, &r, inplace ? &r : &a, &b, 2, 0));
  int64_t bad = 0;
  const float *out = dpt_tensor_data(&r);
  for (int64_t i = 0; i < rows * columns; i++) {
    float want;
    expect(op, DPT_F32, 0, &want, at(&a, i), at(&b, i), NULL, 2, 0);
    bad += memcmp(&want, out + i, 4) != 0;
  }
  CHECK(bad == 0);
  const float *all = r.storage_->data;
  for (int i = 0; i < 3; i++) CHECK(all[i] == -7);
  for (int64_t i = rows * columns + 3; i < (rows + 1) * columns; i++) bad += all[i] != -7;
  CHECK(bad == 0);
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&r);
}

/* Long rows of every 2nd or 3rd element, in place or not: the elements between them are
 * unchanged. */
static void long_strided(int64_t step) {
  enum { N = 5003 };
  dpt_tensor a = {0}, b = {0}, r = {0};
  for (int inplace = 0; inplace < 2; inplace++) {
    OK(dpt_tensor_new(&a, DPT_F32, 2, (int64_t[]){N, step}));
    OK(dpt_tensor_new(&b, DPT_F32, 2, (int64_t[]){N, step}));
    OK(dpt_tensor_new(&r, DPT_F32, 2, (int64_t[]){N, step}));
    fill_storage(&a);
    fill_storage(&b);
    OK(dpt_copy(&r, &a));
    for (int i = 0; i < 3; i++)
      OK(dpt_select((dpt_tensor *[]){&a, &b, &r}[i], (dpt_tensor *[]){&a, &b, &r}[i], 1, 1));
    OK(dpt_map2(DPT__MAP_cadd, &r, inplace ? &r : &a, &b, 2, 0));
    const float *x = a.storage_->data, *y = b.storage_->data, *out = r.storage_->data;
    int bad = 0;
    for (int64_t i = 0; i < N * step; i++) {
      float want = x[i];
      if (i % step == 1) expect(DPT__MAP_cadd, DPT_F32, 0, &want, &x[i], &y[i], NULL, 2, 0);
      bad += memcmp(&want, out + i, 4) != 0;
    }
    CHECK(bad == 0);
    dpt_tensor_free(&a);
    dpt_tensor_free(&b);
    dpt_tensor_free(&r);
  }
}

static void rejected(void) {
  dpt_tensor f = {0}, g = {0}, d = {0}, l = {0}, u = {0}, r = {.kind_ = DPT_F32};
  OK(dpt_tensor_new(&f, DPT_F32, 1, (int64_t[]){3}));
  OK(dpt_tensor_new(&g, DPT_F32, 1, (int64_t[]){4}));
  OK(dpt_tensor_new(&d, DPT_F64, 1, (int64_t[]){3}));
  OK(dpt_tensor_new(&l, DPT_I64, 1, (int64_t[]){3}));
  OK(dpt_tensor_new(&u, DPT_U8, 1, (int64_t[]){3}));
  OK(dpt_fill(&l, 0));
  FAILS(dpt_map2(DPT__MAP_cadd, &r, &f, &g, 1, 0),
        "add: argument 'b' has 4 elements, wanted 3 as in torch.FloatTensor of size 3");
  FAILS(dpt_map2(DPT__MAP_cadd, &r, &f, &d, 1, 0),
        "add: argument 'b' is a torch.DoubleTensor, wanted a torch.FloatTensor");
  FAILS(dpt_map1(DPT__MAP_exp, &l, &l, 0, 0),
        "exp: torch.LongTensor has no exp; convert to a real type first");
  FAILS(dpt_map1(DPT__MAP_bitand, &r, &f, 1, 0), "bitand: torch.FloatTensor has no bitand");
  FAILS(dpt_map1(DPT__MAP_abs, &u, &u, 0, 0), "abs: torch.ByteTensor has no abs");
#define X(id, type, suffix, name, ...)                                                             \
  dpt_tensor suffix = {0};                                                                         \
  OK(dpt_tensor_new(&suffix, id, 1, (int64_t[]){3}));                                              \
  FAILS(dpt_map1(DPT__MAP_bitand, &suffix, &suffix, 1, 0),                                         \
        "bitand: torch." #name "Tensor has no bitand");                                            \
  dpt_tensor_free(&suffix);
  DPT_REDUCED_DTYPES(X)
#undef X
  FAILS(dpt_map1(DPT__MAP_div, &l, &l, 0.9, 0), "div: torch.LongTensor can't be divided by 0");
  FAILS(dpt_map2(DPT__MAP_cdiv, &l, &l, &l, 0, 0), "cdiv: a divisor is 0");
  FAILS(dpt_map1(DPT__MAP_gt, &l, &f, 0, 0), "gt: the result is a torch.LongTensor");
  FAILS(dpt_map2(DPT__MAP_exp, &f, &f, &f, 0, 0), "exp: takes 1 tensors");
  FAILS(dpt_map1(-1, &f, &f, 0, 0), "no operation -1");
  FAILS(dpt_copy(&f, &g), "copy: argument 'a' has 4 elements, wanted 3");
  CHECK(r.storage_ == NULL && r.ndim_ == 0);
  CHECK(dpt_op("cadd") == DPT__MAP_cadd && dpt_op("nothing") == -1);
  OK(dpt_map1(DPT__MAP_add, &r, &r, 1, 0)); /* adds 1 to no elements */
  dpt_tensor_free(&f);
  dpt_tensor_free(&g);
  dpt_tensor_free(&d);
  dpt_tensor_free(&l);
  dpt_tensor_free(&u);
  dpt_tensor_free(&r);
}

/* Device tensors get the same values as host tensors; reduced types are computed in float. */
static void on_device(void) {
  dpt_tensor a = {0}, b = {0}, x = {0}, y = {0}, back = {0};
  double v = 0;
  OK(dpt_tensor_new(&a, DPT_F32, 2, (int64_t[]){30, 40}));
  OK(dpt_tensor_new(&b, DPT_F32, 2, (int64_t[]){40, 30}));
  fill_storage(&a);
  fill_storage(&b);
  OK(dpt_transpose(&b, &b, 0, 1));
  OK(dpt_tensor_new(&x, DPT_F32 | DPT_ON_DEVICE, 2, a.size_));
  OK(dpt_tensor_new(&y, DPT_F32 | DPT_ON_DEVICE, 2, a.size_));
  OK(dpt_tensor_new(&back, DPT_F32, 2, a.size_));
  OK(dpt_copy(&x, &a));
  OK(dpt_copy(&y, &b));
  OK(dpt_map2(DPT__MAP_cadd, &x, &x, &y, 2, 0));
  OK(dpt_map2(DPT__MAP_cadd, &a, &a, &b, 2, 0));
  OK(dpt_copy(&back, &x));
  CHECK(!memcmp(dpt__at(&back), dpt__at(&a), 4800));
  OK(dpt_get_at(&x, 2, (int64_t[]){29, 3}, &v));
  CHECK((float)v == *(float *)at(&a, 29 * 40 + 3));
  OK(dpt_put(&x, 5, 0.125));
  OK(dpt_get(&x, 5, &v));
  CHECK(v == 0.125);
  static const int reduced[] = {DPT_REDUCED_DTYPES(ID)};
  for (size_t i = 0; i < sizeof reduced / sizeof *reduced; i++) {
    dpt_tensor third = {0};
    OK(dpt_tensor_new(&third, reduced[i] | DPT_ON_DEVICE, 2, a.size_));
    OK(dpt_fill(&third, 1 / 3.));
    OK(dpt_map1(DPT__MAP_mul, &third, &third, 3, 0));
    OK(dpt_get(&third, 7, &v));
    CHECK(v == 1 || v == 1 - ldexp(1, -dpt__dtype_bits(reduced[i])));
    dpt_tensor_free(&third);
  }
  dpt_tensor whole = {0};
  OK(dpt_tensor_new(&whole, DPT_I32 | DPT_ON_DEVICE, 1, (int64_t[]){3}));
  OK(dpt_fill(&whole, 0));
  OK(dpt_map2(DPT__MAP_cremainder, &whole, &whole, &whole, 0, 0));
  FAILS(dpt_get(&whole, 0, &v), "cremainder: a divisor is 0");
  OK(dpt_get(&whole, 0, &v));
  CHECK(v == 0);
  dpt_tensor_free(&whole);
  FAILS(dpt_map2(DPT__MAP_cadd, &x, &x, &a, 1, 0), "wanted a torch.CudaTensor");
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&x);
  dpt_tensor_free(&y);
  dpt_tensor_free(&back);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int round = 0; round < torture(20000); round++) on_views();
  large(900, 1200, 0, DPT__MAP_cadd, 0);
  large(900, 1200, 1, DPT__MAP_cadd, 0);
  large(900, 1200, 1, DPT__MAP_cmul, 1);
  large(2300, 2100, 0, DPT__MAP_cadd, 0);
  large(2300, 2100, 1, DPT__MAP_csub, 0);
  large(70000, 3, 1, DPT__MAP_cadd, 0);
  large(3, 70000, 1, DPT__MAP_cadd, 1);
  for (int64_t step = 2; step < 4; step++) long_strided(step);
  rejected();
  on_device();
  return check_end();
}
