/* tensor_spec.c: compares views, resize and the walker with plain index arithmetic. */
#include "views.h"

static uint64_t seed;

/* A size of -1 of a tensor without elements is inferred from the nonzero sizes. */
static void view_without_elements(void) {
  dpt_tensor t = {.kind_ = DPT_F32}, v = {.kind_ = DPT_F32};
  OK(dpt_tensor_new(&t, DPT_F32, 3, (int64_t[]){0, 4, 6}));
  OK(dpt_view(&v, &t, 2, (int64_t[]){0, -1}));
  CHECK(v.ndim_ == 2 && v.size_[0] == 0 && v.size_[1] == 24);
  OK(dpt_view(&v, &t, 3, (int64_t[]){8, 0, -1}));
  CHECK(v.size_[0] == 8 && v.size_[1] == 0 && v.size_[2] == 3);
  OK(dpt_view(&v, &t, 2, (int64_t[]){-1, 8}));
  CHECK(v.size_[0] == 0 && v.size_[1] == 8);
  FAILS(dpt_view(&v, &t, 3, (int64_t[]){0, 0, -1}), "has 0 elements");
  FAILS(dpt_view(&v, &t, 3, (int64_t[]){0, INT64_MAX / 2, 9}), "more than memory can hold");
  FAILS(dpt_view(&v, &t, 3, (int64_t[]){0, 5, -1}), "has 0 elements");
  dpt_tensor_free(&t);
  dpt_tensor_free(&v);
}

static void view_functions(void) {
  dpt_tensor t = {0}, v = {.kind_ = DPT_F32}, w = {.kind_ = DPT_F32};
  double x;
  OK(dpt_tensor_new(&t, DPT_F32, 2, (int64_t[]){3, 4}));
  for (int64_t i = 0; i < 12; i++) OK(dpt_put(&t, i, (double)i));
  OK(dpt_narrow(&v, &t, 1, 1, 2));
  CHECK(v.offset_ == 1 && v.size_[1] == 2 && v.stride_[0] == 4 && !dpt_is_contiguous(&v));
  OK(dpt_select(&v, &v, 0, 2));
  OK(dpt_get(&v, 1, &x));
  CHECK(v.ndim_ == 1 && x == 10);
  OK(dpt_transpose(&v, &t, 0, 1));
  CHECK(v.size_[0] == 4 && v.stride_[0] == 1 && v.stride_[1] == 4);
  OK(dpt_get_at(&v, 2, (int64_t[]){3, 1}, &x));
  CHECK(x == 7);
  OK(dpt_unfold(&v, &t, 1, 2, 2));
  CHECK(v.ndim_ == 3 && v.size_[1] == 2 && v.size_[2] == 2 && v.stride_[1] == 2 &&
        v.stride_[2] == 1);
  OK(dpt_view(&v, &t, 3, (int64_t[]){2, -1, 3}));
  CHECK(v.size_[1] == 2 && v.stride_[0] == 6 && v.stride_[1] == 3);
  OK(dpt_unsqueeze(&v, &t, 1));
  CHECK(v.ndim_ == 3 && v.size_[1] == 1 && dpt_is_contiguous(&v));
  OK(dpt_squeeze(&w, &v));
  CHECK(dpt_is_set_to(&w, &t));
  OK(dpt_narrow(&v, &t, 0, 1, 1));
  OK(dpt_expand(&v, &v, 2, (int64_t[]){5, 4}));
  CHECK(v.size_[0] == 5 && v.stride_[0] == 0 && dpt_count(&v) == 20);
  OK(dpt_squeeze_dim(&v, &t, 0));
  CHECK(v.ndim_ == 2);
  OK(dpt_narrow(&v, &t, 0, 3, 0));
  CHECK(v.size_[0] == 0 && dpt_count(&v) == 0 && dpt_is_contiguous(&v));

  FAILS(dpt_narrow(&v, &t, 2, 0, 1), "narrow: dimension 3");
  FAILS(dpt_narrow(&v, &t, 0, 2, 2), "narrow: 2 elements from 3");
  FAILS(dpt_narrow(&v, &t, 0, INT64_MAX, INT64_MAX), "narrow");
  FAILS(dpt_select(&v, &t, 0, 3), "select: index 4");
  FAILS(dpt_select(&v, &t, -1, 0), "select: dimension 0");
  FAILS(dpt_select(&v, &t, INT32_MAX, 0), "select: dimension 2147483648");
  FAILS(dpt_select(&v, &t, 0, INT64_MAX), "select: index");
  FAILS(dpt_unfold(&v, &t, 0, 4, 1), "unfold");
  FAILS(dpt_unfold(&v, &t, 0, 2, 0), "unfold");
  FAILS(dpt_expand(&v, &t, 2, (int64_t[]){3, 5}), "expand: dimension 2");
  FAILS(dpt_expand(&v, &t, 3, (int64_t[]){3, 4, 2}), "expand: got 3 sizes");
  FAILS(dpt_view(&v, &t, 2, (int64_t[]){5, 2}), "view: a torch.FloatTensor of size 3x4 has 12");
  FAILS(dpt_view(&v, &t, 2, (int64_t[]){-1, -1}), "view: only one");
  FAILS(dpt_view(&v, &t, 2, (int64_t[]){INT64_MAX, 4}), "view");
  FAILS(dpt_permute(&v, &t, (int32_t[]){0, 0}), "permute: dimension 1 is named twice");
  FAILS(dpt_get_at(&t, 2, (int64_t[]){3, 0}, &x), "get: index 4");
  FAILS(dpt_get_at(&t, 1, (int64_t[]){0}, &x), "get: got 1 indices");
  FAILS(dpt_get(&t, 12, &x), "lies outside");
  FAILS(dpt_put(&t, -1, 0), "lies outside");
  OK(dpt_transpose(&v, &t, 0, 1));
  FAILS(dpt_view(&v, &v, 1, (int64_t[]){12}), "not contiguous");
  v.kind_ = DPT_F64;
  v.storage_ = NULL;
  FAILS(dpt_narrow(&v, &t, 0, 0, 1), "narrow: the result is a torch.DoubleTensor");
  CHECK(t.storage_->references == 3); /* those of t, w and v; v's is released by hand */
  dpt_storage_release(t.storage_);
  dpt_tensor_free(&w);
  dpt_tensor_free(&t);
}

