/* index_spec.c: compares indexing, gathering, masks and nonzero with naive loops.
 *
 * Invariant: covers every element type, odd views, host and device. A bad index changes nothing on
 * the host, and raises at the next wait on a device. Repeated indices are applied in order.
 */
#include "base/element.h"
#include "samples.h"

static uint64_t seed;

/* Returns random indices 1 .. limit as a random view. */
static sample places(int kind, int n, const int64_t *size, int64_t limit) {
  return sample_new(&seed, DPT_I64 | (kind & DPT_ON_DEVICE), n, size, 1, (int)limit);
}

/* Returns the sum, rounded or wrapped to the type: each addition is. */
static double add(int dtype, double a, double b) {
  double sum;
  if (!dpt__is_real(dtype)) return wrapped(dtype, (int64_t)(a + b));
  dpt__put_element(dtype, &sum, a + b);
  return dpt__get_element(dtype, &sum);
}

enum { READ, WRITE, ADD, FILL };

static void slices(void) {
  int64_t big[DPT_MAXDIM], small[DPT_MAXDIM], step, other;
  int kind = random_kind(&seed), n = random_size(&seed, 1 + (int64_t)draw(&seed, 200), big);
  int dim = (int)draw(&seed, (uint64_t)n), mode = (int)draw(&seed, 4), dtype = dpt__dtype(kind);
  const int64_t many = 1 + (int64_t)draw(&seed, 9);
  memcpy(small, big, sizeof big);
  small[dim] = many;
  sample x = sample_new(&seed, kind, n, big, 0, 3), y = sample_new(&seed, kind, n, small, 0, 3);
  sample idx = places(kind, 1, &many, big[dim]);
  double *want = mode == READ ? y.v : x.v;
  for (int64_t i = 0; i < many; i++)
    for (int64_t slice = 0; slice < x.n / big[dim]; slice++) {
      int64_t from = slice_of(n, small, dim, slice, &other) + i * other;
      int64_t to = slice_of(n, big, dim, slice, &step) + ((int64_t)idx.v[i] - 1) * step;
      if (mode == READ) y.v[from] = x.v[to];
      if (mode == WRITE) x.v[to] = y.v[from];
      if (mode == ADD) x.v[to] = add(dtype, x.v[to], y.v[from]);
      if (mode == FILL) x.v[to] = 5;
    }
  dpt_tensor r = {.kind_ = kind};
  guard_start(&seed, &r, kind, n, mode == READ ? small : big);
  if (mode != READ) OK(dpt_copy(&r, &x.t));
  if (mode == READ) OK(dpt_index(&r, &x.t, dim, &idx.t));
  if (mode == WRITE) OK(dpt_index_copy(&r, dim, &idx.t, &y.t));
  if (mode == ADD) OK(dpt_index_add(&r, dim, &idx.t, &y.t));
  if (mode == FILL) OK(dpt_index_fill(&r, dim, &idx.t, 5));
  equals(&r, want, 0, "slices by index");
  CHECK(guard_end(&r));
  dpt_tensor_free(&r);
  sample_free(&x);
  sample_free(&y);
  sample_free(&idx);
}

static void elements(void) {
  int64_t big[DPT_MAXDIM], small[DPT_MAXDIM], step, other;
  int kind = random_kind(&seed), n = random_size(&seed, 1 + (int64_t)draw(&seed, 200), small);
  int dim = (int)draw(&seed, (uint64_t)n), mode = (int)draw(&seed, 4), dtype = dpt__dtype(kind);
  memcpy(big, small, sizeof small);
  big[dim] = 1 + (int64_t)draw(&seed, 9);
  sample x = sample_new(&seed, kind, n, big, 0, 3), y = sample_new(&seed, kind, n, small, 0, 3);
  sample idx = places(kind, n, small, big[dim]);
  double *want = mode == READ ? y.v : x.v;
  for (int64_t slice = 0; slice < y.n / small[dim]; slice++)
    for (int64_t i = 0; i < small[dim]; i++) {
      int64_t from = slice_of(n, small, dim, slice, &other) + i * other;
      int64_t to = slice_of(n, big, dim, slice, &step) + ((int64_t)idx.v[from] - 1) * step;
      if (mode == READ) y.v[from] = x.v[to];
      if (mode == WRITE) x.v[to] = y.v[from];
      if (mode == ADD) x.v[to] = add(dtype, x.v[to], y.v[from]);
      if (mode == FILL) x.v[to] = 5;
    }
  dpt_tensor r = {.kind_ = kind};
  guard_start(&seed, &r, kind, n, mode == READ ? small : big);
  if (mode != READ) OK(dpt_copy(&r, &x.t));
  if (mode == READ) OK(dpt_gather(&r, &x.t, dim, &idx.t));
  if (mode == WRITE) OK(dpt_scatter(&r, dim, &idx.t, &y.t));
  if (mode == ADD) OK(dpt_scatter_add(&r, dim, &idx.t, &y.t));
  if (mode == FILL) OK(dpt_scatter_fill(&r, dim, &idx.t, 5));
  equals(&r, want, 0, "elements by index");
  CHECK(guard_end(&r));
  dpt_tensor_free(&r);
  sample_free(&x);
  sample_free(&y);
  sample_free(&idx);
}

