/* launch_spec.c: tests the device and stream of launches, what they record, operands that share
 * memory, and that a rejected launch, or one without memory, has no effect. */
#include "device/launch.h"

#include "device/storage.h"
#include "gate.h"
#include "ops/create.h"
#include "tensor/tensor.h"

/* Begins a launch of fill, whose arguments are not used, on operands, up to its check. */
static int check_place(dpt__launch *l, int n, const dpt_tensor *const *operands) {
  dpt__launch_begin(l, "add");
  for (int i = 0; i < n; i++) dpt__launch_in_place(l, operands[i], NULL);
  return dpt__launch_check(l, DPT__KERNEL_map);
}

static void places(void) {
  dpt_storage *on1 = NULL, *on2 = NULL, *host = NULL;
  OK(dpt__storage_new_on(&on1, DPT_F32 | DPT_ON_DEVICE, 10, 1));
  OK(dpt__storage_new_on(&on2, DPT_F32 | DPT_ON_DEVICE, 10, 2));
  OK(dpt_storage_new(&host, DPT_F32, 10));
  dpt_tensor a = {on1, .kind_ = DPT_F32 | DPT_ON_DEVICE}, b = {on2, .kind_ = a.kind_};
  dpt_tensor h = {host, .kind_ = DPT_F32}, none = {NULL, .kind_ = a.kind_},
             hnone = {.kind_ = DPT_F32};
  dpt__launch l;
  FAILS(check_place(&l, 2, (const dpt_tensor *[]){&a, &b}),
        "add: got torch.CudaTensor on device 1 with torch.CudaTensor on device 2");
  FAILS(check_place(&l, 2, (const dpt_tensor *[]){&a, &h}), "with torch.FloatTensor");
  FAILS(check_place(&l, 2, (const dpt_tensor *[]){&none, &h}), "with torch.FloatTensor");
  FAILS(check_place(&l, 2, (const dpt_tensor *[]){&hnone, &b}), "torch.FloatTensor with");
  FAILS(check_place(&l, 3, (const dpt_tensor *[]){&b, &none, &a}), "on device 1");
  OK(check_place(&l, 3, (const dpt_tensor *[]){&none, NULL, &b}));
  CHECK(l.context.device == 2 && l.context.stream == dpt__current_stream(2));
  OK(check_place(&l, 1, (const dpt_tensor *[]){&none}));
  CHECK(l.context.device == 1);
  OK(check_place(&l, 2, (const dpt_tensor *[]){&h, &hnone}));
  CHECK(!l.context.device && !l.context.stream && l.context.threads >= 1);
  dpt_storage_release(on1);
  dpt_storage_release(on2);
  dpt_storage_release(host);
}

static uint64_t writes(const dpt_tensor *t) { return dpt_storage_writes(t->storage_); }

/* Every output counts as written, in host memory and on devices; inputs do not. */
static void counts_writes(int place) {
  const int64_t size[] = {4, 5};
  dpt_tensor r, a;
  OK(dpt_tensor_new(&r, DPT_F32 | place, 2, size));
  OK(dpt_tensor_new(&a, DPT_F32 | place, 2, size));
  dpt_generator *g;
  OK(dpt_generator_new(&g));
  uint64_t before = writes(&r);
  OK(dpt_fill(&a, 2));
  uint64_t read = writes(&a);
  CHECK(read > 0 && writes(&r) == before);
#define WRITES(call)                                                                               \
  OK(call);                                                                                        \
  CHECK(writes(&r) > before);                                                                      \
  before = writes(&r)
  WRITES(dpt_fill(&r, 1));
  WRITES(dpt_map1(dpt_op("neg"), &r, &a, 0, 0));
  WRITES(dpt_map2(dpt_op("cadd"), &r, &r, &a, 1, 0));
  WRITES(dpt_copy(&r, &a));
  WRITES(dpt_cumsum(&r, &a, 1));
  WRITES(dpt_put(&r, 3, 7));
  WRITES(dpt_random(dpt_distribution("uniform"), &r, g, 0, 1));
#undef WRITES
  double value;
  OK(dpt_get(&r, 0, &value));
  OK(dpt_reduce_all(dpt_reduction("sum"), &r, 0, &value));
  CHECK(writes(&r) == before && writes(&a) == read);
  dpt_generator_free(g);
  dpt_tensor_free(&r);
  dpt_tensor_free(&a);
}