static void resizing(void) {
  dpt_tensor t = {.kind_ = DPT_I64}, v = {.kind_ = DPT_I64};
  int64_t live = dpt_host_live_bytes();
  OK(dpt_resize(&t, 2, (int64_t[]){2, 3}));
  for (int64_t i = 0; i < 6; i++) OK(dpt_put(&t, i, (double)i));
  OK(dpt_transpose(&v, &t, 0, 1));
  OK(dpt_resize(&v, 2, (int64_t[]){3, 2}));
  CHECK(v.stride_[0] == 1); /* resizing to the same size keeps the strides */
  OK(dpt_resize_as(&v, &t));
  CHECK(v.stride_[0] == 3 && dpt_is_set_to(&v, &t));
  OK(dpt_narrow(&v, &t, 0, 1, 1));
  OK(dpt_resize(&v, 1, (int64_t[]){9}));
  CHECK(v.offset_ == 3 && t.storage_->size == 12);
  CHECK(*(int64_t *)dpt_tensor_data(&v) == 3);
  OK(dpt_resize_strided(&v, 2, (int64_t[]){2, 2}, (int64_t[]){1, 5}));
  CHECK(v.stride_[0] == 1 && v.stride_[1] == 5);
  FAILS(dpt_resize(&v, 2, (int64_t[]){-1, 2}), "resize: got size -1x2");
  FAILS(dpt_resize(&v, 13, (int64_t[13]){0}), "13 dimensions");
  FAILS(dpt_resize(&v, 3, (int64_t[]){1 << 30, 1 << 30, 1 << 30}), "more elements");
  FAILS(dpt_resize_strided(&v, 2, (int64_t[]){2, 2}, (int64_t[]){INT64_MAX, 1}), "more elements");
  CHECK(v.size_[0] == 2 && v.stride_[1] == 5);
  OK(dpt_set_storage(&v, t.storage_, 2, 1, (int64_t[]){20}, NULL));
  CHECK(t.storage_->size == 22);
  FAILS(dpt_set_storage(&v, t.storage_, -1, 1, (int64_t[]){2}, NULL), "offset -1");
  OK(dpt_set_storage(&v, v.storage_, 0, 2, (int64_t[]){0, 4}, NULL));
  CHECK(dpt_count(&v) == 0 && v.size_[1] == 4);
  OK(dpt_set_storage(&v, NULL, 0, 0, NULL, NULL));
  CHECK(v.storage_ == NULL && t.storage_->references == 1);
  OK(dpt_tensor_set(&t, &t));
  CHECK(t.storage_->references == 1);
  dpt_tensor_free(&t);
  CHECK(dpt_host_live_bytes() == live);
}