static void masks(int64_t count) {
  int64_t size[DPT_MAXDIM], other[DPT_MAXDIM], set = 0;
  int kind = random_kind(&seed), n = random_size(&seed, count, size);
  int m = random_size(&seed, count, other);
  sample x = sample_new(&seed, kind, n, size, 0, 2),
         list = sample_new(&seed, kind, 1, &count, 0, 9);
  sample mask = sample_new(&seed, DPT_U8 | (kind & DPT_ON_DEVICE), m, other, 0, 1);
  double *chosen = calloc((size_t)count, sizeof *chosen),
         *copied = calloc((size_t)count, sizeof *x.v);
  double *filled = calloc((size_t)count, sizeof *filled),
         *at = calloc((size_t)(count * n), sizeof *at);
  for (int64_t i = 0; i < count; i++) {
    copied[i] = filled[i] = x.v[i];
    if (mask.v[i] == 0) continue;
    chosen[set] = x.v[i];
    copied[i] = list.v[set++];
    filled[i] = 7;
  }
  dpt_tensor r = {.kind_ = kind}, where = {.kind_ = DPT_I64 | (kind & DPT_ON_DEVICE)};
  if (OK(dpt_masked_select(&r, &x.t, &mask.t))) {
    CHECK(dpt__count(&r) == set);
    equals(&r, chosen, 0, "maskedSelect");
  }
  dpt_tensor_free(&r);
  guard_start(&seed, &r, kind, n, size);
  OK(dpt_copy(&r, &x.t));
  OK(dpt_masked_copy(&r, &mask.t, &list.t));
  equals(&r, copied, 0, "maskedCopy");
  OK(dpt_copy(&r, &x.t));
  OK(dpt_masked_fill(&r, &mask.t, 7));
  equals(&r, filled, 0, "maskedFill");
  CHECK(guard_end(&r));
  set = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    if (x.v[i] == 0) continue;
    for (int d = n - 1; d >= 0; d--) {
      at[set * n + d] = (double)(rest % size[d]) + 1;
      rest /= size[d];
    }
    set++;
  }
  if (OK(dpt_nonzero(&where, &x.t))) {
    CHECK(dpt__count(&where) == set * n);
    equals(&where, at, 0, "nonzero");
  }
  dpt_tensor_free(&r);
  dpt_tensor_free(&where);
  sample_free(&x);
  sample_free(&list);
  sample_free(&mask);
  free(chosen);
  free(copied);
  free(filled);
  free(at);
}

static void bad_indices(void) {
  static const int64_t size[] = {3, 4}, two = 2;
  static const double wrong[] = {2, 4}, zero[] = {0, 1};
  for (int side = 0; side < 2; side++) {
    int on = side ? DPT_ON_DEVICE : 0;
    sample x = sample_new(&seed, DPT_F32 | on, 2, size, 0, 3),
           y = sample_new(&seed, DPT_F32 | on, 2, (int64_t[]){2, 4}, 0, 3);
    sample idx = places(DPT_F32 | on, 1, &two, 1);
    for (int k = 0; k < 2; k++) {
      put_numbers(&idx.t, k ? zero : wrong);
      int status = dpt_index_copy(&x.t, 0, &idx.t, &y.t);
      if (side) {
        CHECK(status == 0);
        status = dpt_device_synchronize(0);
      }
      CHECK(status != 0 && strstr(dpt_message(), k ? "indexCopy: index 0 is out of range"
                                                   : "indexCopy: index 4 is out of range"));
      equals(&x.t, x.v, 0, "unchanged");
    }
    sample_free(&x);
    sample_free(&y);
    sample_free(&idx);
  }
}

static void refusals(void) {
  static const int64_t size[] = {3, 4}, four = 4;
  sample x = sample_new(&seed, DPT_F32, 2, size, 0, 3),
         y = sample_new(&seed, DPT_F32, 2, size, 0, 3);
  sample idx = places(DPT_F32, 1, &four, 3), mask = sample_new(&seed, DPT_U8, 1, &four, 0, 1);
  dpt_tensor r = {.kind_ = DPT_F32}, d = {.kind_ = DPT_F64};
  FAILS(dpt_index(&r, &x.t, 2, &idx.t), "dimension 3 is out of range");
  FAILS(dpt_index(&r, &x.t, 0, &mask.t), "torch.LongTensor");
  FAILS(dpt_index(&d, &x.t, 0, &idx.t), "torch.DoubleTensor");
  FAILS(dpt_index(&r, &x.t, 0, &x.t), "vector");
  FAILS(dpt_index_copy(&x.t, 0, &idx.t, &y.t), "does not fit");
  FAILS(dpt_gather(&r, &x.t, 0, &idx.t), "do not fit");
  FAILS(dpt_masked_fill(&x.t, &mask.t, 1), "as many elements");
  FAILS(dpt_masked_fill(&x.t, &idx.t, 1), "torch.ByteTensor");
  FAILS(dpt_nonzero(&r, &x.t), "torch.LongTensor");
  dpt_tensor few = doubles(1, &four, NULL);
  sample ones = sample_new(&seed, DPT_U8, 2, size, 1, 1),
         z = sample_new(&seed, DPT_F64, 2, size, 0, 3);
  FAILS(dpt_masked_copy(&z.t, &ones.t, &few), "12");
  equals(&z.t, z.v, 0, "unchanged");
  dpt_tensor_free(&few);
  sample_free(&x);
  sample_free(&y);
  sample_free(&idx);
  sample_free(&mask);
  sample_free(&ones);
  sample_free(&z);
}

int main(void) {
  seed = check_seed();
  OK(dpt_devices_set("host:2"));
  for (int i = 0; i < torture(1000); i++) {
    slices();
    elements();
    masks(1 + (int64_t)draw(&seed, 120));
  }
  for (int i = 0; i < torture(20); i++) masks(40000 + 60 * (int64_t)draw(&seed, 100));
  bad_indices();
  refusals();
  return check_end();
}