/* Computes the running sum r of 1, 2 ... 6, from a view of its memory, `shift` elements later. */
static void shares_memory(int place, int64_t shift) {
  enum { N = 6 };
  const int64_t all = 2 * N, size = N, step = 1;
  dpt_tensor whole, r = {.kind_ = DPT_F64 | place}, a = {.kind_ = DPT_F64 | place};
  OK(dpt_tensor_new(&whole, DPT_F64 | place, 1, &all));
  OK(dpt_set_storage(&r, whole.storage_, 3, 1, &size, &step));
  OK(dpt_set_storage(&a, whole.storage_, 3 + shift, 1, &size, &step));
  for (int64_t i = 0; i < N; i++) OK(dpt_put(&a, i, (double)i + 1));
  uint64_t effects = *dpt_effects();
  OK(dpt_cumsum(&r, &a, 0));
  int copied = shift && llabs(shift) < N && place;
  CHECK(*dpt_effects() - effects == (uint32_t)(1 + copied)); /* in place copies nothing */
  for (int64_t i = 0, sum = 0; i < N; i++) {
    double value;
    OK(dpt_get(&r, i, &value));
    CHECK(value == (double)(sum += i + 1));
  }
  dpt_tensor_free(&whole);
  dpt_tensor_free(&r);
  dpt_tensor_free(&a);
}

/* Outputs that share memory, and operands on host and device, are rejected without effect. */
static void rejects(int place) {
  const int64_t size = 8;
  dpt_tensor a, r, other = {.kind_ = DPT_F32 | (place ^ DPT_ON_DEVICE)};
  OK(dpt_tensor_new(&a, DPT_I64 | place, 1, &size));
  OK(dpt_tensor_new(&r, DPT_I64 | place, 1, &size));
  OK(dpt_fill(&a, 1));
  OK(dpt_fill(&r, 2));
  uint64_t before = writes(&r);
  uint32_t effects = *dpt_effects();
  FAILS(dpt_sort(&r, &r, &a, 0, 0), "sort: two results share memory");
  FAILS(dpt_map1(dpt_op("neg"), &r, &other, 0, 0), "neg: ");
  CHECK(writes(&r) == before && *dpt_effects() == effects);
  dpt_tensor_free(&a);
  dpt_tensor_free(&r);
}

/* Views of one storage share memory unless each has its own columns, or its own rows. */
static void interleaved(int place) {
  const int64_t size[] = {4, 6, 5};
  dpt_tensor all, left = {.kind_ = DPT_F32 | place}, right = left, flat = left;
  OK(dpt_tensor_new(&all, DPT_F32 | place, 3, size));
  const struct {
    int dim, from, count, to, more, share;
  } cases[] = {{1, 0, 3, 3, 3, 0}, {1, 0, 4, 3, 3, 1}, {2, 0, 2, 2, 3, 0}, {2, 0, 2, 1, 1, 1},
               {0, 0, 2, 2, 2, 0}, {0, 0, 3, 2, 2, 1}, {1, 2, 1, 2, 1, 1}, {1, 5, 1, 0, 1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    OK(dpt_narrow(&left, &all, cases[i].dim, cases[i].from, cases[i].count));
    OK(dpt_narrow(&right, &all, cases[i].dim, cases[i].to, cases[i].more));
    CHECK(dpt__share_memory(&left, &right) == cases[i].share);
    CHECK(dpt__share_memory(&right, &left) == cases[i].share);
    OK(dpt_transpose(&flat, &left, 0, 2));
    CHECK(dpt__share_memory(&flat, &right) == cases[i].share);
    CHECK(dpt__share_memory(&all, &right));
  }
  dpt_tensor_free(&left), dpt_tensor_free(&right), dpt_tensor_free(&flat), dpt_tensor_free(&all);
}

/* A failed function may be retried if it has had no effect. */
static void retries_what_did_nothing(int place) {
  const int64_t size[] = {3, 4};
  dpt_tensor r = {.kind_ = DPT_F32 | place}, a;
  OK(dpt_tensor_new(&a, DPT_F32 | place, 2, size));
  OK(dpt_fill(&a, 1));
  uint32_t before = *dpt_effects();
  OK(dpt_fault_set("malloc:1"));
  FAILS(dpt_clone(&r, &a), "memory");
  CHECK(dpt_may_retry(before));
  OK(dpt_clone(&r, &a));
  OK(dpt_fault_set("malloc:1"));
  dpt_tensor more = {.kind_ = DPT_F32 | place};
  FAILS(dpt_clone(&more, &a), "memory");
  CHECK(!dpt_may_retry(before) && dpt_may_retry(*dpt_effects()));
  OK(dpt_fault_set(""));
  dpt_tensor_free(&a);
  dpt_tensor_free(&r);
}

int main(void) {
  static const int sides[] = {0, DPT_ON_DEVICE};
  OK(dpt_devices_set("host:2"));
  places();
  for (int i = 0; i < 2; i++) {
    counts_writes(sides[i]);
    for (int64_t shift = -3; shift <= 3; shift++) shares_memory(sides[i], shift);
    rejects(sides[i]);
    interleaved(sides[i]);
    retries_what_did_nothing(sides[i]);
  }
  return check_end();
}