static void walking(int round) {
  static const int64_t counts[] = {1, 2, 12, 24, 36, 60, 210, 256};
  int64_t count = counts[draw(&seed, 8)], size[DPT_MAXDIM];
  int operands = 1 + (int)draw(&seed, 4), n = random_size(&seed, count, size);
  dpt_tensor t[4];
  const dpt_tensor *list[4] = {&t[0], &t[1], &t[2], &t[3]};
  dpt__walk walk;
  dpt__cursor cursor;
  for (int k = 0; k < operands; k++) {
    if (draw(&seed, 3) == 0) n = random_size(&seed, count, size);
    random_view(&seed, &t[k], (int)draw(&seed, DPT_NDTYPE), n, size, k > 0);
  }
  if (dpt__walk_start(&walk, operands, list) == 0) {
    int64_t i = 0, first = (int64_t)draw(&seed, (uint64_t)count), good = 1;
    CHECK(dpt__walk_count(&walk) == count);
    dpt__walk_at(&walk, &cursor, first, count - first);
    for (i = first; dpt__walk_row(&walk, &cursor); i += cursor.n)
      for (int64_t j = 0; j < cursor.n; j++)
        for (int k = 0; k < operands; k++) {
          int64_t size_k = (int64_t)dpt__dtype_size(dpt__type(&t[k]));
          good &= cursor.data[k] + j * walk.stride[k][walk.ndim - 1] * size_k ==
                  (char *)dpt__at(&t[k]) + place_of(&t[k], i + j) * size_k;
        }
    CHECK(good && i == count);
    /* After sorting, the same elements are visited together, each once, in another order. */
    char seen[256] = {0};
    dpt__walk_sort(&walk);
    CHECK(!walk.serial);
    dpt__walk_at(&walk, &cursor, 0, count);
    while (dpt__walk_row(&walk, &cursor))
      for (int64_t j = 0; j < cursor.n; j++) {
        for (i = 0; i < count; i++)
          if (cursor.data[0] +
                  j * walk.stride[0][walk.ndim - 1] * (int64_t)dpt__dtype_size(walk.dtype[0]) ==
              (char *)dpt__at(&t[0]) + place_of(&t[0], i) * (int64_t)dpt__dtype_size(walk.dtype[0]))
            break;
        good &= i < count && !seen[i];
        if (i < count) seen[i] = 1;
        for (int k = 1; k < operands && i < count; k++) {
          int64_t size_k = (int64_t)dpt__dtype_size(dpt__type(&t[k]));
          good &= cursor.data[k] + j * walk.stride[k][walk.ndim - 1] * size_k ==
                  (char *)dpt__at(&t[k]) + place_of(&t[k], i) * size_k;
        }
      }
    if (!CHECK(good)) printf("round %d\n", round);
  } else {
    int plain = 1;
    for (int k = 1; k < operands; k++) plain = plain && dpt_is_contiguous(&t[k]);
    CHECK(!plain); /* contiguous operands can always be split */
  }
  for (int k = 0; k < operands; k++) dpt_tensor_free(&t[k]);
}

/* Compares dpt__overlap with a check of all pairs of elements. */
static void overlapping(void) {
  dpt_tensor base = {0}, a = {.kind_ = DPT_U8}, b = {.kind_ = DPT_U8};
  OK(dpt_tensor_new(&base, DPT_U8, 1, (int64_t[]){64}));
  for (int round = 0; round < torture(20000); round++) {
    int64_t size[2], step[2], other[2];
    for (int d = 0; d < 2; d++) {
      size[d] = 1 + (int64_t)draw(&seed, 4);
      step[d] = 1 + (int64_t)draw(&seed, 8);
      other[d] = draw(&seed, 4) ? step[d] : 1 + (int64_t)draw(&seed, 8);
    }
    OK(dpt_set_storage(&a, base.storage_, (int64_t)draw(&seed, 10), 2, size, step));
    OK(dpt_set_storage(&b, base.storage_, (int64_t)draw(&seed, 10), 2, size, other));
    int bad = 0, shared = 0;
    for (int64_t i = 0; i < dpt_count(&a); i++)
      for (int64_t j = 0; j < dpt_count(&a); j++)
        if (a.offset_ + place_of(&a, i) == b.offset_ + place_of(&b, j)) shared = 1, bad |= i != j;
    if (shared && bad && !dpt_is_set_to(&a, &b)) CHECK(dpt__overlap(&a, &b));
    if (dpt_is_set_to(&a, &b)) CHECK(!dpt__overlap(&a, &b));
    if (!shared && step[0] == other[0] && step[1] == other[1] && step[0] > 4 * step[1])
      CHECK(!dpt__overlap(&a, &b)); /* interleaved columns need no copy */
  }
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&base);
}

int main(void) {
  seed = check_seed();
  view_functions();
  view_without_elements();
  resizing();
  for (int round = 0; round < torture(20000); round++) walking(round);
  overlapping();
  return check_end();
}
