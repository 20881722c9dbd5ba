/* no_elements_spec.c: calls every operation with tensors that have no elements, one operand at a
 * time.
 *
 * Invariant: nothing crashes. A call that returns 0 leaves usable outputs, any other an error
 * message.
 */
#include "samples.h"

static uint64_t seed;
/* All on the host, or all on a device; r and places are outputs. */
static dpt_tensor a, b, c, idx, mask, r, places;
static dpt_generator *g;

static int op(const char *name) { return dpt_reduction(name); }

static int call(int which, double *value, int *same) {
  const dpt_tensor *const list[] = {&a, &b};
  switch (which) {
  case 0:
    return dpt_reduce(op("sum"), &r, NULL, &a, 0, 0);
  case 1:
    return dpt_reduce(op("max"), &r, &places, &a, 1, 0);
  case 2:
    return dpt_reduce_all(op("sum"), &a, 0, value);
  case 3:
    return dpt_reduce_all(op("mean"), &a, 0, value);
  case 4:
    return dpt_reduce_all(op("prod"), &a, 0, value);
  case 5:
    return dpt_dot(&a, &b, value);
  case 6:
    return dpt_dist(&a, &b, 2, value);
  case 7:
    return dpt_equal(&a, &b, same);
  case 8:
    return dpt_trace(&a, value);
  case 9:
    return dpt_kthvalue(&r, &places, &a, 1, 0);
  case 10:
    return dpt_mode(&r, &places, &a, 0);
  case 11:
    return dpt_sort(&r, &places, &a, 0, 1);
  case 12:
    return dpt_topk(&r, &places, &a, 1, 0, 1, 1);
  case 13:
    return dpt_cumsum(&r, &a, 0);
  case 14:
    return dpt_renorm(&r, &a, 2, 0, 1);
  case 15:
    return dpt_cross(&r, &a, &b, -1);
  case 16:
    return dpt_histc(&r, &a, 3, 0, 0);
  case 17:
    return dpt_bhistc(&r, &a, 3, 0, 1);
  case 18:
    return dpt_tril(&r, &a, 0);
  case 19:
    return dpt_diag(&r, &a, 0);
  case 20:
    return dpt_index(&r, &a, 0, &idx);
  case 21:
    return dpt_index_copy(&a, 0, &idx, &b);
  case 22:
    return dpt_index_add(&a, 0, &idx, &b);
  case 23:
    return dpt_index_fill(&a, 0, &idx, 1);
  case 24:
    return dpt_gather(&b, &a, 0, &idx);
  case 25:
    return dpt_scatter(&a, 0, &idx, &b);
  case 26:
    return dpt_scatter_fill(&a, 0, &idx, 1);
  case 27:
    return dpt_masked_select(&r, &a, &mask);
  case 28:
    return dpt_masked_copy(&a, &mask, &b);
  case 29:
    return dpt_masked_fill(&a, &mask, 1);
  case 30:
    return dpt_nonzero(&places, &a);
  case 31:
    return dpt_cat(&r, 2, list, 0);
  case 32:
    return dpt_cat(&r, 2, list, -1);
  case 33:
    return dpt_addmm(&r, 1, &c, 1, &a, &b);
  case 34:
    return dpt_addmv(&r, 1, &c, 1, &a, &b);
  case 35:
    return dpt_addr(&r, 1, &c, 1, &a, &b);
  case 36:
    return dpt_addbmm(&r, 1, &c, 1, &a, &b);
  case 37:
    return dpt_baddbmm(&r, 1, &c, 1, &a, &b);
  case 38:
    return dpt_conv(&r, &a, &b, 2, 0, 1);
  case 39:
    return dpt_random(dpt_distribution("uniform"), &a, g, 0, 1);
  case 40:
    return dpt_bernoulli(&a, g, &b);
  case 41:
    return dpt_multinomial(&places, g, &a, 1, 1);
  case 42:
    return dpt_gesv(&r, &c, &a, &b);
  case 43:
    return dpt_gels(&r, &c, &a, &b);
  case 44:
    return dpt_inverse(&r, &a);
  case 45:
    return dpt_svd(&r, &c, &b, &a, "S");
  case 46:
    return dpt_qr(&r, &c, &a);
  case 47:
    return dpt_symeig(&r, &c, &a, "N", "U");
  case 48:
    return dpt_ormqr(&r, &a, &b, &c, "L", "N");
  default:
    return -1;
  }
}

/* Calls an operation with operand k (0 a, 1 b, 2 c, 3 idx, 4 mask, 5: none) empty: without storage
 * (stored 0), with the storage of former elements (1), or a batch without rows (2). The output r is
 * allocated before unless stored is 0. */
static void with_empty(int which, int on, int k, int stored) {
  static const int64_t three[] = {3, 3}, n = 3;
  dpt_tensor *const operands[] = {&a, &b, &c, &idx, &mask};
  for (int i = 0; i < 3; i++) random_view(&seed, operands[i], DPT_F64 | on, 2, three, 0);
  random_view(&seed, &idx, DPT_I64 | on, which == 25 || which == 26 ? 2 : 1, three, 0);
  random_view(&seed, &mask, DPT_U8 | on, 2, three, 0);
  for (int i = 0; i < 5; i++) OK(dpt_fill(operands[i], 1));
  if (k < 5 && stored == 1) OK(dpt_resize(operands[k], 0, NULL));
  if (k < 5 && stored == 2) OK(dpt_resize(operands[k], operands[k]->ndim_, (int64_t[]){0, 3}));
  if (k < 5 && !stored) dpt_tensor_free(operands[k]);
  r = (dpt_tensor){.kind_ = DPT_F64 | on};
  places = (dpt_tensor){.kind_ = DPT_I64 | on};
  if (stored) OK(dpt_tensor_new(&r, r.kind_, 1, &n));
  double value;
  int same, status = call(which, &value, &same);
  CHECK(status == 0 || dpt_message()[0]);
  if (on) dpt_device_synchronize(0);
  for (int i = 0; i < 5; i++) dpt_tensor_free(operands[i]);
  if (status == 0 && dpt__count(&r)) free(numbers(&r));
  dpt_tensor_free(&r);
  dpt_tensor_free(&places);
}

int main(void) {
  double value;
  int same;
  seed = check_seed();
  OK(dpt_devices_set("host:1"));
  OK(dpt_generator_new(&g));
  for (int which = 0; which < 49; which++)
    for (int i = 0; i < 36; i++) with_empty(which, i % 2 ? DPT_ON_DEVICE : 0, i / 2 % 6, i / 12);
  CHECK(call(49, &value, &same) == -1);
  dpt_generator_free(g);
  return check_end();
}
